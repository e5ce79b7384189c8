from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ctxview.files.visible_text import is_safe
from ctxview.tui.drawing.text import plain, width
from ctxview.tui.screens.raw import RawText


def drawn(data: bytes, cells: int, span: tuple[int, int] | None = None) -> list[str]:
    page = RawText(data, span).page(cells)
    return [plain(page.line(row)) for row in range(page.rows)]


def test_lines_are_numbered_and_long_ones_are_cut_into_pieces() -> None:
    assert drawn(b"ab\n" + b"x" * 40, 21) == ["1 │ab", "2 │" + "x" * 18, "  ┊" + "x" * 18, "  ┊xxxx"]


def test_a_byte_span_is_marked_after_wide_characters() -> None:
    data = '灯塔 {"id": 7}'.encode()
    start = data.index(b"{")
    raw = RawText(data, (start, len(data)))
    marked = [span.text for span in raw.page(60).line(0) if "span" in span.style]
    assert marked == ['{"id": 7}']


def test_bytes_that_are_not_utf8_are_shown() -> None:
    raw = RawText(b"a\xffb\x1b[31m")
    assert not raw.is_utf8
    assert "^[" in drawn(b"a\xffb\x1b[31m", 60)[0]


def test_a_line_with_tabs_is_cut_only_where_necessary() -> None:
    assert drawn(b"\t" + b"x" * 14, 21) == ["1 │    " + "x" * 14]
    assert len(drawn(b"\t" + b"x" * 15, 21)) == 2


def test_dashes_quotes_and_accents_do_not_cut_a_line_in_half() -> None:
    text = "“é” – " * 3
    assert drawn(text.encode(), 21) == [f"1 │{text}"]
    assert len(drawn("灯".encode() * 10, 21)) == 2


def test_a_hit_is_in_the_row_of_its_character() -> None:
    raw = RawText(b"first\n" + b"y" * 100 + b"needle")
    page = raw.page(33)
    (at,) = raw.find(re.compile("needle"))
    assert "needle" in plain(page.line(page.row_of(at))) + plain(page.line(page.row_of(at + 5)))


def test_a_file_of_one_huge_line_is_drawn_piece_by_piece() -> None:
    page = RawText(b"[" + b"1," * 1_000_000 + b"1]").page(100)
    assert page.rows > 20_000
    assert plain(page.line(page.rows - 1)).endswith("1]")


@given(st.binary(max_size=200), st.integers(20, 60), st.integers(0, 200), st.integers(0, 40))
def test_any_bytes_fit_and_are_safe(data: bytes, cells: int, start: int, length: int) -> None:
    page = RawText(data, (min(start, len(data)), min(start + length, len(data)))).page(cells)
    for row in range(page.rows):
        line = page.line(row)
        assert width(line) <= cells
        assert is_safe(plain(line))
