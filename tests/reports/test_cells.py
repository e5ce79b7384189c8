"""Text fits its column, whatever its characters are as wide as."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.reports.cells import cut, fit, fit_right, width


@pytest.mark.parametrize(
    ("text", "cells"),
    [("", 0), ("abc", 3), ("灯台", 4), ("é", 1), ("e\u0301", 1), ("🙂", 2), ("ｱ", 1), ("…", 1)],
)
def test_width_is_counted_in_terminal_cells(text: str, cells: int) -> None:
    assert width(text) == cells


@given(st.text(max_size=40), st.integers(0, 30))
def test_fitted_text_is_exactly_as_wide_as_its_column(text: str, cells: int) -> None:
    assert width(fit(text, cells)) == cells
    assert width(fit_right(text, cells)) == cells


def test_what_is_left_out_is_marked() -> None:
    assert cut("lighthouse", 6) == "light…"
    assert cut("灯台守の夜", 6) == "灯台…"
    assert cut("light", 6) == "light"
