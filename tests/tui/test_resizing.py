"""Panes made wider and higher, by keys and by the mouse, and found so again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.tui.app import CtxviewApp
from ctxview.tui.layout import Pane
from ctxview.tui.layouts import Arranged, Layouts
from ctxview.tui.loading import Manner
from ctxview.tui.sizes import Sizes
from tests.tui.driving import Driver
from tests.tui.stories import night

MADE = Arranged(Sizes({"side": 50}, {"budget": 9}, sources=False), (Pane.TODO, Pane.MEMORY))


def size(drive: Driver, pane: Pane) -> tuple[int, int]:
    return next((slot.width, slot.height) for slot in drive.inspector.deck.slots if slot.shown is pane)


def test_a_layout_is_found_again_for_its_class_of_sizes(tmp_path: Path) -> None:
    file = tmp_path / "state" / "layout.json"
    layouts = Layouts.load(file)
    write = layouts.keep("wide, tall", MADE)
    assert write is not None
    write()
    again = Layouts.load(file)
    assert (again.of("wide, tall"), again.of("narrow, low"), again.problem) == (MADE, Arranged(), "")
    assert again.keep("wide, tall", MADE) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        '{"version": 2, "sizes": {}}',
        '{"version": 1, "sizes": {"wide, tall": {"widths": [], "heights": {}, "sources": 1, "fronts": []}}}',
        '{"version": 1, "sizes": {"a": {"widths": {}, "heights": {}, "sources": true, "fronts": ["Loft"]}}}',
    ],
)
def test_a_file_that_is_not_ours_does_not_count_and_is_told(tmp_path: Path, text: str) -> None:
    file = tmp_path / "layout.json"
    file.write_text(text)
    layouts = Layouts.load(file)
    assert str(file) in layouts.problem
    assert layouts.of("wide, tall") == Arranged()
    assert file.read_text() == text


async def test_keys_and_the_mouse_resize_and_what_they_made_is_there_next_time(tmp_path: Path) -> None:
    file = tmp_path / "layout.json"
    app = CtxviewApp(lambda: [night()], Manner("bytes/3"), watching=False, layouts=Layouts.load(file))
    async with app.run_test(size=(120, 36)) as pilot:
        drive = Driver(pilot)
        await drive.settle()
        width, height = size(drive, Pane.BUDGET)
        await drive.press("4", "greater_than_sign", "right_parenthesis")
        assert size(drive, Pane.BUDGET) == (width + 4, height + 2)
        edge = 120 - width - 4 - 1
        await pilot.mouse_down(offset=(edge, 5))
        await pilot.hover(offset=(edge - 6, 5))
        await pilot.mouse_up(offset=(edge - 6, 5))
        await drive.settle()
        made = (width + 10, height + 2)
        assert size(drive, Pane.BUDGET) == made
    app = CtxviewApp(lambda: [night()], Manner("bytes/3"), watching=False, layouts=Layouts.load(file))
    async with app.run_test(size=(120, 36)) as pilot:
        drive = Driver(pilot)
        await drive.settle()
        assert size(drive, Pane.BUDGET) == made
        await drive.press("Z")
        assert size(drive, Pane.BUDGET)[0] == width
