"""The scrolling list of all panes and dialogs: a drawn `Page` with cursor, keys and mouse.

Only visible rows are drawn, so that a million rows cost as much as forty. The page has the text of the rows,
and `DrawnLines` draws them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.selection import Selection

from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import plain
from ctxview.tui.model.reading_index import ItemId
from ctxview.tui.widgets.drawn_lines import DrawnLines

WHEEL = 3


class VirtualLines(DrawnLines, can_focus=True, inherit_bindings=False):
    """A list with a cursor, which stays on its item when the page changes. Subclasses make the page."""

    has_cursor: ClassVar[bool] = True

    cursor: reactive[int] = reactive(0, repaint=False)
    hovered: reactive[int | None] = reactive(None, repaint=False)

    class Moved(Message):
        """The cursor moved to another item."""

        def __init__(self, widget: VirtualLines, item: ItemId | None) -> None:
            super().__init__()
            self.widget = widget
            self.item = item

    class Chosen(Message):
        """An item was double-clicked."""

        def __init__(self, widget: VirtualLines, item: ItemId | None) -> None:
            super().__init__()
            self.widget = widget
            self.item = item

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - the toolkit's name
        super().__init__(id=id, classes=classes)
        self._dragging = False
        self._cursor_item: ItemId | None = None
        """The item to which the cursor was moved; the page may not have it for a while."""

    # -- for subclasses and screens --------------------------------------------------------------------------

    @property
    def item(self) -> ItemId | None:
        """The item under the cursor."""
        return self.page.item(self.cursor)

    def reset(self) -> None:
        """Make a new page; the cursor stays on its item, and the visible rows stay in place."""
        self._stale = True
        self.refresh_changes()

    def page_changed(self, before: Page | None, now: Page) -> None:
        if self._cursor_item is None and not (self.has_focus or self.cursor or round(self.scroll_y)):
            return  # not used yet: rows inserted before the first row shall be visible
        item = before.item(self.cursor) if before is not None else None
        anchor, below = self._anchor(before)
        row = now.find(self._cursor_item) if self._cursor_item is not None else None
        is_back = row is not None and self._cursor_item != item
        if row is None and item is not None:
            row = now.find(item)
        self.set_reactive(VirtualLines.cursor, self._bounded(self.cursor if row is None else row))
        # At the top, a heading that appears before the first item is shown as well.
        place = now.find(anchor) if anchor is not None and round(self.scroll_y) else None
        if place is not None and (top := now.lines_of(place).start - below) != round(self.scroll_y):
            self.scroll_to(y=top, animate=False, force=True)
        if is_back or not round(self.scroll_y):
            self._scroll_to_cursor()

    def lengthen(self, page: Page, same: int) -> None:
        """Take a page whose rows before line `same` are unchanged, and keep what is drawn of them."""
        self._page, self._stale = page, False
        self._strips = {key: strip for key, strip in self._strips.items() if key[0] < same}
        self._measure(page)
        self.refresh_changes()

    def go_to(self, item: ItemId) -> bool:
        row = self.page.find(item)
        if row is None:
            return False
        self.move_to(row)
        return True

    def move_to(self, row: int) -> None:
        self.cursor = self._bounded(row)
        self._scroll_to_cursor()

    def move(self, rows: int) -> None:
        if self.has_cursor:
            self.move_to(self.cursor + rows)
        else:
            self.show_line(round(self.scroll_y) + rows)

    def move_page(self, pages: float) -> None:
        lines = max(1, int(self._visible_lines * abs(pages)))
        self.move(lines if pages > 0 else -lines)

    def move_end(self, *, last: bool) -> None:
        if self.has_cursor:
            self.move_to(self.page.rows - 1 if last else 0)
        else:
            self.show_line(self.page.lines if last else 0)

    def show_line(self, line: int) -> None:
        """Scroll so that a line is the first visible one, as far as there are lines below it."""
        self.scroll_to(y=line, animate=False, force=True)

    def row_style(self, page: Page, row: int) -> str:
        if self.has_cursor and row == self.cursor and page.item(row) is not None:
            return "cursor" if self.has_focus else "cursor.blur"
        return "hover" if row == self.hovered else ""

    # -- called by the toolkit -------------------------------------------------------------------------------

    @property
    def allow_vertical_scroll(self) -> bool:
        return True

    def on_resize(self) -> None:
        self._scroll_to_cursor()

    def watch_cursor(self) -> None:
        self._cursor_item = self.item
        self.refresh_changes()
        self.post_message(self.Moved(self, self.item))

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
            self.post_message(self.Chosen(self, self.item))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        page = self.page
        text = "\n".join(plain(page.line(number)) for number in range(min(page.lines, 100_000)))
        return selection.extract(text), "\n"

    def selection_updated(self, _: Selection | None) -> None:
        self.refresh()

    # -- helpers ---------------------------------------------------------------------------------------------

    @property
    def _visible_lines(self) -> int:
        return max(1, self.content_size.height - len(self._page.header if self._page is not None else ()))

    def _anchor(self, page: Page | None) -> tuple[ItemId | None, int]:
        """The item that stays in place, and its line below the top: that of the cursor, if it is visible."""
        top = round(self.scroll_y)
        if page is None or not page.rows:
            return None, 0
        lines = page.lines_of(min(self.cursor, page.rows - 1))
        visible = self.has_cursor and top <= lines.start < top + self._visible_lines
        row = self.cursor if visible else page.row_at(min(top, page.lines - 1))
        return page.item(row), page.lines_of(min(row, page.rows - 1)).start - top

    def _bounded(self, row: int) -> int:
        return min(max(row, 0), max(0, self.page.rows - 1))

    def _drag(self, y: int) -> None:
        """Scroll so that the thumb of the rail is at line `y`."""
        share = (y - len(self.page.header)) / max(1, self._visible_lines - 1)
        self.show_line(round(share * (self.page.lines - self._visible_lines)))

    def _row_under(self, event: events.MouseEvent) -> int | None:
        offset = event.get_content_offset(self)
        if offset is None or offset.y < len(self.page.header) or offset.x >= self._page_width:
            return None
        line = round(self.scroll_y) + offset.y - len(self.page.header)
        return self.page.row_at(line) if line < self.page.lines else None

    def _scroll_to_cursor(self) -> None:
        if not self.has_cursor or not self.page.rows or not self.size.height:
            return  # without a size yet, the first resize calls this again
        lines, top = self.page.lines_of(self.cursor), round(self.scroll_y)
        if lines.start < top:
            self.show_line(lines.start)
        elif lines.stop > top + self._visible_lines:
            self.show_line(max(0, lines.stop - self._visible_lines))


class ScrollList(VirtualLines):
    """Lines to read, without a cursor: the keys scroll."""

    has_cursor: ClassVar[bool] = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "go(1)", "down", show=False),
        Binding("k,up", "go(-1)", "up", show=False),
        Binding("ctrl+d", "go_pages(0.5)", "half down", show=False),
        Binding("ctrl+u", "go_pages(-0.5)", "half up", show=False),
        Binding("pagedown,space,ctrl+f", "go_pages(1.0)", "page down", show=False),
        Binding("pageup,ctrl+b", "go_pages(-1.0)", "page up", show=False),
        Binding("g,home", "go_end(False)", "first", show=False),
        Binding("G,end", "go_end(True)", "last", show=False),
    ]

    def __init__(self, make: Callable[[int], Page], *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._make = make

    def make_page(self, width: int) -> Page:
        return self._make(width)

    def action_go(self, rows: int) -> None:
        self.move(rows)

    def action_go_pages(self, pages: float) -> None:
        self.move_page(pages)

    def action_go_end(self, last: bool) -> None:
        self.move_end(last=last)


class Chooser(ScrollList):
    """Items to choose from: the keys move a cursor."""

    has_cursor: ClassVar[bool] = True
