"""Pictures of the review. Look at a changed picture before accepting it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from ctxview.formats import open_source
from ctxview.samples import samples_folder
from ctxview.tui.panes.review import ReviewPane
from tests.tui.driver import Driver
from tests.tui.pictures import SIZES, Compare, app, keys


def _reviewed(theme: str = "") -> Callable[[Pilot[None]], Awaitable[None]]:
    async def before(pilot: Pilot[None]) -> None:
        await keys("A", theme=theme)(pilot)
        drive = Driver(pilot)
        pane = drive.inspector.area.get(ReviewPane)
        await drive.wait_until(lambda: pane.desk is not None, "the review is read")
        await drive.settle()

    return before


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("sample", ["handoff", "planted"])
def test_the_review_of_a_handoff(snap_compare: Compare, sample: str, size: tuple[int, int]) -> None:
    source = open_source(samples_folder() / "envelope" / sample)
    assert snap_compare(app(source), terminal_size=size, run_before=_reviewed())


def test_the_review_in_light_colours(snap_compare: Compare) -> None:
    source = open_source(samples_folder() / "envelope" / "planted")
    assert snap_compare(app(source), terminal_size=(120, 36), run_before=_reviewed("ctxview-light"))
