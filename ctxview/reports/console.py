"""What a command may assume about the terminal it prints to, and the few styles it paints with.

Colour only for a person looking: a terminal, `NO_COLOR` unset. Text from files must come from `visible`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from enum import StrEnum
from typing import TextIO

from ctxview.analysis.secrets import mask_secrets
from ctxview.quick_dataclass import dataclass

UNWATCHED = 100
"""Columns when nobody is looking."""


class Style(StrEnum):
    """The SGR codes of a meaning; the sixteen colours, so that the person's own palette holds."""

    STRONG = "1"
    QUIET = "2"
    GOOD = "32"
    BAD = "31"
    WARNING = "33"
    NOTE = "36"
    HEADING = "1;34"


@dataclass(frozen=True, slots=True)
class Console:
    width: int
    colour: bool

    def paint(self, text: str, style: Style | None) -> str:
        if not self.colour or style is None or not text:
            return text
        return f"\x1b[{style.value}m{text}\x1b[0m"


def tell(lines: Iterable[str]) -> None:
    """Prints for people: whatever the lines quote, no secret is told."""
    print(mask_secrets("\n".join(lines)))


def console_for(stream: TextIO | None = None) -> Console:
    """The console behind `stream` (stdout)."""
    target = sys.stdout if stream is None else stream
    watched = target.isatty()
    colour = watched and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Console(width=max(40, _columns(target)), colour=colour)


def speaks_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "utf-8").lower().replace("-", "") == "utf8"


def _columns(target: TextIO) -> int:
    """As `shutil.get_terminal_size` finds them, without its imports: `COLUMNS`, then the terminal itself."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    try:
        return os.get_terminal_size(target.fileno()).columns or UNWATCHED
    except (OSError, ValueError):
        return UNWATCHED
