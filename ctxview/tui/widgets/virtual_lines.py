"""The one scrolling list: a drawn `Page` with cursor, keys and mouse.

Only what is in sight is drawn, so that a million rows cost as much as forty. What they say is the page's, how
they are drawn is `DrawnLines`.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.selection import Selection

from ctxview.tui.text import plain
from ctxview.tui.things import Thing
from ctxview.tui.widgets.drawn_lines import DrawnLines
from ctxview.tui.widgets.page import Page

WHEEL = 3


class VirtualLines(DrawnLines, can_focus=True, inherit_bindings=False):
    """Subclasses say what is on the page; the cursor stays on the same thing when the page changes."""

    has_cursor: ClassVar[bool] = True

    cursor: reactive[int] = reactive(0, repaint=False)
    hovered: reactive[int | None] = reactive(None, repaint=False)

    class Moved(Message):
        """The cursor came to rest on another thing."""

        def __init__(self, widget: VirtualLines, thing: Thing | None) -> None:
            super().__init__()
            self.widget = widget
            self.thing = thing

    class Chosen(Message):
        """A thing was double-clicked."""

        def __init__(self, widget: VirtualLines, thing: Thing | None) -> None:
            super().__init__()
            self.widget = widget
            self.thing = thing

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - the toolkit's word
        super().__init__(id=id, classes=classes)
        self._dragging = False
        self._put_on: Thing | None = None
        """What somebody put the cursor on; it may be gone for a while."""

    # -- for subclasses and screens --------------------------------------------------------------------------

    @property
    def thing(self) -> Thing | None:
        """What the cursor is on."""
        return self.page.thing(self.cursor)

    def reset(self) -> None:
        """The page is to be made anew; the cursor follows its thing, what is in sight stays where it is."""
        self._stale = True
        self.refresh_changes()

    def renewed(self, before: Page | None, now: Page) -> None:
        if self._put_on is None and not (self.has_focus or self.cursor or round(self.scroll_y)):
            return  # nobody was here: what has come before the first row is to be seen
        thing = before.thing(self.cursor) if before is not None else None
        anchor, below = self._anchor(before)
        row = now.find(self._put_on) if self._put_on is not None else None
        is_back = row is not None and self._put_on != thing
        if row is None and thing is not None:
            row = now.find(thing)
        self.set_reactive(VirtualLines.cursor, self._bounded(self.cursor if row is None else row))
        place = now.find(anchor) if anchor is not None else None
        if place is not None and (top := now.lines_of(place).start - below) != round(self.scroll_y):
            self.scroll_to(y=top, animate=False, force=True)
        if is_back:
            self._bring_into_sight()

    def lengthen(self, page: Page, same: int) -> None:
        """The same page with other rows from `same` on: what is drawn of those before stays drawn."""
        self._page, self._stale = page, False
        self._strips = {key: strip for key, strip in self._strips.items() if key[0] < same}
        self._measure(page)
        self.refresh_changes()

    def go_to(self, thing: Thing) -> bool:
        row = self.page.find(thing)
        if row is None:
            return False
        self.move_to(row)
        return True

    def move_to(self, row: int) -> None:
        self.cursor = self._bounded(row)
        self._bring_into_sight()

    def move(self, rows: int) -> None:
        if self.has_cursor:
            self.move_to(self.cursor + rows)
        else:
            self.show_line(round(self.scroll_y) + rows)

    def move_page(self, pages: float) -> None:
        lines = max(1, int(self._sight * abs(pages)))
        self.move(lines if pages > 0 else -lines)

    def move_end(self, *, last: bool) -> None:
        if self.has_cursor:
            self.move_to(self.page.rows - 1 if last else 0)
        else:
            self.show_line(self.page.lines if last else 0)

    def show_line(self, line: int) -> None:
        """Scrolls so that a line is the first in sight, as far as there are lines below it."""
        self.scroll_to(y=line, animate=False, force=True)

    def ground(self, page: Page, row: int) -> str:
        if self.has_cursor and row == self.cursor and page.thing(row) is not None:
            return "cursor" if self.has_focus else "cursor.blur"
        return "hover" if row == self.hovered else ""

    # -- what the toolkit calls ------------------------------------------------------------------------------

    @property
    def allow_vertical_scroll(self) -> bool:
        return True

    def on_resize(self) -> None:
        self._bring_into_sight()

    def watch_cursor(self) -> None:
        self._put_on = self.thing
        self.refresh_changes()
        self.post_message(self.Moved(self, self.thing))

    def watch_hovered(self) -> None:
        self.refresh_changes()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self.show_line(round(self.scroll_y) + WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self.show_line(round(self.scroll_y) - WHEEL)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.x >= self._page_width and self._thumb(self.page) is not None:
            event.stop()
            self._dragging = True
            self.capture_mouse()
            self._drag(offset.y)

    def on_mouse_up(self) -> None:
        if self._dragging:
            self._dragging = False
            self.release_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging:
            self._drag(event.y - self.gutter.top)
        else:
            self.hovered = self._row_under(event)

    def on_leave(self) -> None:
        self.hovered = None

    def on_click(self, event: events.Click) -> None:
        row = self._row_under(event)
        if row is None or not self.has_cursor:
            return
        self.move_to(row)
        if event.chain == 2:
            self.post_message(self.Chosen(self, self.thing))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        page = self.page
        text = "\n".join(plain(page.line(number)) for number in range(min(page.lines, 100_000)))
        return selection.extract(text), "\n"

    def selection_updated(self, _: Selection | None) -> None:
        self.refresh()

    # -- helpers ---------------------------------------------------------------------------------------------

    @property
    def _sight(self) -> int:
        return max(1, self.content_size.height - len(self._page.header if self._page is not None else ()))

    def _anchor(self, page: Page | None) -> tuple[Thing | None, int]:
        """What is to stay where it is, and how many lines below the top: the cursor, if it is in sight."""
        top = round(self.scroll_y)
        if page is None or not page.rows:
            return None, 0
        lines = page.lines_of(min(self.cursor, page.rows - 1))
        seen = self.has_cursor and top <= lines.start < top + self._sight
        row = self.cursor if seen else page.row_at(min(top, page.lines - 1))
        return page.thing(row), page.lines_of(min(row, page.rows - 1)).start - top

    def _bounded(self, row: int) -> int:
        return min(max(row, 0), max(0, self.page.rows - 1))

    def _drag(self, y: int) -> None:
        """Puts the thumb where the mouse is."""
        share = (y - len(self.page.header)) / max(1, self._sight - 1)
        self.show_line(round(share * (self.page.lines - self._sight)))

    def _row_under(self, event: events.MouseEvent) -> int | None:
        offset = event.get_content_offset(self)
        if offset is None or offset.y < len(self.page.header) or offset.x >= self._page_width:
            return None
        line = round(self.scroll_y) + offset.y - len(self.page.header)
        return self.page.row_at(line) if line < self.page.lines else None

    def _bring_into_sight(self) -> None:
        if not self.has_cursor or not self.page.rows:
            return
        lines, top = self.page.lines_of(self.cursor), round(self.scroll_y)
        if lines.start < top:
            self.show_line(lines.start)
        elif lines.stop > top + self._sight:
            self.show_line(max(0, lines.stop - self._sight))
