"""The description of a format: names, options, commands, and where its code is. Imports no format.

Code is named by `module:name` and imported when it is first used, so that a list of all formats costs little.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct, field


class LensOption(Struct, frozen=True):
    """A way to read that a format declares: a word of `choices`, or a whole number from 0 on.

    A size is a number that may be written with K or M: 16K is 16384.
    """

    name: str
    """The key in `Lens.options`."""
    label: str
    kind: Literal["choice", "number", "size"]
    choices: tuple[str, ...] = ()
    help: str = ""


class CommandSpec(Struct, frozen=True):
    """A command; its `module` has `configure(parser)` and `run(arguments)`, which returns the exit code."""

    name: str
    module: str
    summary: str
    examples: tuple[tuple[str, str], ...] = ()
    """Command lines with what they do."""


class FormatSpec(Struct, frozen=True, kw_only=True):
    """A format. Built-in formats and those of other packages are described in the same way."""

    name: str
    title: str
    recognised_by: str
    recognise: str
    """`module:name` of a function `(peek) -> FormatMatch | None`."""
    words: tuple[bytes, ...] = ()
    """Bytes of which every file of the format has at least one; other files do not import its code."""
    suffixes: tuple[str, ...] = ()
    """The suffixes of all files of the format; other files do not import its code."""
    samples: bool = False
    """Whether it reads files of a folder to recognise it; formats that need only names are asked before."""
    open: str
    """`module:name` of a function `(peek) -> Source`, which raises `OpenError`."""
    families: Mapping[str, str] = field(default_factory=dict)
    """The subject of each rule family of the format, by the letters before the rule numbers."""
    rules: tuple[str, ...] = ()
    """The modules that register the rules of these families when they are imported."""
    at_home: str = ""
    """`module:name` of `(home) -> Iterable[FoundAtHome]`: sources in places where programs keep them."""
    options: tuple[LensOption, ...] = ()
    commands: tuple[CommandSpec, ...] = ()
    redacted_copy: str = ""
    """`module:name` of a function `(before, after) -> files`, which returns the files of a redacted copy
    by name, with what follows from their content made to fit: sizes, chains of hashes, records."""


class FoundAtHome(Struct, frozen=True):
    """A source, or a folder that lists several, found by names and sizes alone."""

    path: Path
    name: str
    about: str
    modified: float | None = None
    """When it was changed last, in seconds since the epoch."""


class FormatMatch(Struct, frozen=True):
    """How well a format fits a path, from 1 (it could be anything) to 100, and why."""

    format: str
    score: int
    why: str
    flat: bool = False
    """Whether only the files of a folder belong to the source, so that its subfolders may hold others."""
    lists: bool = False
    """Whether the source only lists the sources below the folder, so that these may be wanted instead."""
    members: tuple[str, ...] = ()
    """The sources that the path holds, each named by a path below it; empty when it is one itself."""
