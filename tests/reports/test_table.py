"""Text fits its column, also with wide characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.reports.table import cell_width, cut_cells, fit_cells, fit_right


@pytest.mark.parametrize(
    ("text", "cells"),
    [("", 0), ("abc", 3), ("灯台", 4), ("é", 1), ("e\u0301", 1), ("🙂", 2), ("ｱ", 1), ("…", 1)],
)
def test_width_is_counted_in_terminal_cells(text: str, cells: int) -> None:
    assert cell_width(text) == cells


@given(st.text(max_size=40), st.integers(0, 30))
def test_fitted_text_is_exactly_as_wide_as_its_column(text: str, cells: int) -> None:
    assert cell_width(fit_cells(text, cells)) == cells
    assert cell_width(fit_right(text, cells)) == cells


def test_cut_text_ends_in_an_ellipsis() -> None:
    assert cut_cells("lighthouse", 6) == "light…"
    assert cut_cells("灯台守の夜", 6) == "灯台…"
    assert cut_cells("light", 6) == "light"
