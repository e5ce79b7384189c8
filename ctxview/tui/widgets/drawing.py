"""Turns our styled lines into the toolkit's strips. The only place where a style name becomes a colour."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip
from textual.widget import Widget

from ctxview.tui.text import Line, plain
from ctxview.tui.themes import Palette, load
from ctxview.tui.widgets.kept import Kept


def draw(
    line: Line,
    width: int,
    palette: Palette,
    base: Style,
    ground: str = "",
    matches: re.Pattern[str] | None = None,
) -> Strip:
    """A line exactly `width` cells wide over `base`, under the style `ground`, with what matches marked."""
    return Strip(segments(line, width, palette, base, ground, matches), width)


def segments(
    line: Line,
    width: int,
    palette: Palette,
    base: Style,
    ground: str = "",
    matches: re.Pattern[str] | None = None,
) -> list[Segment]:
    """What `draw` makes a strip of."""
    over = palette.style(ground)
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
    """A title for a frame of the toolkit. Spans are printable already, and a Text knows no markup."""
    text = Text(end="")
    for span in line:
        style = palette.style(span.style)
        text.append(span.text, style + Style(meta={"@click": span.action}) if span.action else style)
    return text


def restyle(strip: Strip, span: tuple[int, int], style: Style) -> Strip:
    """The characters from `span[0]` up to `span[1]` (-1: to the end) in another style."""
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


class OneLine(Kept, Widget):
    """A bar one line high: header, timeline, keys."""

    DEFAULT_CSS = "OneLine { height: 1; }"

    _drawn: Line | None = None

    def make_line(self, width: int) -> Line:
        raise NotImplementedError

    def refresh_changes(self) -> None:
        """What it says may be something else now; if it is not, nothing is painted."""
        if self.make_line(self.size.width) != self._drawn:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        line = self._drawn = self.make_line(width) if y == 0 else ()
        return draw(line, width, load(self.app.theme), self.rich_style)


def _marked(text: str, at: int, style: Style, mark: Style, marks: Sequence[re.Match[str]]) -> list[Segment]:
    """The text in pieces, those inside a match in the style of a match."""
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
