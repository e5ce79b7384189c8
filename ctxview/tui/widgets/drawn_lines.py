"""Draws a `Page` line by line: only what is in sight, and of that only what looks different than before.

It draws its own scroll rail: the toolkit's would lay out the whole screen anew whenever a page gets longer.
Cursor, mouse and keys are `VirtualLines`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Self, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from ctxview.tui.text import EMPTY, Line, Span
from ctxview.tui.themes import Palette, load
from ctxview.tui.widgets.drawing import draw, on_frame, restyle, segments
from ctxview.tui.widgets.kept import Kept
from ctxview.tui.widgets.page import Page

CACHED = 2_000
RAIL = 1
"""Cells kept free at the right for the scroll rail."""

RAILS = {"": "", "rail": "▐", "track": "▕"}

Key: TypeAlias = tuple[int, str, str]
"""A line of the page, the style it lies on, the style of the rail beside it. A header counts from below 0."""


class DrawnLines(Kept, ScrollView):
    DEFAULT_CSS = "DrawnLines { overflow: hidden hidden; scrollbar-size: 0 0; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - the toolkit's word
        super().__init__(id=id, classes=classes)
        self._page: Page | None = None
        self._page_width = -1
        self._stale = False
        self._room: Size | None = None
        self._entitling = False
        self.awaited_size: Size | None = None
        """The whole size it is about to get, where somebody knows: nothing is drawn for another."""
        self._strips: dict[Key, Strip] = {}
        self._matches: re.Pattern[str] | None = None
        self._base_style: Style | None = None
        self._sides: tuple[list[Segment], list[Segment]] | None = None

    def make_page(self, width: int) -> Page:
        raise NotImplementedError

    def ground(self, page: Page, row: int) -> str:  # noqa: ARG002 - for those who have a cursor
        """The style a row lies on."""
        return ""

    @property
    def page(self) -> Page:
        """Made when somebody asks for it, for the room there is then."""
        room = self.content_size
        if self._page is None or self._stale or self._room != room:
            before = self._page
            self._stale, self._room, self._page_width = False, room, max(0, room.width - RAIL)
            self._page = self.make_page(self._page_width)
            self._strips.clear()
            self._measure(self._page)
            self.renewed(before, self._page)
        return self._page

    def renewed(self, before: Page | None, now: Page) -> None:
        """Another page has just been made."""

    def _measure(self, page: Page) -> None:
        self.set_reactive(Widget.virtual_size, Size(self._page_width, page.lines + len(page.header)))
        self.scroll_y = self.validate_scroll_y(self.scroll_y)

    def mark(self, matches: re.Pattern[str] | None) -> None:
        """What a search looks for is marked wherever it is drawn."""
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
        """Has those lines painted anew that look different now."""
        size = self.outer_size
        if self._kept is None or {self._kept[0], self.awaited_size or size} != {size} or not self.display:
            self.refresh()
            return
        before = self._kept[1]
        left, above = self.content_offset
        # The border is the same: whatever changes it forgets the picture.
        now = [*before[:above], *self._lines(self.size.height), *before[above + self.size.height :]]
        changed = [y for y, strip in enumerate(now) if strip is not before[y] and strip != before[y]]
        if changed:
            self.refresh(*(Region(-left, y - above, size.width, 1) for y in changed))
        self._kept = size, now

    def entitle(self, title: Line) -> None:
        """Another title on the border. Setting it has everything painted, which only the first line needs."""
        self._entitling = True
        self.border_title = on_frame(title, self.palette)
        self._entitling = False

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        if self._entitling:
            left, above = self.content_offset
            regions = (Region(-left, -above, self.outer_size.width, above),)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    # -- drawing ---------------------------------------------------------------------------------------------

    @property
    def palette(self) -> Palette:
        return load(self.app.theme)

    def picture(self, whole: Region) -> list[Strip]:
        """The toolkit takes a line through many hands: it draws the border only, and texts being marked."""
        if self.text_selection is not None:
            return super().picture(whole)
        above, below = self.gutter.top, self.gutter.bottom
        by_toolkit = super().picture
        return [
            *by_toolkit(Region(0, 0, whole.width, above)),
            *self._lines(whole.height - above - below),
            *by_toolkit(Region(0, whole.height - below, whole.width, below)),
        ]

    def render_line(self, y: int) -> Strip:
        """The toolkit's way, which also tells which text is where."""
        number, ground, rail = self._keys(y + 1)[y]
        line, width = _text(self.page, number), self._page_width
        strip = draw(line, width, self.palette, self._base, ground, self._matches)
        if number >= 0:
            strip = strip.apply_offsets(0, number)
            span = self.text_selection.get_span(number) if self.text_selection is not None else None
            if span is not None:
                strip = restyle(strip, span, self.screen.get_component_rich_style("screen--selection"))
        return Strip.join([strip, Strip(self._rail(rail))])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - the toolkit's
        page = self.make_page(max(0, width - RAIL))
        return page.lines + len(page.header)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._base_style = self._sides = None
        self._strips.clear()

    def _lines(self, height: int) -> list[Strip]:
        """The lines in sight from edge to edge, ready for the terminal."""
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
            number, ground, rail = key
            drawn = segments(_text(page, number), width, palette, base, ground, self._matches)
            drawn = [*left, *drawn, *rails[rail], *right]
            for each in filters:
                drawn = each.apply(drawn, background)
            self._strips[key] = Strip(drawn, whole)

    def _keys(self, height: int) -> list[Key]:
        """What is to be drawn in the first lines in sight."""
        page, thumb = self.page, self._thumb(self.page)
        keys: list[Key] = [(y - len(page.header), "", "") for y in range(min(height, len(page.header)))]
        for y in range(height - len(keys)):
            rail = "" if thumb is None else "rail" if y in thumb else "track"
            number = round(self.scroll_y) + y
            if number < page.lines:
                keys.append((number, self.ground(page, page.row_at(number)), rail))
            else:
                keys.append((page.lines, "", rail))
        return keys

    def _rail(self, style: str) -> list[Segment]:
        return segments((Span(RAILS[style], style),), RAIL, self.palette, self._base)

    @property
    def _base(self) -> Style:
        """What everything is drawn on; working it out costs more than a line does."""
        if self._base_style is None:
            self._base_style = self.rich_style
        return self._base_style

    @property
    def _edges(self) -> tuple[list[Segment], list[Segment]]:
        """The border at both sides of a line."""
        if self._sides is None:
            gutter, width = self.gutter, self.outer_size.width
            line = super().picture(Region(0, gutter.top, width, 1))[0]
            self._sides = list(line.crop(0, gutter.left)), list(line.crop(width - gutter.right, width))
        return self._sides

    def _thumb(self, page: Page) -> range | None:
        """Which lines of the sight the thumb of the rail covers; None when everything is in sight."""
        lines, sight = page.lines, max(1, self.size.height - len(page.header))
        if lines <= sight:
            return None
        length = max(1, sight * sight // lines)
        start = round(self.scroll_y) * (sight - length) // max(1, lines - sight)
        return range(start, start + length)


def _text(page: Page, number: int) -> Line:
    if number < 0:
        return page.header[number]
    return page.line(number) if number < page.lines else EMPTY
