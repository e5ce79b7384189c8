"""The arguments that say what to open and how to look at it, and the opening itself. Prints nothing."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from ctxview.analysis.tokens import COUNTERS, ESTIMATES, counter_named
from ctxview.commands.trouble import Trouble
from ctxview.config import Config, ConfigError, load
from ctxview.formats import CannotOpen, Lens, Source, discover, open_source
from ctxview.formats.revisions import NoSuchRevision, find

MODES = ("enabled", "disabled")


def add_look(parser: ArgumentParser, *, tokens: bool = True) -> None:
    """`--as`, `--mode`, `--profile` and, where figures are shown, `--tokens`."""
    look = parser.add_argument_group("how to look")
    look.add_argument(
        "--as", dest="as_format", metavar="FORMAT", help="read as this format instead of guessing"
    )
    look.add_argument("--mode", choices=MODES, help="context mode the reply was made in")
    look.add_argument("--profile", metavar="P", help="limits of a runtime: a name, or a TOML file")
    if tokens:
        look.add_argument(
            "--tokens",
            metavar="HOW",
            choices=COUNTERS,
            help=f"count by {', '.join(COUNTERS)} (default: {COUNTERS[0]})",
        )


def preferred(arguments: Namespace) -> Config:
    """The settings in force, with what was said on the command line; raises `Trouble`."""
    try:
        return load(vars(arguments))
    except ConfigError as error:
        raise Trouble(str(error)) from error


def lens(arguments: Namespace) -> Lens:
    """Figures that nobody will see are only estimated."""
    shows_figures = "tokens" in arguments
    counter = counter_named(preferred(arguments).tokens) if shows_figures else ESTIMATES["bytes/4"]
    return Lens(counter, arguments.profile, arguments.mode)


def opened(path: Path, arguments: Namespace) -> Source:
    """The one thing at or below `path`; raises `Trouble` when there is none, or more than one."""
    try:
        return open_source(path, arguments.as_format)
    except CannotOpen as error:
        below, notes = below_of(path)
        if not below:
            raise Trouble("; ".join([str(error), *notes])) from error
        if len(below) == 1:
            return opened(below[0], arguments)
        raise Trouble(f"{path}: {one_of(below)} (all: ctxview {path})") from error


def below_of(path: Path) -> tuple[list[Path], Sequence[str]]:
    """What can be opened below a folder, and where nobody looked."""
    try:
        discovery = discover(path)
    except CannotOpen:
        return [], ()
    notes = [*filter(None, [discovery.capped]), *(f"{folder}: {why}" for folder, why in discovery.unread)]
    return [found.path for found in discovery.found if found.path != path], notes


def one_of(paths: Sequence[Path]) -> str:
    """That somebody has to choose."""
    return f"{len(paths)} things are in this folder; name one of them, such as {paths[0]}"


def revision_index(source: Source, wanted: str | None) -> int:
    """The revision a person means, see `revisions.find`; the latest one when they name none."""
    if wanted is None:
        return len(source.revisions) - 1
    try:
        return find(source.revisions, wanted)
    except NoSuchRevision as error:
        raise Trouble(f"{source.path}: {error}") from error
