"""Pane sizes: changed by keys and the mouse, saved, and loaded again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.tui.app import CtxviewApp
from ctxview.tui.model.layout import Pane, PaneSizes
from ctxview.tui.model.saved_layouts import SavedLayout, SavedLayouts
from ctxview.tui.model.view_state import ReadOptions
from tests.tui.driver import Driver
from tests.tui.snapshot_stories import night

SAVED = SavedLayout(PaneSizes({"side": 50}, {"budget": 9}, sources=False), (Pane.TODO, Pane.MEMORY))


def size(drive: Driver, pane: Pane) -> tuple[int, int]:
    return next((slot.width, slot.height) for slot in drive.inspector.deck.slots if slot.shown is pane)


def test_a_layout_is_loaded_for_its_size_class(tmp_path: Path) -> None:
    file = tmp_path / "state" / "layout.json"
    layouts = SavedLayouts.load(file)
    write = layouts.keep("wide, tall", SAVED)
    assert write is not None
    write()
    again = SavedLayouts.load(file)
    assert (again.of("wide, tall"), again.of("narrow, low"), again.problem) == (SAVED, SavedLayout(), "")
    assert again.keep("wide, tall", SAVED) is None


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
def test_an_invalid_file_is_ignored_and_reported(tmp_path: Path, text: str) -> None:
    file = tmp_path / "layout.json"
    file.write_text(text)
    layouts = SavedLayouts.load(file)
    assert str(file) in layouts.problem
    assert layouts.of("wide, tall") == SavedLayout()
    assert file.read_text() == text


async def test_sizes_set_by_keys_and_the_mouse_are_loaded_next_time(tmp_path: Path) -> None:
    file = tmp_path / "layout.json"
    app = CtxviewApp(
        lambda: [night()], ReadOptions("bytes/3"), watching=False, layouts=SavedLayouts.load(file)
    )
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
        resized = (width + 10, height + 2)
        assert size(drive, Pane.BUDGET) == resized
    app = CtxviewApp(
        lambda: [night()], ReadOptions("bytes/3"), watching=False, layouts=SavedLayouts.load(file)
    )
    async with app.run_test(size=(120, 36)) as pilot:
        drive = Driver(pilot)
        await drive.settle()
        assert size(drive, Pane.BUDGET) == resized
        await drive.press("Z")
        assert size(drive, Pane.BUDGET)[0] == width
