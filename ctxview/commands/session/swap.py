"""`ctxview swap SESSION`: move messages or tool output out of the working set, by verified reference.

Exit 0 done or nothing to do, 1 a chunk cannot be rebuilt, 2 error.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted
from ctxview.commands.session import (
    OpenedSession,
    add_session_arguments,
    counted_unit,
    open_session,
    written_as_json,
)
from ctxview.core.origin import JsonValue
from ctxview.files.visible_text import visible
from ctxview.formats.session.store.derived_files import WrittenFile
from ctxview.formats.session.store.swap import ChunkRebuild, ChunkStatus, SwapPlan
from ctxview.reports.console import Console, Style, UserError
from ctxview.reports.table import Cell, Column, cut_cells, reason_lines, short_name, size_in_words

DESCRIPTION = """
A chunk is named sha256- and the SHA-256 of its content. For messages that is
their lines as stored, without blank ones, each with one line feed; for tool
output it is the text in UTF-8. The histories are only read: a lost chunk is
rebuilt from them and its hash is checked. Exit 0 done, 1 a chunk cannot be
rebuilt, 2 error.
"""
COLUMNS = (Column(), Column("line", right=True), Column("chunk", most=60))
_RANGE = re.compile(r"([0-9]{1,12})(?:-([0-9]{1,12}))?")


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{DESCRIPTION}"
    add_session_arguments(parser)
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument(
        "--range", metavar="FIRST-LAST", type=_range, help="messages, counted from 1 without blank lines"
    )
    group.add_argument("--event", metavar="ID", help="the output of this tool call or event")
    group.add_argument("--rebuild", action="store_true", help="rebuild missing and damaged chunks")
    parser.add_argument(
        "--summary", metavar="TEXT", help="summary for the index (default: the first line of the content)"
    )
    parser.add_argument("--write", action="store_true", help="write the chunk and its index line")


def run(arguments: Namespace) -> int:
    opened = open_session(arguments)
    if arguments.rebuild:
        return _rebuild(opened, arguments)
    from ctxview.formats.session.store.content import ContentMissing
    from ctxview.formats.session.store.derived_files import WriteFailed
    from ctxview.formats.session.store.swap import apply_swap, plan_event, plan_range

    session = opened.session, opened.raw, opened.profile
    try:
        if arguments.event is not None:
            plan = plan_event(*session, arguments.event, arguments.summary)
        else:
            first, last = arguments.range
            plan = plan_range(*session, first, last, arguments.summary)
        wrote = apply_swap(opened.session, plan) if arguments.write else []
    except (ContentMissing, WriteFailed) as error:
        raise UserError(f"{arguments.session}: {error}") from None
    if arguments.json:
        from ctxview.reports.json_output import dumps

        print(dumps(_as_json(plan, wrote)))
    else:
        from ctxview.reports.console import console_for, print_masked

        unit = counted_unit(opened.profile.pack.estimator or "bytes/4")
        print_masked(swap_lines(plan, wrote, arguments.write, unit, console_for()))
    return 0


def _range(text: str) -> tuple[int, int]:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise ArgumentTypeError(f"expected FIRST-LAST, such as 33-40, found '{text}'")
    first = int(found[1])
    return first, int(found[2]) if found[2] else first


def _rebuild(opened: OpenedSession, arguments: Namespace) -> int:
    from ctxview.formats.session.store.derived_files import WriteFailed
    from ctxview.formats.session.store.swap import apply_rebuild, rebuilds

    found: list[ChunkRebuild] = []
    wrote: list[WrittenFile] = []
    for each in rebuilds(opened.session, opened.raw):
        if arguments.write:
            try:
                written = apply_rebuild(opened.session, each)
            except WriteFailed as error:
                raise UserError(f"{arguments.session}: {error}") from None
            wrote += [written] if written else []
        found.append(each.without_content())
    if arguments.json:
        from ctxview.reports.json_output import dumps

        chunks: list[JsonValue] = [
            {
                "id": each.id,
                "line": each.line,
                "chunk": each.chunk.name.lower(),
                "rebuildable": each.possible,
                "why": each.reason,
            }
            for each in found
        ]
        print(dumps({"chunks": chunks, "written": written_as_json(wrote)}))
    else:
        from ctxview.reports.console import console_for, print_masked

        print_masked(rebuild_lines(found, wrote, arguments.write, console_for()))
    return 1 if any(each.chunk is not ChunkStatus.VERIFIED and not each.possible for each in found) else 0


def _as_json(plan: SwapPlan, wrote: list[WrittenFile]) -> JsonValue:
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


def swap_lines(
    plan: SwapPlan, wrote: Sequence[WrittenFile], write: bool, unit: str, console: Console
) -> Iterator[str]:
    size = f"{size_in_words(len(plan.content))}, {plan.tokens:,} {unit}"
    yield f"{console.paint(visible(plan.place), Style.STRONG)}  {counted(plan.records, 'record')}, {size}"
    yield cut_cells(f"  chunk    {short_name(plan.name)}: {plan.chunk.value}", console.width)
    index = "a new line"
    if plan.indexed is not None:
        where = plan.indexed.text("range") or plan.indexed.text("event") or "?"
        index = f"listed on line {plan.indexed.line} for {visible(where)}"
    yield cut_cells(f"  index    {index}", console.width)
    yield cut_cells(f"  summary  {visible(plan.summary)}", console.width)
    yield from (f"{each.action.value} {visible(each.name)}" for each in wrote)
    if plan.done:
        yield "nothing to do: already swapped out"
    elif not write:
        yield "nothing was written; add --write to write"


def rebuild_lines(
    found: Sequence[ChunkRebuild], wrote: Sequence[WrittenFile], write: bool, console: Console
) -> Iterator[str]:
    if not found:
        yield "the swap index is empty"
    yield from reason_lines(COLUMNS, [(_cells(each), each.reason) for each in found], console)
    yield from (f"{each.action.value} {visible(each.name)}" for each in wrote)
    if not write and any(each.possible for each in found):
        yield "nothing was written; add --write to rebuild the missing chunks"


def _cells(rebuild: ChunkRebuild) -> tuple[Cell, Cell, Cell]:
    if rebuild.chunk is ChunkStatus.VERIFIED:
        mark = Cell("ok", Style.GOOD)
    else:
        mark = Cell("rebuild", Style.WARNING) if rebuild.possible else Cell("lost", Style.BAD)
    return mark, Cell(f"{rebuild.line}"), Cell(short_name(rebuild.name))
