"""`ctxview demo`: plays the bundled stories, one of them or all, with captions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxview.commands.inspector import add_screen, on_screen
from ctxview.commands.looking import add_look, preferred
from ctxview.commands.replay import add_pace


def configure(parser: ArgumentParser) -> None:
    add_pace(parser)
    parser.add_argument("--loop", action="store_true", help="play all of them at once, over and over")
    add_screen(parser)
    add_look(parser)


def run(arguments: Namespace) -> int:
    def show() -> int:
        from ctxview.tui.demo import run_demo
        from ctxview.tui.player import Show

        look = {"mode": arguments.mode, "profile": arguments.profile}
        return run_demo(preferred(arguments), Show(arguments.speed, arguments.loop), **look)

    return on_screen(show)
