"""What the terminal can show: how many colours, and whether it knows more signs than ASCII. Draws nothing.

The decisions are made from the environment alone; nobody is asked, since some terminals never answer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from enum import StrEnum

from rich.console import Console

from ctxview.config import Config
from ctxview.quick_dataclass import dataclass
from ctxview.tui import themes


class Colours(StrEnum):
    ALL = "all"
    SOME = "256"
    SIXTEEN = "sixteen"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Terminal:
    colours: Colours = Colours.ALL
    ascii: bool = False


ABLE = Terminal()

PLAIN_TERMS = ("dumb", "vt52", "vt100", "vt102", "vt220", "vt320", "unknown")
"""Neither colours nor signs."""

FEW_SIGNS = (*PLAIN_TERMS, "linux", "ansi", "cons25")
"""The Linux console has frames, but neither a tick nor half a circle."""

COERCED = "C.UTF-8"
"""What Python itself sets LC_CTYPE to when it finds the locale C."""


def appearance(config: Config) -> tuple[str, Terminal]:
    """The theme and the terminal it is drawn for; raises `BadTheme`.

    A theme of many colours is no pleasure in sixteen: only somebody who asks for it now is given it.
    """
    terminal = terminal_of(os.environ, sys.stdout.encoding, config.glyphs)
    asked = config.settings["theme"].source.startswith("--")
    many = terminal.colours in (Colours.ALL, Colours.SOME)
    theme = config.theme if asked or many else themes.SIXTEEN
    return themes.load(theme).name, terminal


def terminal_of(environment: Mapping[str, str], encoding: str, glyphs: str = "auto") -> Terminal:
    """`glyphs` is what a person asked for: "ascii", "unicode", or "auto"."""
    plain = not knows_signs(environment, encoding) if glyphs == "auto" else glyphs == "ascii"
    return Terminal(colours_of(environment), plain)


def colours_of(environment: Mapping[str, str]) -> Colours:
    if environment.get("NO_COLOR") or environment.get("TERM", "") in PLAIN_TERMS:
        return Colours.NONE
    # Found out in the very way in which the toolkit will decide what to send.
    system = Console(force_terminal=True, _environ=environment).color_system
    known = {None: Colours.NONE, "standard": Colours.SIXTEEN, "256": Colours.SOME}
    return known.get(system, Colours.ALL)


def knows_signs(environment: Mapping[str, str], encoding: str) -> bool:
    """A terminal that says nothing about its encoding is taken for a modern one."""
    if "utf" not in encoding.lower() or environment.get("TERM", "") in FEW_SIGNS:
        return False
    asked = environment.get("LC_CTYPE", "")
    locale = environment.get("LC_ALL") or (asked if asked != COERCED else "") or environment.get("LANG", "")
    return not locale or "utf" in locale.lower()
