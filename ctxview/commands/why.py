"""`ctxview why PATH NAME`: where a block went, when and by what. Exit 0 found, 1 not found, 2 error."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ctxview.commands.arguments import add_reading_arguments, lens_from, open_whole_source


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="a file, session or folder")
    parser.add_argument(
        "name",
        metavar="NAME",
        help="a block by id, file or words of its text; a reference, gap or todo item",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_reading_arguments(parser)


class Unobserved:
    """The progress of work that is not shown and not cancelled."""

    cancelled = False

    def report(self, done: int, total: int, what: str) -> None:
        pass


def run(arguments: Namespace) -> int:
    from ctxview.analysis.revisions.why import explain
    from ctxview.formats.revisions import read_known
    from ctxview.reports.console import print_masked
    from ctxview.reports.why import not_found_text, why_json, why_lines

    source = open_whole_source(arguments.path, arguments)
    known = read_known(source, lens_from(arguments), Unobserved())
    answers = explain(known, arguments.name)
    if arguments.json:
        from ctxview.reports.json_output import dumps

        print(dumps(why_json(arguments.name, answers, known)))
    elif not answers:
        print_masked([not_found_text(arguments.name, known)])
    for at, answer in enumerate(answers if not arguments.json else ()):
        print_masked([*([""] if at else []), *why_lines(answer, known)])
    return 0 if answers else 1
