"""`ctxview replay PATH`: plays a recording, or the revisions of anything, in the inspector."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from ctxview.commands.inspector import add_screen, open_inspector
from ctxview.commands.looking import add_look, opened

FASTEST = 100.0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="a recording, or anything that has revisions")
    add_pace(parser)
    parser.add_argument("--loop", action="store_true", help="begin again at the end")
    add_screen(parser)
    add_look(parser)


def run(arguments: Namespace) -> int:
    source = opened(arguments.path, arguments)
    from ctxview.tui.player import Show

    return open_inspector([source.path], arguments, Show(arguments.speed, arguments.loop))


def add_pace(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--speed", metavar="N", type=speed, default=1.0, help="2 is twice as fast (default: %(default)g)"
    )


def speed(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= FASTEST:
        raise ArgumentTypeError(f"a speed is a number above 0, such as 2 or 0.5, not {text}")
    return value
