"""Pictures of a handoff, its lifecycle and visibility. Look at a changed picture before accepting it."""

from __future__ import annotations

import pytest

from tests.tui.handoff_story import Handoff
from tests.tui.pictures import SIZES, Compare, app, keys

VIEWS = {"lifecycle": ("L", "l", "l"), "visibility": ("V", "j", "j")}


@pytest.mark.parametrize("theme", ["ctxview-dark", "ctxview-light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("view", VIEWS)
def test_the_handoff(snap_compare: Compare, view: str, size: tuple[int, int], theme: str) -> None:
    assert snap_compare(app(Handoff()), terminal_size=size, run_before=keys(*VIEWS[view], theme=theme))


def test_what_is_missing_in_the_handoff(snap_compare: Compare) -> None:
    assert snap_compare(app(Handoff()), terminal_size=(120, 36), run_before=keys("6"))


def test_a_file_with_something_withheld(snap_compare: Compare) -> None:
    assert snap_compare(app(Handoff()), terminal_size=(100, 30), run_before=keys(*["j"] * 9, "o"))
