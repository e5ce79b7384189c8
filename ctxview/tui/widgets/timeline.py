"""The timeline of revisions, and the bar with the captions of a replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from ctxview.core.revision_signs import WHOLE_STATE
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.text import EMPTY, Line, Span, fit, join, pad, show, width, wrap
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.replay import Replay, spelled_speed
from ctxview.tui.themes import load_palette
from ctxview.tui.widgets.strips import BarLine, draw_strip

if TYPE_CHECKING:
    from ctxview.formats import Revision


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


class Timeline(BarLine):
    DEFAULT_CSS = "Timeline { background: $panel; }"

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(id="timeline")
        self._model = model
        self.display = False
        """False until there is more than one revision."""

    def make_line(self, width: int) -> Line:
        return timeline_line(self._model, width)


def timeline_line(model: InspectorModel, cells: int) -> Line:
    source = model.source
    if source is None:
        return ()
    last, now = model.last_revision, model.key.revision
    caption = _caption(model)
    room = max(10, min(cells - 10 - min(width(caption), cells // 2), max(2 * last + 1, cells // 3)))
    earlier = Span(" ◀ ", "link" if now > 0 else "faint", "screen.command('earlier')")
    later = Span(" ▶ ", "link" if now < last else "faint", "screen.command('later')")
    beads = _beads(source.revisions, last, now, room)
    return fit(
        join((earlier, Span("├", "faint")), beads, (Span("┤", "faint"), later, Span(" ")), caption), cells
    )


def _beads(revisions: Sequence[Revision], last: int, now: int, cells: int) -> Line:
    """Revisions spread over the cells; where several share a cell, a click goes to the latest of them."""
    places: dict[int, int] = {}
    for number in (
        range(last + 1) if last < cells * 4 else (round(at * last / (cells - 1)) for at in range(cells))
    ):
        places[_place(number, last, cells)] = number
    current = _place(now, last, cells)
    spans: list[Span] = []
    for cell in range(cells):
        target = places.get(cell)
        if cell == current:
            spans.append(Span(revisions[now].sign.filled, "accent", f"screen.go_to_revision({now})"))
        elif target is not None:
            key = revisions[target].sign
            style = key.role if cell < current else "dim"
            sign = key.hollow if last < cells else "•"
            spans.append(Span(sign, style, f"screen.go_to_revision({target})"))
        else:
            spans.append(Span("─", "faint"))
    return tuple(spans)


def _place(number: int, last: int, cells: int) -> int:
    return round(number * (cells - 1) / last) if last else 0


def _caption(model: InspectorModel) -> Line:
    source = model.source
    if source is None:
        return ()
    revision = source.revisions[model.key.revision]
    facts = [show(revision.label, "strong")]
    sign = revision.sign
    if sign != WHOLE_STATE and revision.kind not in revision.label:
        facts.append(show(revision.kind, sign.role))
    if revision.time:
        facts.append(show(glyphs.time_text(revision.time), "dim"))
    if model.view is not None:
        here = [
            event for event in model.view.index.reading.state.timeline if event.revision == model.key.revision
        ]
        labels = (event.label.removeprefix(revision.label).strip(" ·:,") for event in here[:3])
        facts += [show(label, "rule") for label in labels if label]
    return join(*facts, gap=" · ")
