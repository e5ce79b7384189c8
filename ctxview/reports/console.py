"""Output on a terminal or in a log: lines, errors, styles, width, and ASCII substitutes for signs."""

from __future__ import annotations

import codecs
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final, TextIO

from msgspec import Struct

from ctxview.analysis.secrets import mask_secrets
from ctxview.core.lazy import lazy_pattern

DEFAULT_WIDTH = 100
"""Columns when the output is not a terminal."""
ASCII_UNKNOWN: Final = "?"
ASCII_ERRORS: Final = "ctxview.signs"
"""The name of this error handler, for `reconfigure` of a stream."""
ASCII_SIGNS: Final[Mapping[str, str]] = {
    # verdicts, severities, owners, references
    **dict(zip("✓✗·✖▲●◐○", "yx.E!*%o", strict=True)),
    **dict(zip("✎⊘⊖∑⇥", "w#-=>", strict=True)),
    **dict(zip("↗≠±↺◌", "^/;&,", strict=True)),
    # revisions, hollow and filled
    **dict(zip("◇◆□■▷▶◎◉▿▾•", "rRlL)>O@vV*", strict=True)),
    # columns, rails, bars and their background
    **dict(zip("▁▂▃▄▅▆▇█", "_.-:=+*#", strict=True)),
    **dict(zip("▏▎▍▌▋▊▉", "||||###", strict=True)),
    **dict(zip("━╸─░▒▓▐▕", "==-:n%#|", strict=True)),
    # frames and branches
    **dict(zip("╭╮╰╯┌┐┘├┤┬┴┼└", "++++++++++++`", strict=True)),
    **dict(zip("│┃┊┆┄┈╌⋮", "||::---:", strict=True)),
    # arrows
    **dict(zip("→←↑↓↕↳◀◂▸▴▼‖↦", "><^v|`<<>^v|>", strict=True)),
    # figures and words
    **dict(zip("…≈×−–—“”‘’‹›«»⏎", "$~x---\"\"''<><>/", strict=True)),
    # frames and scroll bars of the toolkit
    **dict(zip("▔▕▎▊▁┏┓┗┛┣┫╱╲", "-||#_++++||/\\", strict=True)),
}
"""One ASCII character for each sign. Signs that may appear in the same place stay different."""


# Runners of CI services execute parts of a log. `::name` acts at the beginning of a line, after spaces;
# `##[name]`, `##vso[name]` and `##teamcity[name]` act anywhere in it.
_LOG_COMMANDS: Final = lazy_pattern(r"^(?:[^\S\n]|\x1b\[[\d;]*m)*:(?=:)|#(?=#\w*\[)", re.MULTILINE)


class UserError(Exception):
    """An expected error. The message is for the user and names the file and the place, if any."""


class Style(StrEnum):
    """The SGR codes of a meaning; only the sixteen colours of the user's palette."""

    STRONG = "1"
    QUIET = "2"
    GOOD = "32"
    BAD = "31"
    WARNING = "33"
    NOTE = "36"
    HEADING = "1;34"


class Console(Struct, frozen=True):
    width: int
    colour: bool

    def paint(self, text: str, style: Style | None) -> str:
        if not self.colour or style is None or not text:
            return text
        return f"\x1b[{style.value}m{text}\x1b[0m"


def print_error(message: str) -> None:
    """Print one line on stderr; special characters in `message` are escaped, and secrets masked."""
    from ctxview.files.visible_text import visible

    print_masked([f"ctxview: {visible(message)}"], sys.stderr)


def print_lines(lines: Iterable[str], stream: TextIO | None = None) -> None:
    """Print lines, by default on stdout; the names in them cannot act on the log of a CI service."""
    target = sys.stdout if stream is None else stream
    for line in lines:
        if not is_utf8(target):
            # A sign of a name may become `:` or `#`, so it has to be substituted first.
            line = line.encode(target.encoding, ASCII_ERRORS).decode(target.encoding)
        print(without_log_commands(line), file=target)
    target.flush()


def print_masked(lines: Iterable[str], stream: TextIO | None = None) -> None:
    """Print lines, by default on stdout, with every secret masked."""
    if text := "\n".join(lines):
        print_lines([mask_secrets(text)], stream)


def without_log_commands(text: str, spelling: str = "<U+{:04X}>") -> str:
    """Spell out one character of each command for a CI service, such as `<U+003A>:error`."""
    return _LOG_COMMANDS.sub(lambda found: found[0][:-1] + spelling.format(ord(found[0][-1])), text)


def console_for(stream: TextIO | None = None) -> Console:
    """Return width and colour of `stream`, by default stdout."""
    target = sys.stdout if stream is None else stream
    colour = target.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Console(width=max(40, _columns(target)), colour=colour)


def is_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "utf-8").lower().replace("-", "") == "utf8"


def ascii_sign(character: str) -> str:
    """The ASCII substitute of a character: its own sign, else its base letter, else `?`."""
    if character.isascii():
        return character
    found = ASCII_SIGNS.get(character)
    if found is None:
        base = unicodedata.normalize("NFKD", character)[0]
        found = " " if base.isspace() else base if base.isascii() and base.isprintable() else ASCII_UNKNOWN
    return found


def _columns(target: TextIO) -> int:
    """The width from `COLUMNS` or the terminal, like `shutil.get_terminal_size` but without its imports."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    try:
        return os.get_terminal_size(target.fileno()).columns or DEFAULT_WIDTH
    except (OSError, ValueError):
        return DEFAULT_WIDTH


def _substitute(error: UnicodeError) -> tuple[str, int]:
    """Encode the signs of ctxview as ASCII and escape every other character that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    known = (ASCII_SIGNS.get(each, each) for each in characters)
    return "".join(known).encode("ascii", "backslashreplace").decode(), error.end


codecs.register_error(ASCII_ERRORS, _substitute)
