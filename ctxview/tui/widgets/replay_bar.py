"""The bar with the captions of a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from ctxview.tui.drawing.text import EMPTY, Line, Span, fit, join, pad, show, width, wrap
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.replay import Replay, spelled_speed
from ctxview.tui.themes import load_palette
from ctxview.tui.widgets.strips import draw_strip

if TYPE_CHECKING:
    pass


MARGIN = 14
"""Cells for the state of the replay, left of the captions."""


class ReplayBar(Widget):
    """The captions of a replay; its height is constant for a screen size, so that the panes do not move."""

    DEFAULT_CSS = """
    ReplayBar { height: auto; background: $panel; border-left: thick $accent; }
    ReplayBar.-stage { border: round $accent; background: $surface; padding: 0 1; }
    """

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(id="player")
        self._model = model
        replay = self._replay = model.replay
        self.display = replay.on
        self.set_class(replay.stage, "-stage")

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - the toolkit's signature
        room = 4 if viewport.height < 50 else 5
        return room + 2 if self._replay.stage and viewport.height >= 30 else room

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        lines = player_lines(self._model, cells, self.size.height)
        return draw_strip(
            lines[y] if y < len(lines) else (), cells, load_palette(self.app.theme), self.rich_style
        )


def player_lines(model: InspectorModel, cells: int, height: int) -> list[Line]:
    replay = model.replay
    state = [_replay_state(model), *([EMPTY] * height)]
    captions = _caption_lines(replay, cells - MARGIN, height)
    if replay.stage and len(captions) < height - 1:
        captions = [EMPTY, *captions]
        state = [EMPTY, *state]
    return [join(pad(state[at], MARGIN), line) for at, line in enumerate(captions[:height])]


def _replay_state(model: InspectorModel) -> Line:
    sign = "▶" if model.replay.clock.playing else "‖"
    place = f"{model.key.revision + 1}/{model.last_revision + 1}"
    return join(
        (Span(f" {sign} ", "accent bold", "screen.command('play')"),),
        show(spelled_speed(model.replay.clock.speed), "accent", "screen.command('faster')"),
        show(f" {place}", "dim"),
    )


def _caption_lines(replay: Replay, cells: int, height: int) -> list[Line]:
    captions = replay.captions
    if replay.waiting:
        return [show("Reading the whole file before the replay starts…", "dim")]
    if replay.searching:
        return [show("Searching for the next event…", "dim")]
    if not captions:
        return [EMPTY]
    first, *rest = captions
    lines = wrap(show(first.text, "strong" if first.matters or replay.stage else ""), cells)
    if first.why:
        lines += wrap(show(first.why, "accent" if first.matters else "dim"), cells)
    room = height - len(lines)
    if rest and room > 0:
        lines += _rest([each.text for each in rest], cells, room)
    return lines[:height]


def _rest(captions: list[str], cells: int, room: int) -> list[Line]:
    """As many of the lesser captions as fit, one for each line; the last line counts the others."""
    lines: list[Line] = []
    for at, each in enumerate(captions):
        left = len(captions) - at
        more = f"  and {left - 1} more" if left > 1 and len(lines) == room - 1 else ""
        lines.append(
            join(fit(show(f"· {each}", "dim"), max(8, cells - width(show(more)))), show(more, "dim"))
        )
        if len(lines) == room:
            break
    return lines
