"""`ctxview show PATH`: print the state of one revision."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ctxview.commands.arguments import add_reading_arguments, lens_from, open_whole_source, revision_index
from ctxview.files.visible_text import visible
from ctxview.formats.revisions import REVISION_HELP


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="a file, session or folder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--at", metavar="REV", help=f"{REVISION_HELP} (default: the latest)")
    add_reading_arguments(parser)


def run(arguments: Namespace) -> int:
    source = open_whole_source(arguments.path, arguments)
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
