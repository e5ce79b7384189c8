"""Themes: TOML files with the colours of the toolkit and our semantic styles. Draws nothing.

A theme with a mistake is refused with a reason, because an invalid colour would end the application later.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from msgspec import Struct, field
from msgspec.structs import replace
from rich.errors import StyleSyntaxError
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.theme import Theme

from ctxview.analysis.wording import did_you_mean
from ctxview.config import DEFAULT_THEME, theme_folder, theme_names, theme_paths

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


class ThemeError(ValueError):
    """A mistake in a theme file; the message names the entry."""


class Palette(Struct, frozen=True):
    """The styles of one theme by our style names."""

    name: str
    title: str
    dark: bool
    base: Mapping[str, str]
    styles: Mapping[str, Style]
    ramps: Mapping[str, Sequence[Style]]
    _known: dict[str, Style] = field(default_factory=dict)

    def style(self, names: str) -> Style:
        """The style for space-separated names; a later name overrides an earlier one.

        `on:NAME` has the colour of NAME as background, for a cell with parts of two segments.
        """
        known = self._known.get(names)
        if known is None:
            known = Style.combine([Style.null(), *(self._one(name) for name in names.split())])
            self._known[names] = known
        return known

    def theme(self) -> Theme:
        """The theme for the toolkit, so that its widgets use our colours."""
        theme = Theme(self.name, self.base["primary"], dark=self.dark, variables=self._variables())
        for name in BASE:
            setattr(theme, name, self.base[name])
        return theme

    def _variables(self) -> dict[str, str]:
        muted = self._foreground("dim")
        cursor, span = self._background("cursor"), self._background("span")
        return {
            "text-muted": muted,
            "text-disabled": muted,
            "border": self.base["primary"],
            "border-blurred": self.base["secondary"],
            "block-cursor-foreground": self._foreground("cursor"),
            "block-cursor-background": cursor,
            "block-cursor-blurred-foreground": self._foreground("cursor"),
            "block-cursor-blurred-background": cursor,
            "input-selection-foreground": self._foreground("span"),
            "input-selection-background": span,
            "screen-selection-foreground": self._foreground("span"),
            "screen-selection-background": span,
        }

    def _foreground(self, name: str) -> str:
        colour = self.style(name).color
        return colour.get_truecolor().hex if colour is not None else self.base["foreground"]

    def _background(self, name: str) -> str:
        colour = self.style(name).bgcolor
        return colour.get_truecolor().hex if colour is not None else self.base["panel"]

    def _one(self, name: str) -> Style:
        if name in self.styles:
            return self.styles[name]
        if name.startswith("on:"):
            return Style(bgcolor=self._one(name.removeprefix("on:")).color)
        if name == "bold":
            return Style(bold=True)
        family, _, rest = name.partition(".")
        if family in self.ramps and rest.isdigit():
            ramp = self.ramps[family]
            return ramp[int(rest) % len(ramp)]
        if family == "tier":
            # A tier that the theme does not name: always the same colour for the same name.
            ramp = self.ramps["tiers"]
            return ramp[crc32(rest.encode("utf-8", "replace")) % len(ramp)]
        return Style.null()


def parse_theme(text: str) -> Palette:
    """Parse the text of a theme file; raises `ThemeError`."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ThemeError(str(error)) from error
    base = _table(data, "base")
    for name in BASE:
        try:
            Color.parse(str(base.get(name)))
        except ColorParseError as error:
            raise ThemeError(f"base.{name}: {base.get(name)!r} is not a colour") from error
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
def load_palette(name: str) -> Palette:
    """Load a theme by the name of its file, a person's own before ours; raises `ThemeError`."""
    found = next((path for path in theme_paths() if path.stem == name), None)
    if found is None:
        known = theme_names()
        raise ThemeError(
            f"unknown theme {name!r}{did_you_mean(name, known)}; known themes: {', '.join(known)}"
        )
    try:
        palette = parse_theme(found.read_text("utf-8"))
    except (ThemeError, OSError, UnicodeDecodeError) as error:
        raise ThemeError(f"{found}: {error}") from error
    if palette.name != name:
        raise ThemeError(f"{found}: the name {palette.name!r} in the theme must be the name of its file")
    return palette if found.parent == theme_folder() else _completed(palette, found)


def begin_with_theme(app: App[Result], name: str) -> None:
    """Use a theme before the app parses its styles; raises `ThemeError`.

    The toolkit would first parse them for its own theme, and then once more.
    """
    app.register_theme(load_palette(name).theme())
    app.set_reactive(type(app).theme, name)
    dark = app.current_theme.dark
    app.set_class(dark, "-dark-mode", update=False)
    app.set_class(not dark, "-light-mode", update=False)
    app._refresh_truecolor_filter(app.ansi_theme)
    app.stylesheet.set_variables(app.get_css_variables())


def apply_theme(app: App[Result], name: str) -> Palette:
    """Use a theme from now on; raises `ThemeError`."""
    palette = load_palette(name)
    app.register_theme(palette.theme())
    app.theme = name
    return palette


def _completed(own: Palette, file: Path) -> Palette:
    """Add the styles that a person's theme does not name, from ours of the same brightness."""
    ours = load_palette(DEFAULT_THEME if own.dark else LIGHT)
    for style in own.styles:
        if style not in ours.styles and not style.startswith("tier."):
            raise ThemeError(f"{file}: styles.{style}: unknown style{did_you_mean(style, ours.styles)}")
    return replace(own, styles={**ours.styles, **own.styles})


def _table(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = data.get(name)
    if not isinstance(value, dict):
        raise ThemeError(f"[{name}] is missing")
    return value


def _word(data: Mapping[str, object], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not value:
        raise ThemeError(f"{name} is missing")
    return value


def _ramp(name: str, value: object) -> list[Style]:
    if not isinstance(value, list) or len(value) != STEPS:
        raise ThemeError(f"ramps.{name} needs {STEPS} styles")
    return [_checked_style(f"ramps.{name}", each) for each in value]


def _checked_style(where: str, value: object) -> Style:
    try:
        return Style.parse(str(value))
    except StyleSyntaxError as error:
        raise ThemeError(f"{where}: {value!r} is not a style") from error
