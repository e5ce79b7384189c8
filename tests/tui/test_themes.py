from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.style import Style
from textual.color import Color

from ctxview.config import DEFAULT_THEME, theme_folder, theme_names
from ctxview.tui import themes
from ctxview.tui.drawing import glyphs
from ctxview.tui.terminal import RGB, contrast
from ctxview.tui.themes import Palette, ThemeError, load_palette, parse_theme
from tests.tui.colours import background, drawn, foreground, nearest
from tests.tui.driver import Driver, driving
from tests.tui.snapshot_stories import night

GOOD = (theme_folder() / f"{DEFAULT_THEME}.toml").read_text("utf-8")
GRAPHIC = 3.0
PICTURES = {"faint", "rail", "budget.free", "budget.reserved", "segment.elsewhere"}
"""Styles for lines and parts of a bar, never for letters."""
NO_TEXT = {"track"}
"""Styles without text: the track of a scroll bar."""
APART = 18.0
"""A distance in CIELAB; about two is the smallest visible difference."""


def test_the_default_comes_first() -> None:
    assert theme_names()[0] == DEFAULT_THEME
    assert len(theme_names()) >= 3


@pytest.mark.parametrize("name", theme_names())
def test_every_theme_has_the_same_styles(name: str) -> None:
    assert set(load_palette(name).styles) == set(load_palette(DEFAULT_THEME).styles)
    assert load_palette(name).name == name


@pytest.mark.parametrize("name", theme_names())
def test_every_style_is_visible_on_every_background(name: str) -> None:
    palette = load_palette(name)
    styles = {
        **palette.styles,
        **{f"{ramp} {at}": each for ramp, steps in palette.ramps.items() for at, each in enumerate(steps)},
    }
    plain = _colour(palette, "foreground")
    backgrounds = {each: _colour(palette, each) for each in ("background", "surface", "panel")}
    for style, key in {"plain text": Style.parse(palette.base["foreground"]), **styles}.items():
        if style in NO_TEXT or (foreground(key) is None and background(key) is None):
            continue
        if key.reverse:
            key = Style(color=palette.base["surface"], bgcolor=key.color)
        own = background(key)
        under = {"its own": own} if own is not None else backgrounds | _rows(palette)
        for where, colour in under.items():
            assert contrast(foreground(key) or plain, colour) >= _least(name, style), f"{style} on {where}"


@pytest.mark.parametrize("name", theme_names())
def test_frames_are_visible(name: str) -> None:
    palette = load_palette(name)
    for frame in ("primary", "secondary", "accent", "warning", "error"):
        for under in ("background", "surface"):
            assert contrast(_colour(palette, frame), _colour(palette, under)) >= GRAPHIC, frame


@pytest.mark.parametrize(
    "names",
    [
        ("severity.error", "severity.warning", "severity.info"),
        ("ok", "bad", "warn"),
        ("diff.added", "diff.removed"),
        ("tier.core", "tier.working", "tier.ephemeral", "tier.longterm"),
        ("budget.used", "budget.reserved", "budget.free", "budget.over"),
        ("segment.here", "segment.elsewhere", "limit", "budget.over"),
        ("segment.here", "segment.elsewhere", "segment.fields", "segment.header"),
        ("owner.model", "owner.system", "owner.derived", "owner.append-only"),
        ("sight.injected", "sight.assembled", "sight.allowed", "sight.violation", "sight.unknown"),
        tuple(f"parts.{at}" for at in range(8)),
        tuple(f"tiers.{at}" for at in range(8)),
    ],
    ids=lambda names: names[0],
)
def test_colours_of_the_safe_theme_differ_for_the_colour_blind(names: tuple[str, ...]) -> None:
    colours = [foreground(load_palette("ctxview-safe").style(each)) for each in names]
    assert nearest(each for each in colours if each is not None) >= APART


def test_no_meaning_depends_on_colour_alone() -> None:
    """Signs with different meanings in the same place also differ in shape."""
    for signs in (glyphs.SEVERITY, glyphs.OWNER, glyphs.REF, glyphs.REACH_GLYPHS):
        assert len(set(signs.values())) == len(signs)
    assert len({glyphs.YES, glyphs.NO, glyphs.UNSAID}) == 3


async def test_drawn_text_is_readable() -> None:
    """Checks the prompt, its marks and a notice, then a form, whose inputs and buttons mix colours."""
    async with driving(night(), size=(100, 24)) as drive:
        await drive.pilot.press("j", "slash")
        drive.inspector.say("A notice", severity="warning", title="title")
        await drive.type("lamp")
        _assert_readable(drive)
        await drive.pilot.press("escape", "e")
        themes.apply_theme(drive.app, "ctxview-light")
        await drive.pilot.pause()
        _assert_readable(drive)


def _assert_readable(drive: Driver) -> None:
    for each in drawn(drive.app):
        text, rail = each.is_text, not each.text.strip("▐▕")
        assert rail or each.contrast >= (_least(drive.app.theme, "") if text else GRAPHIC), each


def test_no_colour_is_named_outside_the_themes() -> None:
    colour = re.compile(r"#[0-9a-fA-F]{6}\b|(?<=color: )[a-z]+|(?<=background: )[a-z]+")
    home = Path(themes.__file__).parent
    for file in (*home.rglob("*.py"), *home.rglob("*.tcss")):
        found = set(colour.findall(file.read_text("utf-8")))
        assert found <= {"transparent"}, file


def test_text_is_never_faint() -> None:
    """Only lines are drawn faint; text goes through `show`."""
    for file in Path(themes.__file__).parent.rglob("*.py"):
        assert not re.search(r'show\([^()]*"faint"', file.read_text("utf-8")), file


def test_a_persons_own_theme_may_leave_out_styles(own_theme: Callable[[str], str]) -> None:
    name = own_theme(
        re.sub(r'^(dim|"owner.*") = .*\n', "", GOOD.replace("#a9d6ff", "#123456"), flags=re.MULTILINE)
    )
    palette = load_palette(name)
    assert palette.style("dim") == load_palette(DEFAULT_THEME).style("dim")
    assert foreground(palette.style("code")) == (0x12, 0x34, 0x56)


def test_an_unknown_style_is_an_error_with_the_nearest_name(own_theme: Callable[[str], str]) -> None:
    with pytest.raises(
        ThemeError, match=r"mine\.toml: styles\.severity\.eror: .* \(did you mean severity\.error\?\)"
    ):
        load_palette(own_theme(GOOD.replace("severity.error", "severity.eror")))


@pytest.fixture
def own_theme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    def write(text: str) -> str:
        file = tmp_path / "ctxview" / "themes" / "mine.toml"
        file.parent.mkdir(parents=True)
        file.write_text(text.replace(DEFAULT_THEME, "mine"), "utf-8")
        return "mine"

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    yield write
    load_palette.cache_clear()


def test_a_later_style_name_overrides_an_earlier_one() -> None:
    palette = load_palette(DEFAULT_THEME)
    assert palette.style("strong bad").color == palette.style("bad").color
    assert palette.style("strong bad").bold


def test_an_unnamed_tier_always_has_the_same_colour() -> None:
    palette = load_palette(DEFAULT_THEME)
    assert palette.style("tier.pinned").color is not None
    assert palette.style("tier.pinned") == palette.style("tier.pinned")


def test_ramps_have_eight_steps() -> None:
    palette = load_palette(DEFAULT_THEME)
    assert len({palette.style(f"decay.{step}").color for step in range(8)}) == 8


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (
            GOOD.replace('primary = "#6cb6ff"', 'primary = "#6cb6fg"'),
            "base.primary: '#6cb6fg' is not a colour",
        ),
        (GOOD.replace('ok = "#5fd0a5"', 'ok = "mauvish"'), "styles.ok: 'mauvish' is not a style"),
        (GOOD.replace("[ramps]", "[rumps]"), "[ramps] is missing"),
        (GOOD.replace('title = "Dark"', ""), "title is missing"),
        (
            GOOD.replace('"#5fd0a5", "#74cf9d", "#93cd91", "#b8c982", "#dcc173"', '"red"'),
            "ramps.decay needs 8 styles",
        ),
        ("=", "Invalid statement"),
    ],
    ids=lambda value: "" if len(value) > 80 else value,
)
def test_an_error_in_a_theme_names_the_entry(broken: str, message: str) -> None:
    with pytest.raises(ThemeError, match=message.replace("[", r"\[")):
        parse_theme(broken)


def _colour(palette: Palette, name: str) -> RGB:
    return Color.parse(palette.base[name]).rgb


def _rows(palette: Palette) -> dict[str, RGB]:
    """The backgrounds of selected and hovered rows on which text keeps its colour."""
    rows = {each: palette.style(each) for each in ("cursor", "cursor.blur", "hover")}
    return {
        name: under for name, row in rows.items() if foreground(row) is None and (under := background(row))
    }


def _least(theme: str, style: str) -> float:
    return GRAPHIC if style in PICTURES else 7 if theme == "ctxview-contrast" else 4.5


async def test_a_broken_own_theme_is_skipped(own_theme: Callable[[str], str]) -> None:
    broken = own_theme("this is = no theme [")
    async with driving(night()) as drive:
        seen = {drive.app.theme}
        for _ in theme_names()[1:]:
            await drive.press("t")
            seen.add(drive.app.theme)
        assert seen == set(theme_names()) - {broken}
