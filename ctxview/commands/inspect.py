"""`ctxview [PATH …]`: opens the inspector."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ctxview.analysis.wording import did_you_mean
from ctxview.commands.inspector import add_theme, open_inspector
from ctxview.commands.looking import add_look
from ctxview.commands.trouble import Trouble


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", type=Path, help="a file, a session or a tree")
    add_theme(parser)
    add_look(parser)


def run(arguments: Namespace) -> int:
    for path in arguments.paths:
        if not path.exists():
            from ctxview.cli import COMMANDS

            raise Trouble(f"{path}: no such file or directory{did_you_mean(str(path), COMMANDS)}")
    return open_inspector(arguments.paths, arguments)
