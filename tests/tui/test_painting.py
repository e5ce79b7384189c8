"""Pictures that are kept: never older than what they show, and the same as the toolkit would draw."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from ctxview.tui.widgets.kept import Kept
from tests.tui.driving import Driver, driving
from tests.tui.stories import night


def _look(strips: list[Strip]) -> list[list[tuple[str, str]]]:
    return [
        [(letter, str(segment.style)) for segment in strip for letter in segment.text] for strip in strips
    ]


def _drawn_anew_looks_the_same(driver: Driver) -> bool:
    for widget in driver.inspector.walk_children(Widget, with_self=True):
        if not isinstance(widget, Kept) or not widget.display:
            continue
        whole = widget.outer_size.region
        kept = _look(widget.render_lines(whole))
        widget.refresh()
        if kept != _look(Widget.render_lines(widget, whole)):
            return False
    return True


async def test_only_what_looks_different_is_drawn_anew_and_nothing_is_out_of_date() -> None:
    async with driving(night()) as driver:
        memory = driver.inspector.memory
        before = memory.render_lines(memory.outer_size.region)
        await driver.press("j")
        after = memory.render_lines(memory.outer_size.region)
        changed = [y for y, strip in enumerate(after) if strip is not before[y]]
        assert len(changed) == len(memory.page.lines_of(0)) + len(memory.page.lines_of(1))
        driver.inspector.look_for("lamp")
        await driver.press("7", "G")
        assert _drawn_anew_looks_the_same(driver)
        await driver.press("z")
        assert _drawn_anew_looks_the_same(driver)
