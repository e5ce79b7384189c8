"""`ctxview formats`: list the formats and how each is recognised."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from textwrap import fill

from ctxview.core.origin import JsonValue
from ctxview.formats.registry import BUILT_IN, format_problems, formats


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: Namespace) -> int:
    if arguments.json:
        from ctxview.reports.json_output import dumps

        known: list[JsonValue] = [
            {
                "name": spec.name,
                "title": spec.title,
                "recognised_by": spec.recognised_by,
                "built_in": spec.name in BUILT_IN,
            }
            for spec in formats()
        ]
        print(dumps(known))
        return 0
    from ctxview.reports.console import print_lines

    print_lines(_lines())
    return 0


def _lines() -> Iterator[str]:
    from ctxview.files.visible_text import visible
    from ctxview.reports.console import Style, console_for

    console = console_for()
    for spec in formats():
        origin = "" if spec.name in BUILT_IN else " (from another package)"
        yield f"{console.paint(visible(spec.name), Style.STRONG)}  {visible(spec.title)}{origin}"
        yield fill(
            visible(f"recognised by {spec.recognised_by}"),
            min(console.width, 100),
            initial_indent="  ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
    for name, problem in format_problems().items():
        yield visible(f"{name}  cannot be loaded: {problem}")
