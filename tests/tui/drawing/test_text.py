from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxview.files.visible_text import is_safe
from ctxview.tui.drawing.text import (
    MARK,
    Span,
    fit,
    join,
    pad,
    paragraphs,
    plain,
    preview,
    shorten,
    show,
    take,
    width,
    wrap,
    wrap_to,
)
from ctxview.tui.widgets.strips import content
from tests.tui.snapshot_stories import HOSTILE_TEXT

ANY_TEXT = st.text(st.characters(), max_size=60)


def test_plain_text_is_one_span() -> None:
    assert show("watch", "dim") == (Span("watch", "dim"),)


def test_escape_sequences_become_visible_in_their_own_style() -> None:
    line = show("a\x1b[31m", "dim")
    assert plain(line) == "a^[[31m"
    assert [span.style for span in line] == ["dim", "dim escaped", "dim"]


@given(ANY_TEXT)
def test_every_drawn_text_is_safe(text: str) -> None:
    for line in (show(text), preview(text), *paragraphs(text), fit(show(text), 9), *wrap(show(text), 7)):
        assert is_safe(plain(line))


def test_markup_has_no_effect() -> None:
    assert content(show(HOSTILE_TEXT)).plain == plain(show(HOSTILE_TEXT))
    assert "[@click=app.quit]y[/]" in plain(show(HOSTILE_TEXT))


def test_a_preview_joins_lines_with_a_mark() -> None:
    assert plain(preview("  one\n\n  two\tx  ")) == "one ⏎ two x"


def test_a_preview_of_a_long_text_ends_with_a_mark() -> None:
    assert plain(preview("x" * 50, limit=10)) == "x" * 10 + MARK


@given(ANY_TEXT, st.integers(1, 40))
def test_a_fitted_line_is_never_wider_and_marks_a_cut(text: str, cells: int) -> None:
    line = show(text)
    fitted = fit(line, cells)
    assert width(fitted) <= cells
    assert (plain(fitted) == plain(line)) == (width(line) <= cells)
    if width(line) > cells:
        assert plain(fitted).endswith(MARK)


@given(ANY_TEXT, st.integers(0, 40))
def test_a_padded_line_is_exactly_as_wide_as_asked(text: str, cells: int) -> None:
    assert width(pad(show(text), cells)) == cells
    assert width(pad(show(text), cells, right=True)) == cells


def test_wide_characters_are_not_cut_in_half() -> None:
    assert take("灯塔看守", 5) == "灯塔"
    assert plain(fit(show("灯塔看守"), 6)) == "灯塔…"


def test_an_identifier_loses_its_middle() -> None:
    assert shorten("persistent:core-role", 11) == "persi…-role"
    assert shorten("short", 11) == "short"


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.integers(4, 30))
def test_a_shortened_identifier_fits(text: str, cells: int) -> None:
    assert width(show(shorten(text, cells))) <= max(cells, 1)


@given(ANY_TEXT, st.integers(4, 30))
def test_wrapping_keeps_every_character_but_spaces(text: str, cells: int) -> None:
    line = show(text)
    lines = wrap(line, cells)
    assert all(width(each) <= cells for each in lines)
    assert "".join(plain(each) for each in lines).replace(" ", "") == plain(line).replace(" ", "")


def test_words_are_wrapped_whole_and_wide_text_anywhere() -> None:
    assert [plain(line) for line in wrap(show("log every light"), 9)] == ["log every", "light"]
    assert [plain(line) for line in wrap(show("灯塔看守人"), 6)] == ["灯塔看", "守人"]


def test_further_lines_are_indented() -> None:
    assert [plain(line) for line in wrap(show("one two three"), 8, "  ")] == ["one two", "  three"]


def test_wrapping_to_a_depth_marks_the_cut() -> None:
    assert [plain(line) for line in wrap_to(show("one two three four five"), 10, 2, "  ")] == [
        "one two",
        "  three …",
    ]
    assert [plain(line) for line in wrap_to(show("one two"), 10, 2)] == ["one two"]


def test_joining_puts_the_gap_only_between_lines_that_are_not_empty() -> None:
    assert plain(join(show("a"), (), show("b"), gap="·")) == "a·b"
