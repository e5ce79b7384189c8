"""`ctxview [PATH …]`: opens the inspector."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ctxview.analysis.wording import did_you_mean
from ctxview.commands.inspector import add_screen, open_inspector
from ctxview.commands.looking import add_look
from ctxview.commands.trouble import Trouble
from ctxview.formats.nearest import absence


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", type=Path, help="a file, a session or a tree")
    add_screen(parser)
    add_look(parser)


def run(arguments: Namespace) -> int:
    for path in arguments.paths:
        if (why := absence(path)) is not None:
            raise Trouble(f"{path}: {why}{_or_a_command(str(path), why)}")
    return open_inspector(arguments.paths, arguments)


def _or_a_command(word: str, why: str) -> str:
    """A command may have been meant, if no path was."""
    from ctxview.cli import COMMANDS

    return "" if "did you mean" in why else did_you_mean(word, COMMANDS)
