"""`ctxview show PATH`: prints the state of one revision."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ctxview.commands.looking import add_look, lens, opened, revision_index
from ctxview.files.visible import visible
from ctxview.formats import Source
from ctxview.formats.revisions import HOW


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="a file, a session or a tree")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    parser.add_argument("--at", metavar="REV", help=f"{HOW}; the latest by default")
    add_look(parser)


def run(arguments: Namespace) -> int:
    source = opened(arguments.path, arguments)
    reading = source.reading(revision_index(source, arguments.at), lens(arguments))
    if arguments.json:
        from ctxview.contract import state_as_json
        from ctxview.reports.json_text import dumps

        print(dumps(state_as_json(reading.state)))
    else:
        from ctxview.reports.console import console_for, tell
        from ctxview.reports.state_text import state_lines

        tell(state_lines(reading.state, reading.findings, console_for()))
        if len(source.revisions) > 1 and arguments.at is None:
            print(visible(_others(source)))
    return 0


def _others(source: Source) -> str:
    first = source.revisions[0].label
    return f"revisions  {len(source.revisions)}, this is the latest; the first: --at '{first}'"
