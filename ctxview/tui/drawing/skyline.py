"""The window over time as charts: the window against its limit, and this source's part enlarged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from ctxview.analysis.revisions.events import EventKind, RevisionEvent
from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.analysis.revisions.skyline import (
    Skyline,
    SkylineColumn,
    build_skyline,
    column_labels,
    fullest_sentences,
    growth_at,
    unchanged_text,
)
from ctxview.analysis.revisions.window import ELSEWHERE
from ctxview.tui.drawing.boxes import INSIDE, box, ends, filled, side_by_side
from ctxview.tui.drawing.columns import (
    HERE,
    SegmentStyle,
    Stack,
    draw_columns,
    legend_entry,
    segment_styles,
)
from ctxview.tui.drawing.glyphs import LEVELS, meter_step, short_count, signed, time_text
from ctxview.tui.drawing.text import Line, Span, fit, join, merge, pad, show, width

AXIS = 8
"""Cells for the figures left of a chart."""
WIDEST_COLUMN = 12
EVENT_SIGNS: Mapping[EventKind, tuple[str, str]] = {
    "broken": ("✖", "severity.error"),
    "loss": ("▼", "severity.error"),
    "stage": ("▲", "severity.warning"),
    "cut": ("▼", "severity.info"),
    "noted": ("•", "severity.info"),
    "shown": ("~", "changed.changed"),
}
"""The sign and style of each kind of event, the worst first."""
BOXED, LEAST_ROWS = 100, 24
"""The size from which on charts have frames."""
LEAST_ENLARGED, LEAST_BOTH = 12, 18
"""The rows for charts at all, and for both of them in the overview."""


class SkylineDrawing(Struct, frozen=True):
    """What the charts are drawn from: the cursor is a revision; `own` names this source's part."""

    known: KnownRevisions
    cursor: int
    tiers: Mapping[str, str]
    own: str = "this file"
    letters: bool = False
    leads: bool = True
    """Whether a column is a revision to go to; the turn of a log is not."""
    replies: bool = False
    """Whether replies have columns of their own."""
    within: range | None = None
    """The revisions that are drawn; all without it."""
    marked: tuple[int, ...] = ()
    """The revisions to compare."""

    def build(self, most: int) -> Skyline:
        return build_skyline(self.known, max(1, most), replies=self.replies, within=self.within)

    def place(self, skyline: Skyline) -> int | None:
        """The column of the cursor."""
        number = self.cursor if self.replies else self.known.window_revision(self.cursor)
        return _place(skyline, number)


class _Chart(Struct, frozen=True):
    """The columns for a width: each `cells` wide, with a gap after it."""

    skyline: Skyline
    cells: int
    gap: int
    styles: Mapping[str, SegmentStyle]
    letters: bool
    at: int | None
    room: int

    @property
    def per(self) -> int:
        return self.cells + self.gap


def draw_skyline(drawing: SkylineDrawing, cells: int, rows: int) -> list[Line]:
    """The whole view: both charts, their events, and what happened at the cursor."""
    if rows < LEAST_ENLARGED:
        strip = strip_line(drawing.known, drawing.cursor, cells, letters=drawing.letters)
        return [fit(_headline(drawing, _chart(drawing, cells)), cells), strip]
    return _boxed(drawing, cells, rows) if _is_boxed(cells, rows) else _plain(drawing, cells, rows)


def column_at(drawing: SkylineDrawing, cells: int, rows: int) -> tuple[Skyline, int | None]:
    """The skyline that `draw_skyline` draws for a size, and the place of the cursor in it."""
    inside = cells - INSIDE if _is_boxed(cells, rows) else cells
    skyline = drawing.build(inside - AXIS)
    return skyline, drawing.place(skyline)


def column_under(drawing: SkylineDrawing, cells: int, rows: int, x: int) -> SkylineColumn | None:
    """The column at a horizontal place of the drawn charts."""
    margin = INSIDE if _is_boxed(cells, rows) else 0
    chart = _chart(drawing, cells - margin)
    place = x - margin // 2 - AXIS
    at = place // chart.per
    return chart.skyline.columns[at] if place >= 0 and at < len(chart.skyline.columns) else None


def column_text(drawing: SkylineDrawing, column: SkylineColumn) -> str:
    """A column in a line: its name, its figure and its events."""
    used = f"{column.used:,}" if column.used is not None else ""
    events = [event.text for event in column.events if event.kind != "shown"]
    return ": ".join(filter(None, (drawing.known.names[column.number].name, ", ".join([used, *events][:3]))))


def strip_line(known: KnownRevisions, cursor: int, cells: int, *, letters: bool = False) -> Line:
    """The window over time in one row, the range of revisions, and the fullest one."""
    tail_room = min(26, cells // 3)
    wide = 3
    skyline = build_skyline(known, max(1, (cells - tail_room) // wide))
    if skyline.each > 1:
        wide = 1
        skyline = build_skyline(known, max(1, cells - tail_room))
    top = max([skyline.limit or 0, *(each.used or 0 for each in skyline.columns)])
    if not top:
        return show("no figures over time" if known.facts else "reading…", "dim")
    at = _place(skyline, cursor)
    spans: list[Span] = []
    for place, column in enumerate(skyline.columns):
        step = meter_step(min(1.0, (column.used or 0) / top)) if column.used else None
        sign = " " if step is None else str(step + 1) if letters else LEVELS[step]
        style = "strong" if place == at else "segment.elsewhere"
        spans.append(Span(sign * (2 if wide == 3 else 1), style))
        spans.append(Span(" " if wide == 3 else ""))
    labels = column_labels(known, skyline)
    fullest = f", {labels[skyline.fullest]} fullest" if skyline.fullest is not None else ""
    alone = "nothing to compare yet" if len(known.names) < 2 else "no figure of another revision"
    text = f"{labels[0]} to {labels[-1]}{fullest}" if len(labels) > 1 else alone
    return fit(join(tuple(merge(spans)), show(text, "dim"), gap=" "), cells)


def small_chart(drawing: SkylineDrawing, cells: int, rows: int) -> list[Line]:
    """The window chart with its labels, as a part of the overview; where there is room, both charts."""
    chart = _chart(drawing, cells - 12)
    enlarged: list[Line] = []
    if rows >= LEAST_BOTH and chart.skyline.names:
        enlarged = [_legend(chart, cells - 12 - AXIS), *_enlarged(chart, rows // 3)]
    lines = _window_chart(chart, rows - 1 - len(enlarged))
    notes = [show("limit", "limit") if chart.skyline.limit else ()]
    notes += _window_legend(chart, "not here", "here")[: max(0, rows - 3)]
    body = [*lines, _labels(drawing, chart), *enlarged]
    return side_by_side((body, cells - 12), ([(), *notes], 12))


def _plain(drawing: SkylineDrawing, cells: int, rows: int) -> list[Line]:
    chart = _chart(drawing, cells)
    has_parts = bool(chart.skyline.names) and rows >= 18
    free = rows - (7 if has_parts else 6)
    upper = (free * 4 + 6) // 7 if has_parts else free
    lines = [join((Span(" "),), _headline(drawing, chart)), *_window_chart(chart, upper + 1)]
    lines += [_labels(drawing, chart), _events(chart, "events")]
    if has_parts:
        lines += [_legend(chart, cells - AXIS), *_enlarged(chart, free - upper)]
    return [fit(line, cells) for line in [*lines, *_at_cursor(drawing, chart, cells)]]


def _boxed(drawing: SkylineDrawing, cells: int, rows: int) -> list[Line]:
    inside = cells - INSIDE
    chart = _chart(drawing, inside)
    details = _cursor_box(drawing, chart, cells)
    free = rows - len(details) - 2 - 3 - 2
    has_parts = bool(chart.skyline.names)
    upper = free * 10 // 19 if has_parts else free + 2
    body = [*_window_chart(chart, upper + 1), _labels(drawing, chart), _events(chart, "event")]
    headline = _headline(drawing, chart)
    window_legend = filled(_window_legend(chart, ELSEWHERE, drawing.own), cells - width(headline) - 10, "  ")
    lines = box(headline, body, cells, end=join(*window_legend[:1]))
    if has_parts:
        fullest = max(chart.skyline.columns, key=lambda each: each.here)
        name = drawing.known.names[fullest.number].name
        title = f"{drawing.own.capitalize()}, enlarged: largest {fullest.here:,} in {name}"
        legend = filled(_segments_legend(chart), cells - len(title) - 10, " ")[:1]
        lines += box(show(title, "title"), _enlarged(chart, free - upper), cells, end=join(*legend))
    return [*lines, *details]


def _legend(chart: _Chart, cells: int) -> Line:
    entries = [show("enlarged:", "dim"), *_segments_legend(chart)]
    return join((Span(" " * AXIS),), *filled(entries, cells, " ")[:1])


def _segments_legend(chart: _Chart) -> list[Line]:
    return [legend_entry(name, name, chart.styles, letters=chart.letters) for name in chart.skyline.names]


def _window_legend(chart: _Chart, elsewhere: str, here: str) -> list[Line]:
    """What is elsewhere and what is here; where all is here, the segments."""
    if not _has_elsewhere(chart.skyline):
        return _segments_legend(chart)
    pairs = ((ELSEWHERE, elsewhere), (HERE, here))
    return [legend_entry(name, text, chart.styles, letters=chart.letters) for name, text in pairs]


def _headline(drawing: SkylineDrawing, chart: _Chart) -> Line:
    answer, more = fullest_sentences(drawing.known, chart.skyline)
    is_known = chart.skyline.fullest is not None
    return join(show(answer, "strong" if is_known else "dim"), show(more, "dim"))


def _chart(drawing: SkylineDrawing, cells: int) -> _Chart:
    room = cells - AXIS
    skyline = drawing.build(room)
    per = min(WIDEST_COLUMN, max(1, room // max(1, len(skyline.columns))))
    gap = 1 if per > 1 else 0
    styles = segment_styles(skyline.names, drawing.tiers, drawing.own)
    at = drawing.place(skyline)
    return _Chart(skyline, per - gap, gap, styles, drawing.letters, at, room)


def _place(skyline: Skyline, number: int) -> int | None:
    """The column of a revision; one that has none, such as a copy, belongs to the column before it."""
    places = [place for place, each in enumerate(skyline.columns) if each.first <= number]
    return places[-1] if places else None


def _is_boxed(cells: int, rows: int) -> bool:
    return cells >= BOXED and rows >= LEAST_ROWS


def _window_chart(chart: _Chart, rows: int) -> list[Line]:
    """The limit as a level line and the columns below it; a limit that is exceeded is a line in the chart."""
    skyline = chart.skyline
    most = max((each.used or 0 for each in skyline.columns), default=0)
    limit = skyline.limit or 0
    over = most > limit > 0
    scale = max(most, limit)
    split = _has_elsewhere(skyline)
    stacks = [Stack(_window_parts(each, split=split), chart.cells) for each in skyline.columns]
    body = draw_columns(
        stacks,
        scale,
        rows - 1,
        chart.styles,
        gap=chart.gap,
        letters=chart.letters,
        line_at=limit if over else None,
    )
    line = "=" if chart.letters else "▁"
    wide = max(chart.room, chart.per * len(skyline.columns))
    top: Line = (Span(line * wide, "limit"),) if limit and not over else ()
    labels = {0: short_count(scale), rows // 2: short_count(scale // 2), rows - 1: "0"}
    return [join(_axis(labels.get(row, "")), line) for row, line in enumerate([top, *body])]


def _window_parts(column: SkylineColumn, *, split: bool) -> tuple[tuple[str, int], ...]:
    """What is here and what is elsewhere; without `split`, the segments."""
    if column.is_reply:
        return ()
    used = column.used or 0
    if not split:
        return (*column.parts, (HERE, used - sum(amount for _, amount in column.parts)))
    elsewhere = sum(amount for name, amount in column.parts if name == ELSEWHERE)
    return (HERE, used - elsewhere), (ELSEWHERE, elsewhere)


def _has_elsewhere(skyline: Skyline) -> bool:
    return any(name == ELSEWHERE for each in skyline.columns for name, _ in each.parts)


def _enlarged(chart: _Chart, rows: int) -> list[Line]:
    stacks = [
        Stack(tuple(part for part in each.parts if part[0] != ELSEWHERE), chart.cells, each.is_reply)
        for each in chart.skyline.columns
    ]
    scale = chart.skyline.largest
    body = draw_columns(stacks, scale, max(1, rows), chart.styles, gap=chart.gap, letters=chart.letters)
    labels = {0: f"{scale:,}" if scale < 100_000 else short_count(scale), rows - 1: "0"}
    return [join(_axis(labels.get(row, "")), line) for row, line in enumerate(body)]


def _axis(text: str) -> Line:
    return (Span(f"{text:>{AXIS - 2}}  ", "dim"),)


def _labels(drawing: SkylineDrawing, chart: _Chart) -> Line:
    """The names of the columns; every fifth, or fewer, when they are too narrow. An m marks a column."""
    labels = [
        f"m{label}" if any(column.first <= each <= column.last for each in drawing.marked) else label
        for label, column in zip(
            column_labels(drawing.known, chart.skyline), chart.skyline.columns, strict=True
        )
    ]
    widest = max(map(len, labels), default=1)
    every = next(step for step in (1, 2, 5, 10, 20, 50, 100, 500, 10_000) if step * chart.per > widest)
    spans = [Span(" " * AXIS)]
    # The column at the cursor is always named, in the place of the label that it would cover.
    at = chart.at
    places = [each for each in range(0, len(labels), every) if at is None or abs(each - at) >= every]
    places = sorted([*places, *([at] if at is not None else [])])
    for place, following in zip(places, [*places[1:], len(labels)], strict=True):
        gap = place * chart.per + AXIS - sum(len(span.text) for span in spans)
        style = "stage.chosen" if place == at else "key" if labels[place][:1] == "m" else "dim"
        text = labels[place].center(chart.cells)[: max(chart.cells, len(labels[place]))]
        room = (following - place) * chart.per
        spans += [Span(" " * max(0, gap)), Span(text, style), Span(" " * max(0, room - len(text)))]
    return tuple(merge(spans))


def _events(chart: _Chart, title: str) -> Line:
    spans = [Span(f" {title:<{AXIS - 1}}", "dim")]
    kinds = list(EVENT_SIGNS)
    for column in chart.skyline.columns:
        found = sorted({event.kind for event in column.events}, key=kinds.index)
        room = max(1, (chart.per + 1) // 2) if chart.per > 1 else 1
        shown = sorted(found[:room], key=lambda kind: kind in ("loss", "cut"))
        signs: Line = join(*((Span(*EVENT_SIGNS[kind]),) for kind in shown), gap=" ")
        left = max(0, (chart.cells - width(signs)) // 2)
        spans += [Span(" " * left), *signs, Span(" " * (chart.per - left - width(signs)))]
    return tuple(merge(spans))


def _at_cursor(drawing: SkylineDrawing, chart: _Chart, cells: int) -> list[Line]:
    """Two lines about the column at the cursor."""
    known, number = drawing.known, known_number(drawing)
    name = known.names[number]
    growth = growth_at(known, number)
    total = sum(each.amount for each in growth)
    since = (
        f"{signed(total)} since {known.names[name.previous].name}"
        if growth and name.previous is not None
        else unchanged_text(known, number)
    )
    events = [event for event in _column_events(chart) if event.kind != "shown"]
    first = events[0] if events and events[0].kind == "stage" else None
    rest = [event for event in events if event is not first]
    time = f" {name.time[11:16]}" if name.time and len(name.time) > 15 else ""
    head = show(f" {name.name[:1].upper()}{name.name[1:]}{time}", "strong")
    stage = show(f"▲ {first.text}", "severity.warning") if first is not None else ()
    lines = [fit(join(head, stage, show(since), gap="   "), cells)]
    for event in rest[:1]:
        sign, style = EVENT_SIGNS[event.kind]
        rule = f" {event.rule}" if event.rule else ""
        lines.append(ends(show(f" {sign} {event.text}{rule}", style), show(". ", "key"), cells))
    return lines if len(lines) > 1 else [*lines, ()]


def known_number(drawing: SkylineDrawing) -> int:
    """The revision whose window the cursor is on."""
    return drawing.known.window_revision(drawing.cursor)


def _column_events(chart: _Chart) -> Sequence[RevisionEvent]:
    return chart.skyline.columns[chart.at].events if chart.at is not None else ()


def _cursor_box(drawing: SkylineDrawing, chart: _Chart, cells: int) -> list[Line]:
    """Growth by segment at the left, events at the right."""
    known, number = drawing.known, known_number(drawing)
    name = known.names[number]
    half = (cells - INSIDE) // 2
    growth = growth_at(known, number)
    total = sum(each.amount for each in growth)
    left: list[Line] = [show(unchanged_text(known, number), "dim")]
    if growth and name.previous is not None:
        left = [show(f"{signed(total)} since {known.names[name.previous].name}", "strong")]
        most = max(abs(each.amount) for each in growth)
        for each in sorted(growth, key=lambda each: -abs(each.amount))[:4]:
            meter = "█" * max(1, round(abs(each.amount) * 18 / most))
            entry = legend_entry(each.name, each.name, chart.styles, letters=chart.letters)
            left.append(
                join(
                    pad(entry, 26),
                    show(f"{signed(each.amount):>8}  "),
                    (Span(meter, chart.styles[each.name].style),),
                )
            )
    right: list[Line] = []
    for event in _column_events(chart):
        sign, style = EVENT_SIGNS[event.kind]
        key = show("." if event.kind == "loss" else "", "key")
        right.append(ends(show(f"{sign} {event.text}", style), key, cells - INSIDE - half))
        rule = f"; {event.rule}" if event.rule else ""
        if event.detail or rule:
            right.append(show(f"  {event.detail}{rule}".replace("  ; ", "  "), "dim"))
    body = side_by_side((left, half), (right, cells - INSIDE - half))
    body = [*body, *([()] * (5 - len(body)))][:6]
    time = f", {time_text(name.time)}" if name.time else ""
    title = show(f"At the cursor: {name.name}{time}", "title")
    end = join(show("Enter", "key"), show("go there"), gap=" ") if drawing.leads else ()
    return box(title, body, cells, end=end)
