"""Styled lines as strips of the toolkit, and widgets that cache their picture until they change.

Without the cache, the toolkit asks every visible widget for all its lines at any change and filters each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from ctxview.core.lazy import lazy_pattern
from ctxview.tui.configured_keys import key_label
from ctxview.tui.drawing.text import Line, plain, show, width, wrap_all
from ctxview.tui.model.action_table import ACTIONS_BY_ID
from ctxview.tui.themes import Palette, load_palette

if TYPE_CHECKING:
    from textual.content import Content


_COMMAND = lazy_pattern(r"screen\.command\('(\w+)'\)")


def content(*lines: Line) -> Content:
    """Lines as content for a toast, a title or a label of the toolkit; markup in them has no effect."""
    from textual.content import Content

    return Content("\n".join(plain(line) for line in lines))


if TYPE_CHECKING:
    from textual.widget import Widget as _WidgetMixin
else:
    # The toolkit takes styles from the first widget among the base classes, which must be the other one.
    _WidgetMixin = object


class RenderCache(_WidgetMixin):
    """A mixin that caches the picture of a widget; it must be the first base class."""

    _picture: tuple[Size, list[Strip]] | None = None

    def draw_picture(self, whole: Region) -> list[Strip]:
        """All lines of the widget, including its border."""
        return super().render_lines(whole)

    def render_lines(self, crop: Region) -> list[Strip]:
        # The toolkit asks for one line to find what is under the mouse, and highlights what can be clicked.
        if crop.size != self.outer_size or self.hover_style.meta:
            return super().render_lines(crop)
        if self._picture is None or self._picture[0] != crop.size:
            self._picture = crop.size, self.draw_picture(crop)
        return self._picture[1]

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        self._picture = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._picture = None


def draw_strip(
    line: Line,
    width: int,
    palette: Palette,
    base: Style,
    row_style: str = "",
    matches: re.Pattern[str] | None = None,
) -> Strip:
    """A line exactly `width` cells wide over `base`, with `row_style` on top and `matches` highlighted."""
    return Strip(line_segments(line, width, palette, base, row_style, matches), width)


def line_segments(
    line: Line,
    width: int,
    palette: Palette,
    base: Style,
    row_style: str = "",
    matches: re.Pattern[str] | None = None,
) -> list[Segment]:
    """The segments of `draw_strip`."""
    over = palette.style(row_style)
    match_style = palette.style("match")
    marks = list(matches.finditer(plain(line))) if matches is not None else []
    drawn: list[Segment] = []
    at = 0
    for span in line:
        style = base + palette.style(span.style) + over
        if span.action:
            style += Style(meta={"@click": span.action})
        drawn.extend(
            _marked(span.text, at, style, style + match_style, marks)
            if marks
            else [Segment(span.text, style)]
        )
        at += len(span.text)
    return Segment.adjust_line_length(drawn, width, base + over)


def on_frame(line: Line, palette: Palette) -> Text:
    """A line as the title of a frame. Spans are printable already, and a Text has no markup."""
    text = Text(end="")
    for span in line:
        style = palette.style(span.style)
        text.append(span.text, style + Style(meta={"@click": span.action}) if span.action else style)
    return text


def restyle(strip: Strip, span: tuple[int, int], style: Style) -> Strip:
    """Apply a style to the characters from `span[0]` up to `span[1]` (-1: to the end)."""
    text = strip.text
    start, end = span[0], span[1] if span[1] != -1 else len(text)
    edges = [cell_len(text[:start]), cell_len(text[:end]), strip.cell_length]
    before, inside, after = (
        strip.crop(0, edges[0]),
        strip.crop(edges[0], edges[1]),
        strip.crop(edges[1], edges[2]),
    )
    chosen = Strip([Segment(each.text, (each.style or Style.null()) + style) for each in inside])
    return Strip.join([before, chosen, after])


class BarLine(RenderCache, Widget):
    """A bar of one line: header, timeline, key bar."""

    DEFAULT_CSS = "BarLine { height: 1; }"

    _drawn: Line | None = None

    def make_line(self, width: int) -> Line:
        raise NotImplementedError

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Say what a click on the word under the mouse does, and the key for it."""
        clicked = _COMMAND.fullmatch(str(event.style.meta.get("@click")))
        action = ACTIONS_BY_ID.get(clicked[1]) if clicked is not None else None
        if action is None:
            self.tooltip = None
        else:
            self.tooltip = content(show(f"{key_label(action)}  {action.help}"))

    def refresh_changes(self) -> None:
        """Paint the line if it changed."""
        if self.make_line(self.size.width) != self._drawn:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        line = self._drawn = self.make_line(width) if y == 0 else ()
        return draw_strip(line, width, load_palette(self.app.theme), self.rich_style)


def _marked(text: str, at: int, style: Style, mark: Style, marks: Sequence[re.Match[str]]) -> list[Segment]:
    """The segments of a text, with the style `mark` inside matches."""
    pieces: list[Segment] = []
    done = 0
    for match in marks:
        start, end = max(match.start() - at, 0), min(match.end() - at, len(text))
        if start >= end:
            continue
        if start > done:
            pieces.append(Segment(text[done:start], style))
        pieces.append(Segment(text[start:end], mark))
        done = end
    if done < len(text):
        pieces.append(Segment(text[done:], style))
    return pieces


class StaticLines(Widget):
    """A widget as high as its wrapped lines; hidden when it has none."""

    DEFAULT_CSS = "StaticLines { height: auto; width: 1fr; } StaticLines.-empty { display: none; }"

    def __init__(
        self,
        *lines: Line,
        indent: str = "",
        id: str | None = None,  # noqa: A002 - the toolkit's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._lines = lines
        self._indent = indent
        self._wrapped: tuple[int, list[Line]] = (-1, [])
        self.set_class(not lines, "-empty")

    def update(self, *lines: Line) -> None:
        if lines == self._lines:
            return
        self._lines = lines
        self._wrapped = (-1, [])
        self.set_class(not lines, "-empty")
        self.refresh(layout=True)

    @property
    def lines(self) -> tuple[Line, ...]:
        return self._lines

    # The toolkit's signatures have more arguments than needed.
    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return len(self._wrap(width))

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002
        return max(map(width, self._lines), default=0)

    def render_line(self, y: int) -> Strip:
        room = self.size.width
        lines = self._wrap(room)
        return draw_strip(
            lines[y] if y < len(lines) else (), room, load_palette(self.app.theme), self.rich_style
        )

    def _wrap(self, room: int) -> list[Line]:
        if self._wrapped[0] != room:
            self._wrapped = (room, wrap_all(self._lines, room, self._indent))
        return self._wrapped[1]
