"""`ctxview swap SESSION`: moves messages or a tool's output out of the working set, by verified reference.

Exit 0 done (or it would be), 1 a chunk cannot be rebuilt, 2 trouble.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ctxview.commands.session_work import Opened, add_session, opened_session, written_as_json
from ctxview.commands.trouble import Trouble
from ctxview.origin import JsonValue

if TYPE_CHECKING:
    from ctxview.formats.session.derived import Wrote
    from ctxview.formats.session.swap import Rebuild, SwapPlan

_RANGE = re.compile(r"([0-9]{1,12})(?:-([0-9]{1,12}))?")
FORM = """
A chunk is named sha256- and the SHA-256 of what it holds. Of messages that is
their lines as they are stored, blank ones left out, each ended by one line
feed; of a tool's output its text in UTF-8, with nothing added. The histories
are only read: a lost chunk is rebuilt from them and its hash is checked. Exit 0
done, 1 a chunk cannot be rebuilt, 2 trouble.
"""


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{FORM}"
    add_session(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--range", metavar="A-B", type=_range, help="messages, from 1, blank lines not counted")
    what.add_argument("--event", metavar="ID", help="what the tool call or event of this id put out")
    what.add_argument("--rebuild", action="store_true", help="make missing and damaged chunks again")
    parser.add_argument(
        "--summary", metavar="TEXT", help="for the index (default: the first line of the content)"
    )
    parser.add_argument("--write", action="store_true", help="write the chunk and its index line")


def run(arguments: Namespace) -> int:
    opened = opened_session(arguments)
    if arguments.rebuild:
        return _rebuild(opened, arguments)
    from ctxview.formats.session.derived import NotWritten
    from ctxview.formats.session.raw_content import NoContent
    from ctxview.formats.session.swap import apply_swap

    try:
        plan = _plan(opened, arguments)
        wrote = apply_swap(opened.session, plan) if arguments.write else []
    except (NoContent, NotWritten) as error:
        raise Trouble(f"{arguments.session}: {error}") from None
    if arguments.json:
        from ctxview.reports.json_text import dumps

        print(dumps(_as_json(plan, wrote)))
    else:
        from ctxview.commands.swap_text import swap_lines
        from ctxview.reports.console import console_for, tell

        tell(swap_lines(plan, wrote, arguments.write, console_for()))
    return 0


def _plan(opened: Opened, arguments: Namespace) -> SwapPlan:
    from ctxview.formats.session.swap import plan_event, plan_range

    session, raw, profile = opened.session, opened.raw, opened.profile
    if arguments.event is not None:
        return plan_event(session, raw, profile, arguments.event, arguments.summary)
    first, last = arguments.range
    return plan_range(session, raw, profile, first, last, arguments.summary)


def _rebuild(opened: Opened, arguments: Namespace) -> int:
    from ctxview.formats.session.derived import NotWritten
    from ctxview.formats.session.swap import Chunk, apply_rebuild, rebuilds

    found: list[Rebuild] = []
    wrote: list[Wrote] = []
    for each in rebuilds(opened.session, opened.raw):
        if arguments.write:
            try:
                written = apply_rebuild(opened.session, each)
            except NotWritten as error:
                raise Trouble(f"{arguments.session}: {error}") from None
            wrote += [written] if written else []
        found.append(each.without_content())
    if arguments.json:
        from ctxview.reports.json_text import dumps

        chunks: list[JsonValue] = [_rebuild_as_json(each) for each in found]
        print(dumps({"chunks": chunks, "written": written_as_json(wrote)}))
    else:
        from ctxview.commands.swap_text import rebuild_lines
        from ctxview.reports.console import console_for, tell

        tell(rebuild_lines(found, wrote, arguments.write, console_for()))
    return 1 if any(each.chunk is not Chunk.VERIFIED and not each.possible for each in found) else 0


def _as_json(plan: SwapPlan, wrote: list[Wrote]) -> JsonValue:
    return {
        "id": plan.id,
        "kind": plan.kind,
        "source": plan.source,
        "place": plan.place,
        "summary": plan.summary,
        "tokens": plan.tokens,
        "bytes": len(plan.content),
        "records": plan.records,
        "chunk": plan.chunk.name.lower(),
        "indexed": plan.indexed is not None,
        "done": plan.done,
        "written": written_as_json(wrote),
    }


def _rebuild_as_json(rebuild: Rebuild) -> JsonValue:
    return {
        "id": rebuild.id,
        "line": rebuild.line,
        "chunk": rebuild.chunk.name.lower(),
        "rebuildable": rebuild.possible,
        "why": rebuild.reason,
    }


def _range(text: str) -> tuple[int, int]:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    first = int(found[1])
    return first, int(found[2]) if found[2] else first
