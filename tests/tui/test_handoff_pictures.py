"""A handoff, its way and who may see what of it, as pictures. A change is looked at before it is accepted."""

from __future__ import annotations

import pytest

from tests.tui.handoff import Handoff
from tests.tui.test_pictures import SIZES, Compare, app, keys

WAYS = {"lifecycle": ("L", "l", "l"), "visibility": ("V", "j", "j")}


@pytest.mark.parametrize("theme", ["ctxview-dark", "ctxview-light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("way", WAYS)
def test_the_handoff(snap_compare: Compare, way: str, size: tuple[int, int], theme: str) -> None:
    assert snap_compare(app(Handoff()), terminal_size=size, run_before=keys(*WAYS[way], theme=theme))


def test_what_is_missing_in_the_handoff(snap_compare: Compare) -> None:
    assert snap_compare(app(Handoff()), terminal_size=(120, 36), run_before=keys("6"))


def test_a_file_with_something_withheld(snap_compare: Compare) -> None:
    assert snap_compare(app(Handoff()), terminal_size=(100, 30), run_before=keys(*["j"] * 9, "o"))
