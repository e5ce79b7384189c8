from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.style import Style
from textual.color import Color

from ctxview.tui import glyphs, sights, themes
from ctxview.tui.seeing import RGB, contrast
from ctxview.tui.themes import BadTheme, Palette, load, names, parse
from tests.tui.colours import drawn, ground, ink, nearest
from tests.tui.driving import Driver, driving
from tests.tui.stories import night

GOOD = (themes.folder() / f"{themes.DEFAULT}.toml").read_text("utf-8")
GRAPHIC = 3.0
PICTURES = {"faint", "rail", "budget.free", "budget.reserved"}
"""Never letters: lines, and the parts of a bar."""
NO_TEXT = {"track"}
"""What the scroll rail runs in; it says nothing."""
APART = 18.0
"""In Lab; about two is the least that eyes can tell."""


def test_the_default_comes_first() -> None:
    assert themes.names()[0] == themes.DEFAULT
    assert len(themes.names()) >= 3


@pytest.mark.parametrize("name", themes.names())
def test_every_theme_says_the_same_styles(name: str) -> None:
    assert set(load(name).styles) == set(load(themes.DEFAULT).styles)
    assert load(name).name == name


@pytest.mark.parametrize("name", themes.names())
def test_every_style_can_be_seen_on_every_ground(name: str) -> None:
    palette = load(name)
    styles = {
        **palette.styles,
        **{f"{ramp} {at}": each for ramp, steps in palette.ramps.items() for at, each in enumerate(steps)},
    }
    plain = _colour(palette, "foreground")
    grounds = {each: _colour(palette, each) for each in ("background", "surface", "panel")}
    for style, look in {"plain text": Style.parse(palette.base["foreground"]), **styles}.items():
        if style in NO_TEXT or (ink(look) is None and ground(look) is None):
            continue
        if look.reverse:
            look = Style(color=palette.base["surface"], bgcolor=look.color)
        own = ground(look)
        under = {"its own": own} if own is not None else grounds | _rows(palette)
        for where, colour in under.items():
            assert contrast(ink(look) or plain, colour) >= _least(name, style), f"{style} on {where}"


@pytest.mark.parametrize("name", themes.names())
def test_frames_can_be_seen(name: str) -> None:
    palette = load(name)
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
        ("owner.model", "owner.system", "owner.derived", "owner.append-only"),
        ("sight.injected", "sight.assembled", "sight.allowed", "sight.denied", "sight.unknown"),
        tuple(f"parts.{at}" for at in range(8)),
        tuple(f"tiers.{at}" for at in range(8)),
    ],
    ids=lambda names: names[0],
)
def test_the_safe_theme_keeps_colours_apart_for_every_kind_of_eyes(names: tuple[str, ...]) -> None:
    colours = [ink(load("ctxview-safe").style(each)) for each in names]
    assert nearest(each for each in colours if each is not None) >= APART


def test_nothing_is_told_by_colour_alone() -> None:
    """What differs in meaning and stands in the same place differs in shape, too."""
    for signs in (glyphs.SEVERITY, glyphs.OWNER, glyphs.REF, sights.GLYPHS):
        assert len(set(signs.values())) == len(signs)
    assert len({glyphs.YES, glyphs.NO, glyphs.UNSAID}) == 3


async def test_what_is_really_drawn_can_be_read() -> None:
    """The prompt, its marks, a notice; then a form with its inputs and buttons, where colours are mixed."""
    async with driving(night(), size=(100, 24)) as drive:
        await drive.pilot.press("j", "slash")
        drive.inspector.say("A notice", severity="warning", title="title")
        await drive.type("lamp")
        _assert_readable(drive)
        await drive.pilot.press("escape", "e")
        themes.turn_to(drive.app, "ctxview-light")
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


def test_what_is_faint_is_no_text() -> None:
    """Only lines are drawn so faintly; words go through `show`."""
    for file in Path(themes.__file__).parent.rglob("*.py"):
        assert not re.search(r'show\([^()]*"faint"', file.read_text("utf-8")), file


def test_a_persons_own_theme_may_leave_out_styles(own_theme: Callable[[str], str]) -> None:
    name = own_theme(
        re.sub(r'^(dim|"owner.*") = .*\n', "", GOOD.replace("#a9d6ff", "#123456"), flags=re.MULTILINE)
    )
    palette = load(name)
    assert palette.style("dim") == load(themes.DEFAULT).style("dim")
    assert ink(palette.style("code")) == (0x12, 0x34, 0x56)


def test_a_style_nobody_knows_is_told_with_the_nearest(own_theme: Callable[[str], str]) -> None:
    with pytest.raises(
        BadTheme, match=r"mine\.toml: styles\.severity\.eror: .* \(did you mean severity\.error\?\)"
    ):
        load(own_theme(GOOD.replace("severity.error", "severity.eror")))


@pytest.fixture
def own_theme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    def write(text: str) -> str:
        file = tmp_path / "ctxview" / "themes" / "mine.toml"
        file.parent.mkdir(parents=True)
        file.write_text(text.replace(themes.DEFAULT, "mine"), "utf-8")
        return "mine"

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    yield write
    load.cache_clear()


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
        (GOOD.replace('ok = "#5fd0a5"', 'ok = "mauvish"'), "styles.ok: 'mauvish' is no style"),
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
def test_a_bad_theme_is_refused_with_the_entry_named(broken: str, told: str) -> None:
    with pytest.raises(BadTheme, match=told.replace("[", r"\[")):
        parse(broken)


def _colour(palette: Palette, name: str) -> RGB:
    return Color.parse(palette.base[name]).rgb


def _rows(palette: Palette) -> dict[str, RGB]:
    """The grounds of rows that are chosen or pointed at, where text keeps its own colour."""
    rows = {each: palette.style(each) for each in ("cursor", "cursor.blur", "hover")}
    return {name: under for name, row in rows.items() if ink(row) is None and (under := ground(row))}


def _least(theme: str, style: str) -> float:
    return GRAPHIC if style in PICTURES else 7 if theme == "ctxview-contrast" else 4.5


async def test_a_broken_theme_of_ones_own_is_told_and_passed_over(own_theme: Callable[[str], str]) -> None:
    broken = own_theme("this is = no theme [")
    async with driving(night()) as drive:
        seen = {drive.app.theme}
        for _ in names()[1:]:
            await drive.press("t")
            seen.add(drive.app.theme)
        assert seen == set(names()) - {broken}
