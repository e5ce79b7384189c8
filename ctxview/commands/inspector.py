"""Opening the inspector, for the commands that do. The only way from a command to the screen."""

from __future__ import annotations

import gc
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.commands.looking import preferred
from ctxview.commands.trouble import Trouble
from ctxview.config import GLYPHS, ConfigError

if TYPE_CHECKING:
    from ctxview.tui.player import Show


def open_inspector(paths: list[Path], arguments: Namespace, show: Show | None = None) -> int:
    """With a `show` its revisions are played."""

    def inspect() -> int:
        from ctxview.tui.app import run

        look = {"as_format": arguments.as_format, "mode": arguments.mode, "profile": arguments.profile}
        return run(paths, preferred(arguments), **look, show=show)

    return on_screen(inspect)


def on_screen(run: Callable[[], int]) -> int:
    """What needs a terminal; raises `Trouble` when there is none, or when a setting cannot be used."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Trouble("the inspector needs a terminal; ctxview show PATH prints the state")
    if os.environ.get("TERM") == "dumb":
        raise Trouble("TERM=dumb is too little for the inspector; ctxview show PATH prints the state")
    # What is loaded now is no garbage, and takes a look through it all; the app has it looked for again.
    gc.disable()
    # The toolkit waits for the next of so many moments in a second before it paints what a key did.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    # From a key to its picture the turn passes between threads several times; others keep it no longer.
    sys.setswitchinterval(0.0005)
    from ctxview.tui.themes import BadTheme

    try:
        return run()
    except (BadTheme, ConfigError) as error:
        raise Trouble(str(error)) from error


def add_screen(parser: ArgumentParser) -> None:
    """`--theme`, `--glyphs` and `--no-follow`: what the screen looks like, and whether it keeps up."""
    parser.add_argument("--theme", metavar="NAME", help="colours: dark, light, contrast, safe, amber, reef …")
    parser.add_argument("--glyphs", choices=GLYPHS, help="signs that the terminal knows (default: auto)")
    parser.add_argument(
        "--no-follow",
        dest="follow",
        action="store_false",
        default=None,
        help="do not look again when a file changes",
    )
