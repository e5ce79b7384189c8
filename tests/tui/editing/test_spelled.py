from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.files.visible import is_safe
from ctxview.tui.editing.spelled import BadSpelling, needs_spelling, spell, unspell

any_text = st.text(st.characters(exclude_categories=()), max_size=40)


@given(any_text, st.booleans())
def test_spelling_loses_nothing_but_joins_halves_of_a_character(text: str, multiline: bool) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert unspell(spell(whole, multiline=multiline)) == whole


@given(any_text)
def test_spelled_text_is_safe_to_draw_on_one_line(text: str) -> None:
    assert is_safe(spell(text, multiline=False))
    assert not needs_spelling(spell(text, multiline=True), multiline=True)


def test_line_ends_need_spelling_only_where_there_is_one_line() -> None:
    assert needs_spelling("a\nb", multiline=False)
    assert not needs_spelling("a\nb", multiline=True)
    assert spell("a\nb\u202e\\", multiline=False) == "a\\nb\\u202e\\\\"


@pytest.mark.parametrize("text", ["\\x41", "\\u12", "end\\"])
def test_an_escape_that_means_nothing_is_named(text: str) -> None:
    with pytest.raises(BadSpelling, match="is no escape"):
        unspell(text)
