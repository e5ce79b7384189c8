"""Opening the inspector, for the two commands that do. The only way from a command to the screen."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from ctxview.commands.trouble import Trouble


def open_inspector(paths: list[Path], arguments: Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Trouble("the inspector needs a terminal; ctxview show PATH prints the state")
    from ctxview.tui.app import run

    return run(
        paths,
        as_format=arguments.as_format,
        mode=arguments.mode,
        profile=arguments.profile,
        tokens=arguments.tokens,
    )
