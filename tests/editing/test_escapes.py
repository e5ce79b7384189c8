from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.editing.form_input import EscapeError, escape, needs_escapes, unescape
from ctxview.files.visible_text import is_safe

any_text = st.text(st.characters(exclude_categories=()), max_size=40)


@given(any_text, st.booleans())
def test_escaping_loses_nothing_but_joins_surrogate_pairs(text: str, multiline: bool) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert unescape(escape(whole, multiline=multiline)) == whole


@given(any_text)
def test_escaped_text_is_safe_to_draw_on_one_line(text: str) -> None:
    assert is_safe(escape(text, multiline=False))
    assert not needs_escapes(escape(text, multiline=True), multiline=True)


def test_line_ends_need_escapes_only_on_one_line() -> None:
    assert needs_escapes("a\nb", multiline=False)
    assert not needs_escapes("a\nb", multiline=True)
    assert escape("a\nb\u202e\\", multiline=False) == "a\\nb\\u202e\\\\"


@pytest.mark.parametrize("text", ["\\x41", "\\u12", "end\\"])
def test_an_invalid_escape_is_named(text: str) -> None:
    with pytest.raises(EscapeError, match="is not an escape"):
        unescape(text)
