"""`ctxview show PATH`: print the state of one revision, or list the sources of a folder that has several."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from ctxview.commands.arguments import (
    SeveralSources,
    add_reading_arguments,
    lens_from,
    open_whole_source,
    revision_index,
)
from ctxview.files.visible_text import visible
from ctxview.formats import DiscoveredSource
from ctxview.formats.revisions import REVISION_HELP
from ctxview.reports.console import Console, Style


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="a file, session or folder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--at", metavar="REV", help=f"{REVISION_HELP} (default: the latest)")
    add_reading_arguments(parser)


def run(arguments: Namespace) -> int:
    try:
        source = open_whole_source(arguments.path, arguments)
    except SeveralSources as several:
        if arguments.json or arguments.at is not None:
            raise
        from ctxview.reports.console import console_for, print_masked

        print_masked(_source_lines(arguments.path, several.found, console_for()))
        return 0
    reading = source.reading(revision_index(source, arguments.at), lens_from(arguments))
    if arguments.json:
        from ctxview.reports.json_output import dumps, state_as_json

        print(dumps(state_as_json(reading.state)))
    else:
        from ctxview.reports.console import console_for, print_lines, print_masked
        from ctxview.reports.state_text import state_lines

        print_masked(state_lines(reading.state, reading.findings, console_for()))
        if len(source.revisions) > 1 and arguments.at is None:
            first, count = source.revisions[0].label, len(source.revisions)
            print_lines([visible(f"revisions  {count}, this is the latest; the first: --at '{first}'")])
    return 0


def _source_lines(folder: Path, found: Sequence[DiscoveredSource], console: Console) -> Iterator[str]:
    """The sources of a folder, each with its format, and how to see one of them."""
    from ctxview.reports.table import Cell, Column, table_lines

    yield f"{console.paint(visible(str(folder)), Style.STRONG)}  {len(found)} sources"
    rows = [
        [Cell(each.format), Cell(visible(str(each.path)), Style.STRONG), Cell(visible(each.why), Style.QUIET)]
        for each in found
    ]
    yield from table_lines((Column(), Column(most=200), Column(spare=1)), rows, console)
    yield visible(f"One of them: ctxview show {found[0].path}")
