from __future__ import annotations

import pytest
from textual.color import Color

from ctxview.tui import themes
from ctxview.tui.themes import BadTheme, load, parse

GOOD = (themes.folder() / f"{themes.DEFAULT}.toml").read_text("utf-8")


def test_the_default_comes_first() -> None:
    assert themes.names()[0] == themes.DEFAULT
    assert len(themes.names()) >= 3


@pytest.mark.parametrize("name", themes.names())
def test_every_theme_says_the_same_styles(name: str) -> None:
    assert set(load(name).styles) == set(load(themes.DEFAULT).styles)
    assert load(name).name == name


@pytest.mark.parametrize("name", themes.names())
def test_ordinary_text_can_be_read(name: str) -> None:
    palette = load(name)
    ground = Color.parse(palette.base["surface"])
    for style in (
        "dim",
        "strong",
        "rule",
        "tier.core",
        "tier.working",
        "tier.ephemeral",
        "tier.longterm",
        "hidden",
    ):
        colour = palette.style(style).color
        assert colour is not None
        triplet = colour.get_truecolor()
        least = 7 if "contrast" in name else 3.5
        assert ground.get_contrast_text().a  # the ground is a colour at all
        assert _contrast(Color(*triplet), ground) >= least, style


def test_a_style_name_lays_over_the_one_before() -> None:
    palette = load(themes.DEFAULT)
    assert palette.style("strong bad").color == palette.style("bad").color
    assert palette.style("strong bad").bold


def test_a_tier_nobody_named_always_has_the_same_colour() -> None:
    palette = load(themes.DEFAULT)
    assert palette.style("tier.pinned").color is not None
    assert palette.style("tier.pinned") == palette.style("tier.pinned")


def test_ramps_have_eight_steps() -> None:
    palette = load(themes.DEFAULT)
    assert len({palette.style(f"decay.{step}").color for step in range(8)}) == 8


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (GOOD.replace('primary = "#6cb6ff"', 'primary = "#6cb6fg"'), "base.primary: '#6cb6fg' is no colour"),
        (GOOD.replace('dim = "#7f8ba0"', 'dim = "mauvish"'), "styles.dim: 'mauvish' is no style"),
        (GOOD.replace("[ramps]", "[rumps]"), "[ramps] is missing"),
        (GOOD.replace('title = "Dark"', ""), "title is missing"),
        (
            GOOD.replace('"#5fd0a5", "#74cf9d", "#93cd91", "#b8c982", "#dcc173"', '"red"'),
            "ramps.decay needs 8 styles",
        ),
        ("=", "Invalid statement"),
    ],
)
def test_a_bad_theme_is_refused_with_the_entry_named(broken: str, told: str) -> None:
    with pytest.raises(BadTheme, match=told.replace("[", r"\[")):
        parse(broken)


def _contrast(one: Color, other: Color) -> float:
    """The contrast ratio of WCAG."""

    def luminance(colour: Color) -> float:
        parts = (value / 255 for value in (colour.r, colour.g, colour.b))
        red, green, blue = (
            part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)
