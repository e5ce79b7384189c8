"""`ctxview formats`: list the formats and how each is recognised."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from textwrap import fill

from ctxview.core.origin import JsonValue
from ctxview.formats.registry import FORMATS, Plugins, plugins


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: Namespace) -> int:
    installed = plugins()
    if arguments.json:
        from ctxview.reports.json_output import dumps

        built_in: list[JsonValue] = [
            {"name": spec.name, "title": spec.title, "recognised_by": spec.recognised_by, "built_in": True}
            for spec in FORMATS
        ]
        others: list[JsonValue] = [
            {"name": name, "title": None, "recognised_by": None, "built_in": False}
            for name in installed.formats
        ]
        print(dumps([*built_in, *others]))
        return 0
    from ctxview.reports.console import print_lines

    print_lines(_lines(installed))
    return 0


def _lines(installed: Plugins) -> Iterator[str]:
    from ctxview.files.visible_text import visible
    from ctxview.reports.console import Style, console_for

    console = console_for()
    for spec in FORMATS:
        yield f"{console.paint(spec.name, Style.STRONG)}  {spec.title}"
        yield fill(
            f"recognised by {spec.recognised_by}",
            min(console.width, 100),
            initial_indent="  ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
    for name in installed.formats:
        yield f"{console.paint(visible(name), Style.STRONG)}  from another package"
    for name, problem in installed.problems.items():
        yield visible(f"{name}  cannot be loaded: {problem}")
