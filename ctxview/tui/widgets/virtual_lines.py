"""The one scrolling list: draws a `Page` line by line, with cursor, mouse, search marks and text selection.

Only what is in sight is drawn, so that a million rows cost as much as forty. What they say is the page's. It
draws its own scroll rail: the toolkit's would lay out the whole screen anew whenever a page gets longer.
"""

from __future__ import annotations

import re
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from ctxview.tui.text import Line, Span, plain
from ctxview.tui.themes import Palette, load
from ctxview.tui.things import Thing
from ctxview.tui.widgets.drawing import draw, restyle
from ctxview.tui.widgets.page import Page

CACHED = 2_000
RAIL = 1
"""Cells kept free at the right for the scroll rail."""
WHEEL = 3


class VirtualLines(ScrollView, can_focus=True, inherit_bindings=False):
    """Subclasses say what is on the page; the cursor stays on the same thing when the page changes."""

    DEFAULT_CSS = "VirtualLines { overflow: hidden hidden; scrollbar-size: 0 0; }"

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
        self._base_style: Style | None = None
        self._dragging = False

    # -- for subclasses and screens --------------------------------------------------------------------------

    def make_page(self, width: int) -> Page:
        raise NotImplementedError

    @property
    def page(self) -> Page:
        width = max(0, self.content_size.width - RAIL)
        if self._page is None or self._page_width != width:
            self._page, self._page_width = self.make_page(width), width
            self._strips.clear()
            self.set_reactive(Widget.virtual_size, Size(width, self._page.lines + len(self._page.header)))
            self.scroll_y = self.validate_scroll_y(self.scroll_y)
        return self._page

    @property
    def thing(self) -> Thing | None:
        """What the cursor is on."""
        return self.page.thing(self.cursor)

    def reset(self) -> None:
        """The page is to be made anew; the cursor follows its thing, what is in sight stays where it is."""
        thing = self._page.thing(self.cursor) if self._page is not None else None
        anchor, below = self._anchor()
        self._page = None
        row = self.page.find(thing) if thing is not None else None
        self.set_reactive(VirtualLines.cursor, self._bounded(self.cursor if row is None else row))
        place = self.page.find(anchor) if anchor is not None else None
        if place is not None and (top := self.page.lines_of(place).start - below) != round(self.scroll_y):
            self.scroll_to(y=top, animate=False, force=True)
        self.refresh()

    def lengthen(self, page: Page, same: int) -> None:
        """The same page with other rows from `same` on: what is drawn of those before stays drawn."""
        self._page = page
        self._strips = {key: strip for key, strip in self._strips.items() if key[0] < same}
        self.set_reactive(Widget.virtual_size, Size(self._page_width, page.lines))
        self.refresh()

    def mark(self, matches: re.Pattern[str] | None) -> None:
        """What a search looks for is marked wherever it is drawn."""
        if matches == self._matches:
            return
        patterns = [pattern for pattern in (self._matches, matches) if pattern is not None]
        self._matches = matches
        self._strips = {key: strip for key, strip in self._strips.items() if not _any(patterns, strip.text)}
        if self._page is not None:
            self._refresh_marked(patterns, self._page)

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

    # -- drawing ---------------------------------------------------------------------------------------------

    @property
    def palette(self) -> Palette:
        return load(self.app.theme)

    def render_line(self, y: int) -> Strip:
        page, width = self.page, self._page_width
        if y < len(page.header):
            return self._strip(page.header[y], width, "")
        strip = self._line_strip(page, round(self.scroll_y) + y - len(page.header), width)
        thumb = self._thumb(page)
        if thumb is None:
            return strip
        rail = (Span("▐", "rail" if y - len(page.header) in thumb else "track"),)
        return Strip.join([strip, self._strip(rail, RAIL, "")])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - the toolkit's
        page = self.make_page(max(0, width - RAIL))
        return page.lines + len(page.header)

    def _line_strip(self, page: Page, number: int, width: int) -> Strip:
        if number >= page.lines:
            return Strip.blank(width, self._base)
        row = page.row_at(number)
        current = self.has_cursor and row == self.cursor and page.thing(row) is not None
        key = (number, current, row == self.hovered)
        strip = self._strips.get(key)
        if strip is None:
            if len(self._strips) > CACHED:
                self._strips.clear()
            drawn = self._strip(page.line(number), width, self._ground(*key[1:]))
            strip = self._strips[key] = drawn.apply_offsets(0, number)
        return self._selected(strip, number)

    def _strip(self, line: Line, width: int, ground: str) -> Strip:
        return draw(line, width, self.palette, self._base, ground, self._matches)

    @property
    def _base(self) -> Style:
        """What everything is drawn on; working it out costs more than a line does."""
        if self._base_style is None:
            self._base_style = self.rich_style
        return self._base_style

    def _ground(self, current: bool, hovered: bool) -> str:
        if current:
            return "cursor" if self.has_focus else "cursor.blur"
        return "hover" if hovered else ""

    def _selected(self, strip: Strip, number: int) -> Strip:
        span = self.text_selection.get_span(number) if self.text_selection is not None else None
        if span is None:
            return strip
        return restyle(strip, span, self.screen.get_component_rich_style("screen--selection"))

    def _thumb(self, page: Page) -> range | None:
        """Which lines of the sight the thumb of the rail covers; None when everything is in sight."""
        lines, sight = page.lines, max(1, self.size.height - len(page.header))
        if lines <= sight:
            return None
        length = max(1, sight * sight // lines)
        start = round(self.scroll_y) * (sight - length) // max(1, lines - sight)
        return range(start, start + length)

    def _refresh_marked(self, patterns: list[re.Pattern[str]], page: Page) -> None:
        """Only the lines in sight that have, or had, something to mark."""
        top = round(self.scroll_y)
        known = {number for number, _, _ in self._strips}
        for y, header in enumerate(page.header):
            if _any(patterns, plain(header)):
                self.refresh(Region(0, y, self.size.width, 1))
        for y in range(min(self._sight, page.lines - top)):
            if top + y not in known:
                self.refresh(Region(0, y + len(page.header), self.size.width, 1))

    def _redraw(self) -> None:
        self._strips.clear()
        self.refresh()

    # -- what the toolkit calls ------------------------------------------------------------------------------

    @property
    def allow_vertical_scroll(self) -> bool:
        return True

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._base_style = None
        self._strips.clear()

    def on_resize(self) -> None:
        self.reset()
        self._bring_into_sight()

    def on_focus(self) -> None:
        self._redraw()

    def on_blur(self) -> None:
        self._redraw()

    def watch_cursor(self, old: int, new: int) -> None:
        self._refresh_row(old)
        self._refresh_row(new)
        self.post_message(self.Moved(self, self.thing))

    def watch_hovered(self, old: int | None, new: int | None) -> None:
        for row in (old, new):
            if row is not None:
                self._refresh_row(row)

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

    def _anchor(self) -> tuple[Thing | None, int]:
        """What is to stay where it is, and how many lines below the top: the cursor, if it is in sight."""
        page, top = self._page, round(self.scroll_y)
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
            self.show_line(lines.start)
        elif lines.stop > top + self._sight:
            self.show_line(max(0, lines.stop - self._sight))


def _any(patterns: list[re.Pattern[str]], text: str) -> bool:
    return any(pattern.search(text) for pattern in patterns)
