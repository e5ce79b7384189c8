"""A widget that draws a `Page` line by line: only the visible lines, and of these only those that changed.

It draws its own scroll rail: that of the toolkit would lay out the whole screen whenever a page gets longer.
`VirtualLines` adds cursor, mouse and keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar, Self, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import EMPTY, Line, Span
from ctxview.tui.themes import Palette, load_palette
from ctxview.tui.widgets.strips import RenderCache, draw_strip, line_segments, on_frame, restyle

CACHED = 2_000
RAIL = 1
"""Cells kept free at the right for the scroll rail."""

RAILS = {"": "", "rail": "▐", "track": "▕"}

Key: TypeAlias = tuple[int, str, str]
"""A line of the page, the style of its row, the style of the rail beside it. Header lines are negative."""


class DrawnLines(RenderCache, ScrollView):
    DEFAULT_CSS = "DrawnLines { overflow: hidden hidden; scrollbar-size: 0 0; }"

    rail: ClassVar[int] = RAIL
    """Cells for the scroll rail; 0 for pages that are drawn to fit."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - the toolkit's name
        super().__init__(id=id, classes=classes)
        self._page: Page | None = None
        self._page_width = -1
        self._stale = False
        self._room: Size | None = None
        self._setting_title = False
        self.expected_size: Size | None = None
        """The outer size it is about to get, if known: nothing is drawn for another size."""
        self._strips: dict[Key, Strip] = {}
        self._matches: re.Pattern[str] | None = None
        self._base_style: Style | None = None
        self._sides: tuple[list[Segment], list[Segment]] | None = None

    def make_page(self, width: int) -> Page:
        raise NotImplementedError

    def row_style(self, page: Page, row: int) -> str:  # noqa: ARG002 - for subclasses with a cursor
        """The style under all spans of a row."""
        return ""

    @property
    def room(self) -> Size:
        """The size of the content, before the first layout as it is expected."""
        if self.size or self.expected_size is None:
            return self.content_size
        return self.expected_size - self.gutter.totals

    @property
    def page(self) -> Page:
        """The page for the present size, made when it is first needed."""
        room = self.room
        if self._page is None or self._stale or self._room != room:
            before = self._page
            self._stale, self._room, self._page_width = False, room, max(0, room.width - self.rail)
            self._page = self.make_page(self._page_width)
            self._strips.clear()
            self._measure(self._page)
            self.page_changed(before, self._page)
        return self._page

    def page_changed(self, before: Page | None, now: Page) -> None:
        """Called when a new page was made."""

    def _measure(self, page: Page) -> None:
        self.set_reactive(Widget.virtual_size, Size(self._page_width, page.lines + len(page.header)))
        self.scroll_y = self.validate_scroll_y(self.scroll_y)

    def mark(self, matches: re.Pattern[str] | None) -> None:
        """Highlight the matches of a search in all lines."""
        if matches == self._matches:
            return
        patterns = [pattern for pattern in (self._matches, matches) if pattern is not None]
        self._matches = matches
        self._strips = {
            key: strip
            for key, strip in self._strips.items()
            if not any(pattern.search(strip.text) for pattern in patterns)
        }
        self.refresh_changes()

    def refresh_changes(self) -> None:
        """Paint the lines that changed."""
        size, picture = self.outer_size, self._picture
        if picture is None or {picture[0], self.expected_size or size} != {size} or not self.display:
            self.refresh()
            return
        before = picture[1]
        left, above = self.content_offset
        # The border is the same: a change of the border clears the picture.
        now = [*before[:above], *self._lines(self.size.height), *before[above + self.size.height :]]
        changed = [y for y, strip in enumerate(now) if strip is not before[y] and strip != before[y]]
        if changed:
            self.refresh(*(Region(-left, y - above, size.width, 1) for y in changed))
        self._picture = size, now

    def set_title(self, title: Line) -> None:
        """Set the border title and paint only the first line; the toolkit would paint everything."""
        self._setting_title = True
        self.border_title = on_frame(title, self.palette)
        self._setting_title = False

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        if self._setting_title:
            left, above = self.content_offset
            regions = (Region(-left, -above, self.outer_size.width, above),)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    # -- drawing ---------------------------------------------------------------------------------------------

    @property
    def palette(self) -> Palette:
        return load_palette(self.app.theme)

    def draw_picture(self, whole: Region) -> list[Strip]:
        """All lines. The toolkit is slow: it draws only the border, and lines with a text selection."""
        if self.text_selection is not None:
            return super().draw_picture(whole)
        above, below = self.gutter.top, self.gutter.bottom
        by_toolkit = super().draw_picture
        return [
            *by_toolkit(Region(0, 0, whole.width, above)),
            *self._lines(whole.height - above - below),
            *by_toolkit(Region(0, whole.height - below, whole.width, below)),
        ]

    def render_line(self, y: int) -> Strip:
        """Draw a line for the toolkit, with the offsets that a text selection needs."""
        number, row_style, rail = self._keys(y + 1)[y]
        line, width = _text(self.page, number), self._page_width
        strip = draw_strip(line, width, self.palette, self._base, row_style, self._matches)
        if number >= 0:
            strip = strip.apply_offsets(0, number)
            span = self.text_selection.get_span(number) if self.text_selection is not None else None
            if span is not None:
                strip = restyle(strip, span, self.screen.get_component_rich_style("screen--selection"))
        return Strip.join([strip, Strip(self._rail(rail))])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - the toolkit's signature
        page = self.make_page(max(0, width - self.rail))
        return page.lines + len(page.header)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._base_style = self._sides = None
        self._strips.clear()

    def _lines(self, height: int) -> list[Strip]:
        """The visible lines with their borders, ready for the terminal."""
        keys = self._keys(height)
        if len(self._strips) > CACHED:
            self._strips.clear()
        if missing := [key for key in keys if key not in self._strips]:
            self._draw(missing)
        return [self._strips[key] for key in keys]

    def _draw(self, keys: Iterable[Key]) -> None:
        left, right = self._edges
        page, width, whole = self.page, self._page_width, self.outer_size.width
        palette, base = self.palette, self._base
        filters, (_, background) = self.get_line_filters(), self.background_colors
        rails = {style: self._rail(style) for style in RAILS}
        for key in keys:
            number, row_style, rail = key
            drawn = line_segments(_text(page, number), width, palette, base, row_style, self._matches)
            drawn = [*left, *drawn, *rails[rail], *right]
            for each in filters:
                drawn = each.apply(drawn, background)
            self._strips[key] = Strip(drawn, whole)

    def _keys(self, height: int) -> list[Key]:
        """The keys of the first `height` visible lines."""
        page, thumb = self.page, self._thumb(self.page)
        keys: list[Key] = [(y - len(page.header), "", "") for y in range(min(height, len(page.header)))]
        for y in range(height - len(keys)):
            rail = "" if thumb is None else "rail" if y in thumb else "track"
            number = round(self.scroll_y) + y
            if number < page.lines:
                keys.append((number, self.row_style(page, page.row_at(number)), rail))
            else:
                keys.append((page.lines, "", rail))
        return keys

    def _rail(self, style: str) -> list[Segment]:
        return line_segments((Span(RAILS[style], style),), self.rail, self.palette, self._base)

    @property
    def _base(self) -> Style:
        """The style under everything, cached because computing it costs more than drawing a line."""
        if self._base_style is None:
            self._base_style = self.rich_style
        return self._base_style

    @property
    def _edges(self) -> tuple[list[Segment], list[Segment]]:
        """The left and right border of a line."""
        if self._sides is None:
            gutter, width = self.gutter, self.outer_size.width
            line = super().draw_picture(Region(0, gutter.top, width, 1))[0]
            self._sides = list(line.crop(0, gutter.left)), list(line.crop(width - gutter.right, width))
        return self._sides

    def _thumb(self, page: Page) -> range | None:
        """The visible lines that the thumb of the rail covers; None when all lines are visible."""
        lines, visible = page.lines, max(1, self.size.height - len(page.header))
        if lines <= visible:
            return None
        length = max(1, visible * visible // lines)
        start = round(self.scroll_y) * (visible - length) // max(1, lines - visible)
        return range(start, start + length)


def _text(page: Page, number: int) -> Line:
    if number < 0:
        return page.header[number]
    return page.line(number) if number < page.lines else EMPTY
