"""Lines and columns as a person counts them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.files.line_columns import LineColumns


@given(st.text(alphabet="a\né日😀\r\u2028", max_size=4000))
@settings(max_examples=15, deadline=None)
def test_columns_count_characters_and_lines_end_at_newlines_only(text: str) -> None:
    places = LineColumns(text.encode())
    for index in {0, len(text) // 3, len(text) // 2, len(text)}:
        before = text[:index]
        place = places.at(len(before.encode()))

        assert (place.line, place.column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))


def test_columns_far_into_a_long_line_are_correct() -> None:
    text = "é" * 5000 + "x"

    assert LineColumns(text.encode()).at(10_000).column == 5001


def test_offsets_outside_the_file_are_clamped() -> None:
    places = LineColumns(b"ab\nc")

    assert (places.at(-5).offset, places.at(99).offset) == (0, 4)
    assert str(places.at(99)) == "line 2 column 2"


def test_bytes_that_are_not_text_still_have_columns() -> None:
    assert LineColumns(b"\xff\xfe\n\x80x").at(5).line == 2
