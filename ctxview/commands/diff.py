"""`ctxview diff A B`: tells two states apart by meaning. Exit 0 equal, 1 different, 2 trouble."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ctxview.commands.looking import add_look, lens, opened, revision_index


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", type=Path, help="the earlier file or session")
    parser.add_argument("after", metavar="B", type=Path, help="the later one")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    add_look(parser)


def run(arguments: Namespace) -> int:
    from ctxview.analysis.diff import diff

    look = lens(arguments)
    before, after = (
        source.reading(revision_index(source, None), look).state
        for source in (opened(arguments.before, arguments), opened(arguments.after, arguments))
    )
    found = diff(before, after)
    if arguments.json:
        from ctxview.reports.json_text import dumps

        print(dumps(found.as_json()))
    else:
        print("\n".join(found.as_lines()))
    return 1 if found else 0
