"""The memory pane: its columns for a width, the rows of blocks, and figures over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len

from ctxview.core.state import Block
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.glyphs import gauge_spark, tier_styles, visibility_spark
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.rows import EMPTY_TEXT, gap_order
from ctxview.tui.drawing.text import (
    Line,
    Span,
    fit,
    join,
    pad,
    preview,
    shorten,
    show,
    styled,
    width,
    wrap_to,
)
from ctxview.tui.model.change_marks import ChangeMark
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.query import SortOrder
from ctxview.tui.model.reading_index import ItemKind
from ctxview.tui.model.trends import Gauge, PastTrends, gauge_of
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.pane import PaneWidget, empty_page

GAUGE = 4
"""Cells of the number beside a gauge."""

ROOMY = 96
LEAST_TEXT = 22


class MemoryColumns(Struct, frozen=True):
    """Widths in cells, 0 for no column. Decay and confidence are 1 or 0, `bar` wide each."""

    tier: int
    id: int
    type: int
    bar: int
    decay: int
    confidence: int
    quality: int
    age: int
    tokens: int
    text: int = 0

    @property
    def indent(self) -> int:
        """Where the second line of a row begins: under the id."""
        return 3 + (self.tier + 1 if self.tier else 0)

    @property
    def taken(self) -> int:
        """Cells of all columns except the text, including gaps."""
        gauges = [self.decay and self.bar + GAUGE, self.confidence and self.bar + GAUGE]
        widths = [2, self.tier, self.id, self.type, *gauges, self.quality, self.age, self.tokens]
        return sum(each + 1 for each in widths if each)

    def header(self, sort: SortOrder, reverse: bool) -> Line:
        gauge = self.bar + GAUGE
        named: list[tuple[str, int, SortOrder | None, bool]] = [
            ("tier", self.tier, SortOrder.FILE, False),
            ("id", self.id, None, False),
            ("type", self.type, None, False),
            ("decay", self.decay and gauge, SortOrder.DECAY, False),
            ("conf" if gauge < 10 else "confidence", self.confidence and gauge, SortOrder.CONFIDENCE, False),
            ("qual", self.quality, SortOrder.QUALITY, True),
            ("age", self.age, SortOrder.AGE, True),
            ("tok", self.tokens, SortOrder.TOKENS, True),
            ("text", self.text, SortOrder.MODEL, False),
        ]
        cells = [
            _heading(name, width, key, right, sort, reverse) for name, width, key, right in named if width
        ]
        return join((Span("  "),), *cells, gap=" ")


def memory_columns(width: int, blocks: Sequence[Block]) -> MemoryColumns:
    """The columns that fit: the least important ones are left out first, and the text keeps its share."""
    roomy = width >= ROOMY
    full = MemoryColumns(
        tier=_widest((block.tier for block in blocks), 4, 10 if not roomy else 14),
        id=_widest((block.id for block in blocks), 4, 24 if width >= 150 else 18 if roomy else 14),
        type=_widest((block.type or "" for block in blocks), 4, 16 if roomy else 9),
        bar=8 if width >= 130 else 4 if roomy else 1,
        decay=1,
        confidence=1,
        quality=4,
        age=4,
        tokens=5,
    )
    full = _without_empty(full, blocks)
    drop: list[Callable[[MemoryColumns], MemoryColumns]] = [
        lambda columns: replace(columns, bar=1),
        lambda columns: replace(columns, type=min(columns.type, 8)),
        lambda columns: replace(columns, quality=0),
        lambda columns: replace(columns, age=0),
        lambda columns: replace(columns, tokens=0),
        lambda columns: replace(columns, type=0),
        lambda columns: replace(columns, id=min(columns.id, 10)),
        lambda columns: replace(columns, tier=min(columns.tier, 5)),
        lambda columns: replace(columns, tier=0),
    ]
    for step in drop:
        if width - full.taken >= LEAST_TEXT:
            break
        full = step(full)
    return replace(full, text=max(0, width - full.taken))


def _without_empty(columns: MemoryColumns, blocks: Sequence[Block]) -> MemoryColumns:
    """Leave out the columns for which no block has a value."""
    used = {
        "decay": any(block.decay is not None for block in blocks),
        "confidence": any(block.confidence is not None for block in blocks),
        "quality": any(block.quality is not None for block in blocks),
        "age": any(block.age is not None for block in blocks),
        "tokens": any(block.tokens is not None for block in blocks),
        "type": any(block.type for block in blocks),
    }
    return replace(columns, **{name: 0 for name, is_used in used.items() if not is_used})


def _heading(
    name: str, width: int, key: SortOrder | None, right: bool, sort: SortOrder, reverse: bool
) -> Line:
    action = f"screen.sort_by('{key.name}')" if key is not None else ""
    current = key is sort and sort is not SortOrder.FILE
    arrow = ("▴" if reverse else "▾") if current else ""
    if name == "text" and current:
        name = "text, as the model reads"
    label = (name[: width - len(arrow)] + arrow)[:width]
    blank = " " * (width - len(label))
    text = Span(label, "link" if current else "dim", action)
    return (Span(blank), text) if right else (text, Span(blank))


def _widest(words: Iterable[str], least: int, most: int) -> int:
    return min(most, max(least, max((cell_len(word) for word in words), default=0)))


NAMES = 11
"""Cells of the name before a spark line."""

CELLS = 12
WIDEST = 30

FIGURES: tuple[tuple[str, Callable[[Gauge], float | None]], ...] = (
    ("decay", lambda gauge: gauge.decay),
    ("confidence", lambda gauge: gauge.confidence),
)


def block_lines(block: Block, view: ViewState, cells: int) -> Iterator[Line]:
    """Decay and confidence, over time if they changed, and since when the block is hidden or shown."""
    gauges, at, labels = _past_of(block, view)
    room = min(WIDEST, max(CELLS, cells - NAMES - 26))
    for name, value in FIGURES:
        now = value(gauge_of(block))
        if now is None:
            continue
        known = [share for gauge in gauges[: at + 1] if gauge and (share := value(gauge)) is not None]
        since = f"since {labels[0]}" if len(known) > 1 else ""
        picture = gauge_spark(gauges, at, room, value, name) or _value_rail(now, name, CELLS)
        if len(set(known)) > 1:
            yield _row(name, picture, f"{known[0]:g} → {now:g}", since, cells)
        else:
            yield _row(name, picture, f"{now:g}", f"unchanged {since}" if since else "", cells)
    visible = [gauge.visible if gauge is not None else None for gauge in gauges]
    if {True, False} <= set(visible):
        since = _visible_since(visible[: at + 1], labels)
        yield _row("shown", visibility_spark(gauges, at, room), since, "", cells)


def _value_rail(value: float, ramp: str, cells: int) -> Line:
    """A value from 0 to 1 without a past, as a rail."""
    heavy, light = glyphs.meter_rail(value, cells)
    return Span(heavy, f"{ramp}.{glyphs.meter_step(value)}"), Span(light, "faint")


def _row(name: str, picture: Line, text: str, more: str, cells: int) -> Line:
    """A figure with its picture and text, and `more` text if there is room."""
    label, value = (Span(f"{name:<{NAMES}}", "dim"),), show(f" {text}")
    head = join(label, picture, value)
    if width(head) > cells and picture and not picture[-1].text.strip():
        head = join(label, picture[:-1], value)
    whole = join(head, show(more, "dim"), gap=" ")
    return whole if width(whole) <= cells else fit(head, cells)


def _past_of(block: Block, view: ViewState) -> tuple[list[Gauge | None], int, Sequence[str]]:
    """Gauges, present position and labels, from the first revision that has the block."""
    past = view.past
    if past is None:
        return [], 0, ()
    gauges = past.gauges(block)
    first = next((place for place, gauge in enumerate(gauges) if gauge is not None), 0)
    return gauges[first:], past.place - first, past.labels[first:]


def _visible_since(visible: Sequence[bool | None], labels: Sequence[str]) -> str:
    """Since which revision the present visibility holds, as far as it is known."""
    now = visible[-1] if visible else None
    if now is None:
        return ""
    start = len(visible)
    while start and visible[start - 1] in (now, None):
        start -= 1
    if not start:
        return "so far" if now else "not yet"
    again = "again " if True in visible[:start] else ""
    return f"{again}since {labels[start]}" if now else f"hidden since {labels[start]}"


INLINE = 64
"""From this width of the text column on, the reason is beside the text instead of below it."""

CHANGED = {ChangeMark.ADDED: "+", ChangeMark.CHANGED: "~", ChangeMark.VERDICT: "!"}


class MemoryPane(PaneWidget):
    pane = Pane.MEMORY

    def __init__(self) -> None:
        super().__init__()
        self.sort: SortOrder = SortOrder.FILE
        self.reverse = False

    def differs(self, before: ViewState, after: ViewState) -> bool:
        return before is not after

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        if not view.blocks:
            return _empty(view, width)
        rows, index = view.blocks, view.index
        columns = memory_columns(width, [index.block(row) for row in rows[:500]])
        inline = columns.text >= INLINE
        styles = tier_styles(tier.name for tier in index.reading.state.tiers)
        past = view.past if columns.bar > 1 else None

        def draw(row: int, depth: int) -> Sequence[Line]:
            block = index.block(rows[row])
            first = row == 0 or rows[row - 1].within != rows[row].within
            cells = _cells(block, columns, styles[block.tier], view.changes.get(rows[row]), past, first=first)
            text, *more = _text(block, columns.text, depth, inline=inline and depth == 1)
            lines = [
                join(*cells, text, gap=" "),
                *(join((Span(" " * columns.taken),), line) for line in more),
            ]
            if _hidden(block) and not (inline and depth == 1):
                reason = join((Span(" " * columns.indent), Span("└ ", "faint")), _reason(block))
                lines.append(fit(reason, width))
            return lines

        def heights() -> list[int]:
            return [1 if inline else 1 + _hidden(index.block(row)) for row in rows]

        header = columns.header(self.sort, self.reverse)
        return Page.roomy(len(rows), draw, lambda row: rows[row], room, heights, (header,))

    @property
    def draws_past(self) -> bool:
        """Whether the pane is wide enough for figures over time."""
        return self.content_size.width > ROOMY

    def holds(self, view: ViewState) -> bool:
        return bool(view.index.of(ItemKind.BLOCK))

    def count(self, view: ViewState) -> str:
        total = len(view.index.of(ItemKind.BLOCK))
        return str(total) if len(view.blocks) == total else f"{len(view.blocks)} of {total}"


def _hidden(block: Block) -> bool:
    return block.visible is False and bool(block.reason)


def _cells(
    block: Block,
    columns: MemoryColumns,
    tier_style: str,
    change: ChangeMark | None,
    past: PastTrends | None,
    *,
    first: bool,
) -> list[Line]:
    """All columns before the text."""
    hidden = block.visible is False
    quiet = "hidden" if hidden else ""
    verdict = {True: glyphs.YES, False: glyphs.NO, None: glyphs.UNSAID}[block.visible]
    verdict_style = {True: "visible.yes", False: "visible.no", None: "faint"}[block.visible]
    cells: list[Line] = [
        (
            Span(CHANGED[change] if change else " ", f"changed.{change}" if change else ""),
            Span(verdict, verdict_style),
        )
    ]
    if columns.tier:
        cells.append(pad(show(block.tier, f"bold {tier_style}" if first else tier_style), columns.tier))
    id_style = quiet or ("strong" if columns.tier else f"bold {tier_style}")
    cells.append(pad(show(shorten(block.id, columns.id), id_style), columns.id))
    if columns.type:
        cells.append(pad(show(block.type or "", quiet or "rule"), columns.type))
    gauges, at = (past.gauges(block), past.place) if past is not None else ([], 0)
    for name, value in FIGURES:
        if getattr(columns, name):
            spark = gauge_spark(gauges, at, columns.bar, value, name)
            cells.append(_gauge(value(gauge_of(block)), name, columns.bar, spark))
    if columns.quality:
        cells.append(pad(show(glyphs.share(block.quality), quiet), columns.quality, right=True))
    if columns.age:
        cells.append(pad(show(glyphs.short_count(block.age), quiet), columns.age, right=True))
    if columns.tokens:
        cells.append(pad(show(glyphs.short_count(block.tokens), quiet or "dim"), columns.tokens, right=True))
    return cells


def _gauge(value: float | None, ramp: str, cells: int, past: Line) -> Line:
    """A value as picture and number; in more than one cell, the picture is its past, or else a rail."""
    number = pad(show(glyphs.share(value)), GAUGE, right=True)
    if value is None:
        return join((Span(" " * cells),), number)
    if cells == 1:
        return join((Span(glyphs.level(value), f"{ramp}.{glyphs.meter_step(value)}"),), number)
    if past:
        return join(pad(past, cells, right=True), number)
    return join(_value_rail(value, ramp, cells), number)


def _text(block: Block, cells: int, depth: int, *, inline: bool) -> list[Line]:
    """The beginning of the text, in at most `depth` lines."""
    quiet = "hidden" if block.visible is False else ""
    # The usual states are left out; the others change how the text is to be read.
    label = show(f"{block.state} ", quiet or "accent") if block.state not in {None, "active", "open"} else ()
    text = join(label, preview(block.text, quiet, limit=cells * depth * 2 + 20) or (EMPTY_TEXT,))
    if not inline or not _hidden(block):
        return wrap_to(text, cells, depth) if depth > 1 else [fit(text, cells)]
    reason = _reason(block)
    room = max(cells // 3, cells - width(reason) - 2)
    return [fit(join(fit(text, room), reason, gap="  "), cells)]


def _reason(block: Block) -> Line:
    return join((Span("hidden: ", "visible.no"),), styled(preview(block.reason or "", ""), "warn"))


def _empty(view: ViewState, width: int) -> Page:
    if view.index.of(ItemKind.BLOCK):
        return empty_page(width, "No block passes the filter.", "Press f to change it, Esc to clear it.")
    if not view.index.reading.state.tiers:
        lost = min(view.index.reading.state.missing, key=gap_order, default=None)
        reason = [f"{lost.question}: {lost.why}"] if lost is not None else []
        return empty_page(width, "This source has no memory blocks.", *reason)
    names = ", ".join(tier.name for tier in view.index.reading.state.tiers)
    sentences = [f"The memory is empty: no blocks in {names}."]
    if any(tier.new is not None for tier in view.index.reading.state.tiers):
        sentences.append("Press a to add a block.")
    return empty_page(width, *sentences)
