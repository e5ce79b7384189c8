"""The arguments that several commands share, and the source and lens that they select. Prints nothing."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from ctxview.analysis.tokens import COUNTERS, ESTIMATES, counter_named
from ctxview.config import Config, ConfigError, load_config
from ctxview.formats import (
    DiscoveredSource,
    Lens,
    OpenError,
    Source,
    discover,
    lens_options,
    open_source,
)
from ctxview.formats.revisions import RevisionError, find_revision
from ctxview.reports.console import UserError

OPTION = "option_"
"""The prefix of the arguments that are `LensOption`s."""


def add_reading_arguments(
    parser: ArgumentParser, *, tokens: bool = True, format_option: str = "--as"
) -> None:
    """Add `--as`, `--profile`, the options of the formats and, for commands that show figures, `--tokens`."""
    parser.add_argument(
        format_option, dest="as_format", metavar="FORMAT", help="read as this format (default: recognise it)"
    )
    taken = parser._option_string_actions
    for option in (each for each in lens_options() if f"--{each.name}" not in taken):
        by_lower = {word.casefold(): word for word in option.choices}
        parser.add_argument(
            f"--{option.name}",
            dest=f"{OPTION}{option.name}",
            metavar=None if option.choices else "N",
            type=_OPTION_TYPES.get(
                option.kind, lambda text, known=by_lower: known.get(text.casefold(), text)
            ),
            choices=option.choices or None,
            help=option.help,
        )
    add_profile_argument(parser)
    if tokens:
        parser.add_argument(
            "--tokens",
            metavar="COUNTER",
            choices=COUNTERS,
            help=f"count tokens by {', '.join(COUNTERS)} (default: {COUNTERS[0]})",
        )


def add_profile_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--profile", metavar="NAME", help="apply the limits of a runtime, by name or TOML file"
    )


def unsigned_integer(text: str) -> int:
    """Parse a value from 0 on, for `type=`."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ArgumentTypeError(f"expected a whole number from 0 on, such as 8000, found '{text}'")
    return int(text)


def size_in_tokens(text: str) -> int:
    """Parse a number that may end in K or M, for `type=`."""
    digits, factor = text.lower(), 1
    for letter, size in (("k", 1024), ("m", 1024 * 1024)):
        if digits.endswith(letter):
            digits, factor = digits.removesuffix(letter), size
    if not (digits.isascii() and digits.isdigit() and len(digits) < 13 and int(digits)):
        raise ArgumentTypeError(f"expected a number of tokens such as 16K, 1M or 200000, found '{text}'")
    return int(digits) * factor


_OPTION_TYPES: dict[str, Callable[[str], int]] = {"number": unsigned_integer, "size": size_in_tokens}


def preferred_settings(arguments: Namespace) -> Config:
    """Return the settings, with those of the command line; raises `UserError`."""
    try:
        return load_config(vars(arguments))
    except ConfigError as error:
        raise UserError(str(error)) from error


def lens_from(arguments: Namespace, *, shows_figures: bool | None = None) -> Lens:
    """Return the lens that the arguments ask for. Token counts that are not shown are only estimated."""
    if shows_figures is None:
        shows_figures = "tokens" in arguments
    counter = counter_named(preferred_settings(arguments).tokens) if shows_figures else ESTIMATES["bytes/4"]
    return Lens(counter, arguments.profile, given_options(arguments))


def given_options(arguments: Namespace) -> dict[str, str | int]:
    """Return the values of the `LensOption`s that were given."""
    given = vars(arguments).items()
    return {
        name.removeprefix(OPTION): value
        for name, value in given
        if name.startswith(OPTION) and value is not None
    }


class SeveralSources(UserError):
    """A folder has several sources, and one was asked for."""

    def __init__(self, path: Path, found: Sequence[DiscoveredSource]) -> None:
        super().__init__(f"{path}: {ambiguous_folder(found)}, or open all: ctxview {path}")
        self.found = found


def open_only_source(path: Path, arguments: Namespace) -> Source:
    """Open the only source at or below `path`; raises `UserError` when there is none, or more than one."""
    try:
        return open_source(path, arguments.as_format)
    except OpenError as error:
        below, notes = sources_below(path)
        if not below:
            raise UserError("; ".join([str(error), *notes])) from error
        if len(below) == 1:
            return open_only_source(below[0].path, arguments)
        raise SeveralSources(path, below) from error


def open_whole_source(path: Path, arguments: Namespace) -> Source:
    """Open the only source at or below `path`, and read all of it: a large one begins with its end."""
    source = open_only_source(path, arguments)
    if (work := source.abilities.work) is not None and work.has_work(lens := lens_from(arguments)):
        source.findings(lens)
    return source


def sources_below(path: Path) -> tuple[list[DiscoveredSource], Sequence[str]]:
    """Return the sources below a folder, and notes about folders that were not searched."""
    try:
        discovery = discover(path)
    except OpenError:
        return [], ()
    notes = [*filter(None, [discovery.capped]), *(f"{folder}: {why}" for folder, why in discovery.unread)]
    return [found for found in discovery.found if found.path != path], notes


def ambiguous_folder(found: Sequence[DiscoveredSource]) -> str:
    """The message for a folder with several sources."""
    return f"this folder has {len(found)} sources; name one of them, such as {found[0].path}"


def revision_index(source: Source, wanted: str | None) -> int:
    """The index of the revision named by `wanted` (see `find_revision`), or of the latest one."""
    if wanted is None:
        return len(source.revisions) - 1
    try:
        return find_revision(source.revisions, wanted)
    except RevisionError as error:
        raise UserError(f"{source.path}: {error}") from error
