"""`ctxview replay PATH`: play a recording, or the revisions of a source, in the inspector."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from ctxview.commands.arguments import add_reading_arguments, open_only_source
from ctxview.commands.inspect import add_screen_arguments, open_inspector

FASTEST = 100.0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="a recording, or a source with revisions")
    add_speed_argument(parser)
    parser.add_argument("--loop", action="store_true", help="start again at the end")
    add_screen_arguments(parser)
    add_reading_arguments(parser)


def run(arguments: Namespace) -> int:
    source = open_only_source(arguments.path, arguments)
    from ctxview.tui.model.replay import ReplayOptions

    return open_inspector([source.path], arguments, ReplayOptions(arguments.speed, arguments.loop))


def add_speed_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--speed", metavar="N", type=_speed, default=1.0, help="2 is twice as fast (default: %(default)g)"
    )


def _speed(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= FASTEST:
        raise ArgumentTypeError(
            f"expected a number above 0 and up to {FASTEST:g}, such as 2 or 0.5, found '{text}'"
        )
    return value
