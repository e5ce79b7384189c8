"""The one scrolling list: draws a `Page` line by line, with cursor, mouse, search marks and text selection.

Only what is in sight is drawn, so that a million rows cost as much as forty. What they say is the page's.
"""

from __future__ import annotations

import re
from typing import ClassVar

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from ctxview.tui.text import Line, plain
from ctxview.tui.themes import Palette, load
from ctxview.tui.things import Thing
from ctxview.tui.widgets.drawing import draw, restyle
from ctxview.tui.widgets.page import Page

CACHED = 2_000


class VirtualLines(ScrollView, can_focus=True):
    """Subclasses say what is on the page; the cursor stays on the same thing when the page changes."""

    DEFAULT_CSS = """
    VirtualLines { overflow-x: hidden; overflow-y: auto; scrollbar-gutter: stable; scrollbar-size-vertical: 1;
        scrollbar-background: $surface; scrollbar-background-hover: $surface;
        scrollbar-background-active: $surface; scrollbar-color: $secondary; scrollbar-color-hover: $primary;
        scrollbar-color-active: $primary; }
    """

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
        self._page: Page | None = None
        self._page_width = -1
        self._strips: dict[tuple[int, bool, bool], Strip] = {}
        self._matches: re.Pattern[str] | None = None

    # -- for subclasses and screens --------------------------------------------------------------------------

    def make_page(self, width: int) -> Page:
        raise NotImplementedError

    @property
    def page(self) -> Page:
        width = self.scrollable_content_region.width
        if self._page is None or self._page_width != width:
            self._page, self._page_width = self.make_page(width), width
            self._strips.clear()
            self.virtual_size = Size(width, self._page.lines + len(self._page.header))
        return self._page

    @property
    def thing(self) -> Thing | None:
        """What the cursor is on."""
        return self.page.thing(self.cursor)

    def reset(self) -> None:
        """The page is to be made anew; the cursor follows its thing."""
        thing = self._page.thing(self.cursor) if self._page is not None else None
        self._page = None
        self._strips.clear()
        row = self.page.find(thing) if thing is not None else None
        self.set_reactive(VirtualLines.cursor, self._bounded(self.cursor if row is None else row))
        self.refresh()

    def mark(self, matches: re.Pattern[str] | None) -> None:
        """What a search looks for is marked wherever it is drawn."""
        self._matches = matches
        self._strips.clear()
        self.refresh()

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
            self.scroll_relative(y=rows, animate=False)

    def move_page(self, pages: float) -> None:
        lines = max(1, int(self._sight * abs(pages)))
        self.move(lines if pages > 0 else -lines)

    def move_end(self, *, last: bool) -> None:
        if self.has_cursor:
            self.move_to(self.page.rows - 1 if last else 0)
        elif last:
            self.scroll_end(animate=False)
        else:
            self.scroll_home(animate=False)

    # -- drawing ---------------------------------------------------------------------------------------------

    @property
    def palette(self) -> Palette:
        return load(self.app.theme)

    def render_line(self, y: int) -> Strip:
        page = self.page
        width = self.scrollable_content_region.width
        if y < len(page.header):
            return self._strip(page.header[y], width, "")
        number = round(self.scroll_y) + y - len(page.header)
        if number >= page.lines:
            return Strip.blank(width, self.rich_style)
        row = page.row_at(number)
        key = (number, self._is_current(row), row == self.hovered)
        strip = self._strips.get(key)
        if strip is None:
            if len(self._strips) > CACHED:
                self._strips.clear()
            strip = self._strips[key] = self._strip(page.line(number), width, self._ground(*key[1:]))
        return self._selected(strip, number).apply_offsets(0, number)

    def _strip(self, line: Line, width: int, ground: str) -> Strip:
        return draw(line, width, self.palette, self.rich_style, ground, self._matches)

    def _ground(self, current: bool, hovered: bool) -> str:
        if current:
            return "cursor" if self.has_focus else "cursor.blur"
        return "hover" if hovered else ""

    def _is_current(self, row: int) -> bool:
        return self.has_cursor and row == self.cursor and self.page.thing(row) is not None

    def _selected(self, strip: Strip, number: int) -> Strip:
        span = self.text_selection.get_span(number) if self.text_selection is not None else None
        if span is None:
            return strip
        return restyle(strip, span, self.screen.get_component_rich_style("screen--selection"))

    # -- what the toolkit calls ------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def on_resize(self) -> None:
        self.reset()
        self._bring_into_sight()

    def on_focus(self) -> None:
        self._strips.clear()
        self.refresh()

    def on_blur(self) -> None:
        self._strips.clear()
        self.refresh()

    def watch_cursor(self, old: int, new: int) -> None:
        self._refresh_row(old)
        self._refresh_row(new)
        self.post_message(self.Moved(self, self.thing))

    def watch_hovered(self, old: int | None, new: int | None) -> None:
        for row in (old, new):
            if row is not None:
                self._refresh_row(row)

    def on_mouse_move(self, event: events.MouseMove) -> None:
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
        return max(1, self.scrollable_content_region.height - len(self.page.header))

    def _bounded(self, row: int) -> int:
        return min(max(row, 0), max(0, self.page.rows - 1))

    def _row_under(self, event: events.MouseEvent) -> int | None:
        offset = event.get_content_offset(self)
        if offset is None or offset.y < len(self.page.header):
            return None
        line = round(self.scroll_y) + offset.y - len(self.page.header)
        return self.page.row_at(line) if line < self.page.lines else None

    def _refresh_row(self, row: int) -> None:
        if 0 <= row < self.page.rows:
            lines = self.page.lines_of(row)
            top = lines.start - round(self.scroll_y) + len(self.page.header)
            self.refresh(Region(0, top, self.size.width, len(lines)))

    def _bring_into_sight(self) -> None:
        if not self.has_cursor or not self.page.rows:
            return
        lines, top = self.page.lines_of(self.cursor), round(self.scroll_y)
        if lines.start < top:
            self.scroll_to(y=lines.start, animate=False)
        elif lines.stop > top + self._sight:
            self.scroll_to(y=max(0, lines.stop - self._sight), animate=False)
