"""`ctxview dedup SESSION`: store large repeated content once, as blobs that packs can refer to.

Exit 0 done or nothing to do, 1 a blob is lost, 2 error.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted, listed
from ctxview.commands.session import OpenedSession, add_session_arguments, open_session, written_as_json
from ctxview.core.origin import JsonValue
from ctxview.files.visible_text import visible
from ctxview.formats.session.model import Session
from ctxview.formats.session.store.dedup import DedupAction, DedupPlan
from ctxview.formats.session.store.derived_files import WrittenFile
from ctxview.reports.console import Console, Style, UserError
from ctxview.reports.table import Cell, Column, reason_lines, short_name, size_in_words

LEAST = 256
"""Bytes; smaller contents are not worth a blob."""
DESCRIPTION = """
It compares the texts of messages and events and the files of the context. A
blob is named sha256- and the SHA-256 of the text in UTF-8, or of the file. The
originals stay as they are; a lost blob is rebuilt from any place that still has
the content. A message and its copy in the events count once. Exit 0 done, 1 a
blob is lost, 2 error.
"""
COLUMNS = (Column(), Column("size", right=True), Column("content"), Column("places", most=60))
STYLES = {
    DedupAction.KEEP: Style.WARNING,
    DedupAction.REFER: Style.WARNING,
    DedupAction.REBUILD: Style.WARNING,
    DedupAction.LOST: Style.BAD,
}


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{DESCRIPTION}"
    add_session_arguments(parser)
    parser.add_argument(
        "--least",
        metavar="BYTES",
        type=_least,
        help=f"smallest content to store, from {LEAST} on (default: 4096)",
    )
    parser.add_argument("--write", action="store_true", help="write the blobs and their index lines")


def run(arguments: Namespace) -> int:
    from ctxview.formats.session.store.dedup import apply_dedup, plan_dedup
    from ctxview.formats.session.store.derived_files import WriteFailed

    opened = open_session(arguments)
    plan = plan_dedup(opened.session, opened.raw, opened.profile, arguments.least)
    wrote: list[WrittenFile] = []
    if arguments.write:
        try:
            wrote = apply_dedup(opened.session, opened.raw, opened.profile, plan)
        except WriteFailed as error:
            raise UserError(f"{arguments.session}: {error}") from None
    if arguments.json:
        from ctxview.reports.json_output import dumps

        print(dumps(_as_json(opened, plan, wrote)))
    else:
        from ctxview.reports.console import console_for, print_masked

        print_masked(dedup_lines(opened.session, plan, wrote, arguments.write, console_for()))
    return 1 if any(item.action is DedupAction.LOST for item in plan.items) else 0


def _least(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 13) or int(text) < LEAST:
        raise ArgumentTypeError(f"expected a number of bytes from {LEAST} on, found '{text}'")
    return int(text)


def _as_json(opened: OpenedSession, plan: DedupPlan, wrote: list[WrittenFile]) -> JsonValue:
    return {
        "session": opened.session.name,
        "agent": opened.session.agent,
        "contents": plan.contents,
        "items": [
            {
                "hash": item.id,
                "bytes": item.size,
                "times": item.times,
                "refs": list(item.refs),
                "act": item.action.value,
                "why": item.reason,
            }
            for item in plan.items
        ],
        "notes": list(plan.notes),
        "written": written_as_json(wrote),
    }


def dedup_lines(
    session: Session, plan: DedupPlan, wrote: Sequence[WrittenFile], write: bool, console: Console
) -> Iterator[str]:
    repeated = size_in_words(sum(item.saved for item in plan.items))
    compared = f"{counted(plan.contents, 'large content')} compared"
    yield f"{console.paint(visible(session.title), Style.STRONG)}  {compared}, {repeated} of them repeated"
    yield from (f"{console.paint('note', Style.WARNING)}: {visible(note)}" for note in plan.notes)
    rows = []
    for item in plan.items:
        act = "ok" if item.action is DedupAction.NOTHING else item.action.value
        size, name, places = size_in_words(item.size), short_name(item.id), listed(item.refs, 3)
        cells = (Cell(act, STYLES.get(item.action, Style.GOOD)), Cell(size), Cell(name), Cell(places))
        rows.append((cells, item.reason))
    yield from reason_lines(COLUMNS, rows, console)
    yield from (f"{each.action.value} {visible(each.name)}" for each in wrote)
    if plan.to_do and not write:
        yield "nothing was written; add --write to write"
