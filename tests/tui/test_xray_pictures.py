"""Pictures of the X-ray. Look at a changed picture before accepting it."""

from __future__ import annotations

import pytest

from ctxview.formats import open_source
from ctxview.samples import samples_folder
from tests.tui.pictures import SIZES, Compare, app, keys

ROUND_9 = samples_folder() / "snapshot" / "lighthouse"
BACK = ["left_square_bracket"] * 14


@pytest.mark.parametrize("theme", ["ctxview-dark", "ctxview-light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_prompt_of_a_round(snap_compare: Compare, size: tuple[int, int], theme: str) -> None:
    pressed = keys("X", *BACK, *["tab"] * 13, *["j"] * 6, theme=theme)
    assert snap_compare(app(open_source(ROUND_9)), terminal_size=size, run_before=pressed)


def test_the_word_difference_of_two_prompts(snap_compare: Compare) -> None:
    pressed = keys("X", *BACK, "d")
    assert snap_compare(app(open_source(ROUND_9)), terminal_size=(120, 36), run_before=pressed)
