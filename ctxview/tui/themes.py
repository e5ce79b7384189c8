"""Themes: one TOML file each, read into the toolkit's colours and our semantic styles. Draws nothing.

A theme with a mistake is refused with the reason: an invalid colour would end the application later on.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from rich.errors import StyleSyntaxError
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.theme import Theme

from ctxview.analysis.wording import did_you_mean
from ctxview.quick_dataclass import dataclass
from ctxview.theme_files import DEFAULT, files, folder, names

if TYPE_CHECKING:
    from textual.app import App

Result = TypeVar("Result")

LIGHT = "ctxview-light"
SIXTEEN = "ctxview-sixteen"

BASE = (
    "primary",
    "secondary",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "success",
    "warning",
    "error",
)
RAMPS = ("decay", "confidence", "parts", "tiers")
STEPS = 8


class BadTheme(ValueError):
    """What is wrong with a theme file, naming the entry."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The meaning of our style names in one theme."""

    name: str
    title: str
    dark: bool
    base: Mapping[str, str]
    styles: Mapping[str, Style]
    ramps: Mapping[str, Sequence[Style]]
    _known: dict[str, Style] = field(default_factory=dict)

    def style(self, names: str) -> Style:
        """Several names are laid over each other, the last on top."""
        known = self._known.get(names)
        if known is None:
            known = Style.combine([Style.null(), *(self._one(name) for name in names.split())])
            self._known[names] = known
        return known

    def theme(self) -> Theme:
        """For the toolkit, whose own widgets are to use our colours for what they mean."""
        theme = Theme(self.name, self.base["primary"], dark=self.dark, variables=self._variables())
        for name in BASE:
            setattr(theme, name, self.base[name])
        return theme

    def _variables(self) -> dict[str, str]:
        quiet = self._ink("dim")
        cursor, span = self._ground("cursor"), self._ground("span")
        return {
            "text-muted": quiet,
            "text-disabled": quiet,
            "border": self.base["primary"],
            "border-blurred": self.base["secondary"],
            "block-cursor-foreground": self._ink("cursor"),
            "block-cursor-background": cursor,
            "block-cursor-blurred-foreground": self._ink("cursor"),
            "block-cursor-blurred-background": cursor,
            "input-selection-foreground": self._ink("span"),
            "input-selection-background": span,
            "screen-selection-foreground": self._ink("span"),
            "screen-selection-background": span,
        }

    def _ink(self, name: str) -> str:
        colour = self.style(name).color
        return colour.get_truecolor().hex if colour is not None else self.base["foreground"]

    def _ground(self, name: str) -> str:
        colour = self.style(name).bgcolor
        return colour.get_truecolor().hex if colour is not None else self.base["panel"]

    def _one(self, name: str) -> Style:
        if name in self.styles:
            return self.styles[name]
        if name == "bold":
            return Style(bold=True)
        family, _, rest = name.partition(".")
        if family in self.ramps and rest.isdigit():
            ramp = self.ramps[family]
            return ramp[int(rest) % len(ramp)]
        if family == "tier":
            # A tier of a format we do not know by name: always the same colour for the same word.
            ramp = self.ramps["tiers"]
            return ramp[crc32(rest.encode("utf-8", "replace")) % len(ramp)]
        return Style.null()


def parse(text: str) -> Palette:
    """A theme from the text of its file; raises `BadTheme`."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadTheme(str(error)) from error
    base = _table(data, "base")
    for name in BASE:
        _checked_colour(f"base.{name}", base.get(name))
    ramps = _table(data, "ramps")
    return Palette(
        name=_word(data, "name"),
        title=_word(data, "title"),
        dark=data.get("dark") is True,
        base={name: str(base[name]) for name in BASE},
        styles={
            name: _checked_style(f"styles.{name}", value) for name, value in _table(data, "styles").items()
        },
        ramps={name: _ramp(name, ramps.get(name)) for name in RAMPS},
    )


@cache
def load(name: str) -> Palette:
    """A theme by the name of its file, a person's own before ours; raises `BadTheme`."""
    found = next((path for path in files() if path.stem == name), None)
    if found is None:
        raise BadTheme(
            f"no theme is called {name!r}{did_you_mean(name, names())}; there are {', '.join(names())}"
        )
    try:
        palette = parse(found.read_text("utf-8"))
    except (BadTheme, OSError, UnicodeDecodeError) as error:
        raise BadTheme(f"{found}: {error}") from error
    if palette.name != name:
        raise BadTheme(f"{found}: the theme calls itself {palette.name!r}; it goes by the name of its file")
    return palette if found.parent == folder() else _completed(palette, found)


def turn_to(app: App[Result], name: str) -> Palette:
    """Draw everything in this theme from now on; raises `BadTheme`."""
    palette = load(name)
    app.register_theme(palette.theme())
    app.theme = name
    return palette


def _completed(own: Palette, file: Path) -> Palette:
    """A person's theme need not name every style: the rest is as in ours for the same light."""
    ours = load(DEFAULT if own.dark else LIGHT)
    for style in own.styles:
        if style not in ours.styles and not style.startswith("tier."):
            raise BadTheme(
                f"{file}: styles.{style}: there is no such style{did_you_mean(style, ours.styles)}"
            )
    return replace(own, styles={**ours.styles, **own.styles})


def _table(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = data.get(name)
    if not isinstance(value, dict):
        raise BadTheme(f"[{name}] is missing")
    return value


def _word(data: Mapping[str, object], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not value:
        raise BadTheme(f"{name} is missing")
    return value


def _ramp(name: str, value: object) -> list[Style]:
    if not isinstance(value, list) or len(value) != STEPS:
        raise BadTheme(f"ramps.{name} needs {STEPS} styles")
    return [_checked_style(f"ramps.{name}", each) for each in value]


def _checked_colour(where: str, value: object) -> None:
    try:
        Color.parse(str(value))
    except ColorParseError as error:
        raise BadTheme(f"{where}: {value!r} is no colour") from error


def _checked_style(where: str, value: object) -> Style:
    try:
        return Style.parse(str(value))
    except StyleSyntaxError as error:
        raise BadTheme(f"{where}: {value!r} is no style") from error
