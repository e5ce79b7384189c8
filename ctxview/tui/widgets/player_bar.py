"""What is said while revisions go by: the chief thing large, why it matters, and the rest in small print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from ctxview.tui.player import spelled_speed
from ctxview.tui.text import EMPTY, Line, Span, fit, join, pad, show, width, wrap
from ctxview.tui.themes import load
from ctxview.tui.widgets.drawing import draw

if TYPE_CHECKING:
    from ctxview.tui.playing import Playing
    from ctxview.tui.session_view import SessionView

MARGIN = 14
"""Cells for how it is played."""


class PlayerBar(Widget):
    """As high as the screen can spare, always the same, so that nothing jumps."""

    DEFAULT_CSS = """
    PlayerBar { height: auto; background: $panel; border-left: thick $accent; }
    PlayerBar.-stage { border: round $accent; background: $surface; padding: 0 1; }
    """

    def __init__(self, view: SessionView, playing: Playing) -> None:
        super().__init__(id="player")
        self._view = view
        self._playing = playing
        self.display = playing.on
        self.set_class(playing.stage, "-stage")

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - the toolkit's shape
        room = 4 if viewport.height < 50 else 5
        return room + 2 if self._playing.stage and viewport.height >= 30 else room

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        lines = player_lines(self._view, self._playing, cells, self.size.height)
        return draw(lines[y] if y < len(lines) else (), cells, load(self.app.theme), self.rich_style)


def player_lines(view: SessionView, playing: Playing, cells: int, height: int) -> list[Line]:
    how = [_how(view, playing), *([EMPTY] * height)]
    said = _said(playing, cells - MARGIN, height)
    if playing.stage and len(said) < height - 1:
        said = [EMPTY, *said]
        how = [EMPTY, *how]
    return [join(pad(how[at], MARGIN), line) for at, line in enumerate(said[:height])]


def _how(view: SessionView, playing: Playing) -> Line:
    sign = "▶" if playing.player.playing else "‖"
    place = f"{view.look.revision + 1}/{view.last_revision + 1}"
    return join(
        (Span(f" {sign} ", "accent bold", "screen.command('play')"),),
        show(spelled_speed(playing.player.speed), "accent", "screen.command('faster')"),
        show(f" {place}", "dim"),
    )


def _said(playing: Playing, cells: int, height: int) -> list[Line]:
    told = playing.told
    if playing.waiting:
        return [show("Reading all of it before it begins…", "dim")]
    if playing.looking:
        return [show("Looking for what happens next…", "dim")]
    if not told:
        return [EMPTY]
    first, *rest = told
    lines = wrap(show(first.said, "strong" if first.matters or playing.stage else ""), cells)
    if first.why:
        lines += wrap(show(first.why, "accent" if first.matters else "dim"), cells)
    room = height - len(lines)
    if rest and room > 0:
        lines += _rest([each.said for each in rest], cells, room)
    return lines[:height]


def _rest(told: list[str], cells: int, room: int) -> list[Line]:
    """As many of the lesser things as fit, one a line; the last line counts what is left."""
    lines: list[Line] = []
    for at, each in enumerate(told):
        left = len(told) - at
        more = f"  and {left - 1} more" if left > 1 and len(lines) == room - 1 else ""
        lines.append(
            join(fit(show(f"· {each}", "dim"), max(8, cells - width(show(more)))), show(more, "dim"))
        )
        if len(lines) == room:
            break
    return lines
