"""`ctxview demo`: play one or all of the bundled stories, with captions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxview.commands.arguments import add_reading_arguments, given_options, preferred_settings
from ctxview.commands.inspect import add_screen_arguments, run_screen
from ctxview.commands.replay import add_speed_argument


def configure(parser: ArgumentParser) -> None:
    add_speed_argument(parser)
    parser.add_argument("--loop", action="store_true", help="play all stories, again and again")
    add_screen_arguments(parser)
    add_reading_arguments(parser)


def run(arguments: Namespace) -> int:
    def show() -> int:
        from ctxview.tui.app import run_demo
        from ctxview.tui.model.replay import ReplayOptions

        return run_demo(
            preferred_settings(arguments),
            ReplayOptions(arguments.speed, arguments.loop),
            options=given_options(arguments),
            profile=arguments.profile,
        )

    return run_screen(show, arguments)
