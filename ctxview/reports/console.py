"""What a command may assume about the terminal it prints to, and the few styles it paints with.

Colour only for a person looking: a terminal, `NO_COLOR` unset. Text from files must come from `visible`.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from shutil import get_terminal_size
from typing import TextIO


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


def console_for(stream: TextIO | None = None) -> Console:
    """The console behind `stream` (stdout): its width, or 100 columns when nobody is looking."""
    target = sys.stdout if stream is None else stream
    watched = target.isatty()
    colour = watched and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    columns = get_terminal_size((100, 24)).columns if watched or "COLUMNS" in os.environ else 100
    return Console(width=max(40, columns), colour=colour)
