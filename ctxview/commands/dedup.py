"""`ctxview dedup SESSION`: keeps large repeated content once, as blobs that packs and people can refer to.

Exit 0 done (or it would be), 1 a blob is lost, 2 trouble.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ctxview.commands.session_work import Opened, add_session, opened_session, written_as_json
from ctxview.commands.trouble import Trouble
from ctxview.origin import JsonValue

if TYPE_CHECKING:
    from ctxview.formats.session.dedup import DedupItem, DedupPlan
    from ctxview.formats.session.derived import Wrote

LEAST = 256
"""Smaller contents are not worth a blob."""
FORM = """
Looks at the texts in messages and events and at the files of the context. A
blob is named sha256- and the SHA-256 of the text in UTF-8, or of the file.
Nothing is taken out of where it stands; a lost blob is made again from any
place that still holds it. A message and its copy in the events count once. Exit
0 done, 1 a blob is lost, 2 trouble.
"""


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{FORM}"
    add_session(parser)
    parser.add_argument(
        "--least",
        metavar="BYTES",
        type=_least,
        help=f"smallest content worth it, at least {LEAST} (default: 4096)",
    )
    parser.add_argument("--write", action="store_true", help="write the blobs and their index lines")


def run(arguments: Namespace) -> int:
    from ctxview.formats.session.dedup import Act, apply_dedup, plan_dedup
    from ctxview.formats.session.derived import NotWritten

    opened = opened_session(arguments)
    plan = plan_dedup(opened.session, opened.raw, opened.profile, arguments.least)
    wrote: list[Wrote] = []
    if arguments.write:
        try:
            wrote = apply_dedup(opened.session, opened.raw, opened.profile, plan)
        except NotWritten as error:
            raise Trouble(f"{arguments.session}: {error}") from None
    if arguments.json:
        from ctxview.reports.json_text import dumps

        print(dumps(_as_json(opened, plan, wrote)))
    else:
        from ctxview.commands.dedup_text import dedup_lines
        from ctxview.reports.console import console_for, tell

        tell(dedup_lines(opened.session, plan, wrote, arguments.write, console_for()))
    return 1 if any(item.act is Act.LOST for item in plan.items) else 0


def _as_json(opened: Opened, plan: DedupPlan, wrote: list[Wrote]) -> JsonValue:
    return {
        "session": opened.session.name,
        "agent": opened.session.agent,
        "contents": plan.contents,
        "items": [_item_as_json(item) for item in plan.items],
        "notes": list(plan.notes),
        "written": written_as_json(wrote),
    }


def _item_as_json(item: DedupItem) -> JsonValue:
    return {
        "hash": item.id,
        "bytes": item.size,
        "times": item.times,
        "refs": list(item.refs),
        "act": item.act.value,
        "why": item.reason,
    }


def _least(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 13) or int(text) < LEAST:
        raise ValueError(text)
    return int(text)
