"""Cached pictures are up to date and the same as the toolkit would draw."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from ctxview.tui.widgets.strips import RenderCache
from tests.tui.driver import Driver, driving
from tests.tui.snapshot_stories import night


def _characters(strips: list[Strip]) -> list[list[tuple[str, str]]]:
    return [
        [(letter, str(segment.style)) for segment in strip for letter in segment.text] for strip in strips
    ]


def _pictures_are_current(driver: Driver) -> bool:
    for widget in driver.inspector.walk_children(Widget, with_self=True):
        if not isinstance(widget, RenderCache) or not widget.display:
            continue
        whole = widget.outer_size.region
        cached = _characters(widget.render_lines(whole))
        widget.refresh()
        if cached != _characters(Widget.render_lines(widget, whole)):
            return False
    return True


async def test_only_changed_lines_are_drawn_and_all_pictures_are_current() -> None:
    async with driving(night()) as driver:
        memory = driver.inspector.memory
        before = memory.render_lines(memory.outer_size.region)
        await driver.press("j")
        after = memory.render_lines(memory.outer_size.region)
        changed = [y for y, strip in enumerate(after) if strip is not before[y]]
        assert len(changed) == len(memory.page.lines_of(0)) + len(memory.page.lines_of(1))
        driver.inspector.search_for("lamp")
        await driver.press("7", "G")
        assert _pictures_are_current(driver)
        await driver.press("z")
        assert _pictures_are_current(driver)
