"""The memory pane: its columns for a width, the rows of blocks, and figures over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len

from ctxview.core.figures import Figure
from ctxview.core.state import Block
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.glyphs import gauge_spark, ramp_of, tier_styles, visibility_spark
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
from ctxview.tui.model.query import FILE_ORDER, MODEL_ORDER
from ctxview.tui.model.reading_index import ItemKind
from ctxview.tui.model.trends import Gauge, PastTrends, gauge_of
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.pane import PaneWidget, empty_page

GAUGE = 4
"""Cells of the number beside a gauge."""

ROOMY = 96
LEAST_TEXT = 22


class MemoryColumns(Struct, frozen=True):
    """Widths in cells, 0 for no column, and the names of the figures, of which gauges are `bar` wide each."""

    tier: int
    id: int
    type: int
    bar: int
    gauges: tuple[str, ...]
    numbers: tuple[tuple[str, int], ...]
    """The names and widths of figures that are only numbers."""
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
        figures = [self.bar + GAUGE] * len(self.gauges) + [cells for _, cells in self.numbers]
        widths = [2, self.tier, self.id, self.type, *figures, self.age, self.tokens]
        return sum(each + 1 for each in widths if each)

    def header(self, sort: str, reverse: bool) -> Line:
        gauge = self.bar + GAUGE
        named: list[tuple[str, int, str | None, bool]] = [
            ("tier", self.tier, FILE_ORDER, False),
            ("id", self.id, None, False),
            ("type", self.type, None, False),
            *((_short(name, gauge), gauge, name, False) for name in self.gauges),
            *((_short(name, cells), cells, name, True) for name, cells in self.numbers),
            ("age", self.age, "age", True),
            ("tok", self.tokens, "tokens", True),
            ("text", self.text, MODEL_ORDER, False),
        ]
        cells = [
            _heading(name, width, key, right, sort, reverse) for name, width, key, right in named if width
        ]
        return join((Span("  "),), *cells, gap=" ")


def _short(name: str, cells: int) -> str:
    return name if len(name) <= cells else name[:4]


def memory_columns(width: int, blocks: Sequence[Block]) -> MemoryColumns:
    """The columns that fit: the least important ones are left out first, and the text keeps its share."""
    roomy = width >= ROOMY
    figures = {figure.name: figure for block in blocks for figure in block.figures}
    full = MemoryColumns(
        tier=_widest((block.tier for block in blocks), 4, 10 if not roomy else 14),
        id=_widest((block.id for block in blocks), 4, 24 if width >= 150 else 18 if roomy else 14),
        type=_widest((block.type or "" for block in blocks), 4, 16 if roomy else 9),
        bar=8 if width >= 130 else 4 if roomy else 1,
        gauges=tuple(name for name, each in figures.items() if each.scale is not None),
        numbers=tuple(
            (name, 5 if isinstance(each.value, int) else 4)
            for name, each in figures.items()
            if each.scale is None
        ),
        age=4,
        tokens=5,
    )
    full = _without_empty(full, blocks)
    drop: list[Callable[[MemoryColumns], MemoryColumns]] = [
        lambda columns: replace(columns, bar=1),
        lambda columns: replace(columns, type=min(columns.type, 8)),
        lambda columns: replace(columns, numbers=()),
        lambda columns: replace(columns, age=0),
        lambda columns: replace(columns, tokens=0),
        lambda columns: replace(columns, gauges=columns.gauges[:2]),
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
        "age": any(block.age is not None for block in blocks),
        "tokens": any(block.tokens is not None for block in blocks),
        "type": any(block.type for block in blocks),
    }
    return replace(columns, **{name: 0 for name, is_used in used.items() if not is_used})


def _heading(name: str, width: int, key: str | None, right: bool, sort: str, reverse: bool) -> Line:
    action = f"screen.sort_by('{key}')" if key is not None else ""
    current = key == sort and sort != FILE_ORDER
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


def block_lines(block: Block, view: ViewState, cells: int) -> Iterator[Line]:
    """The gauges, over time if they changed, and since when the block is hidden or shown."""
    gauges, at, labels = _past_of(block, view)
    room = min(WIDEST, max(CELLS, cells - NAMES - 26))
    for now in gauge_of(block).figures:
        known = [found.value for gauge in gauges[: at + 1] if gauge and (found := gauge.figure(now.name))]
        since = f"since {labels[0]}" if len(known) > 1 else ""
        picture = gauge_spark(gauges, at, room, now.name) or _value_rail(now, CELLS)
        if len(set(known)) > 1:
            yield _row(now.name, picture, f"{known[0]:g} → {now.value:g}", since, cells)
        else:
            yield _row(now.name, picture, f"{now.value:g}", f"unchanged {since}" if since else "", cells)
    visible = [gauge.visible if gauge is not None else None for gauge in gauges]
    if {True, False} <= set(visible):
        since = _visible_since(visible[: at + 1], labels)
        yield _row("shown", visibility_spark(gauges, at, room), since, "", cells)


def _value_rail(figure: Figure, cells: int) -> Line:
    """A figure without a past, as a rail."""
    heavy, light = glyphs.meter_rail(figure.share, cells)
    return Span(heavy, f"{ramp_of(figure)}.{glyphs.meter_step(figure.share)}"), Span(light, "faint")


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

    def differs(self, before: ViewState, after: ViewState) -> bool:
        return before is not after

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        if not view.blocks:
            return _empty(view, width)
        rows, index = view.blocks, view.index
        columns = memory_columns(width, [index.block(row) for row in rows[:500]])
        inline = columns.text >= INLINE
        styles = tier_styles(index.reading.state.tiers)
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

        header = columns.header(self._model.sort, self._model.reverse)
        return Page.roomy(len(rows), draw, lambda row: rows[row], room, heights, (header,))

    @property
    def draws_past(self) -> bool:
        """Whether the pane is wide enough for figures over time."""
        return self.content_size.width > ROOMY

    def count(self, view: ViewState) -> str:
        total = len(view.index.of(ItemKind.BLOCK))
        return str(total) if len(view.blocks) == total else f"{len(view.blocks)} of {total}"


def _hidden(block: Block) -> bool:
    return block.visible is False and bool(block.why)


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
    figures = {figure.name: figure for figure in block.figures}
    cells += [
        _gauge(figures.get(name), columns.bar, gauge_spark(gauges, at, columns.bar, name))
        for name in columns.gauges
    ]
    cells += [
        pad(show(_number(figures.get(name)), quiet), room, right=True) for name, room in columns.numbers
    ]
    if columns.age:
        cells.append(pad(show(glyphs.short_count(block.age), quiet), columns.age, right=True))
    if columns.tokens:
        cells.append(pad(show(glyphs.short_count(block.tokens), quiet or "dim"), columns.tokens, right=True))
    return cells


def _number(figure: Figure | None) -> str:
    if figure is None or not isinstance(figure.value, int):
        return glyphs.share(figure.value if figure is not None else None)
    return glyphs.short_count(figure.value)


def _gauge(figure: Figure | None, cells: int, past: Line) -> Line:
    """A figure as picture and number; in more than one cell, the picture is its past, or else a rail."""
    number = pad(show(_number(figure)), GAUGE, right=True)
    if figure is None:
        return join((Span(" " * cells),), number)
    if cells == 1:
        style = f"{ramp_of(figure)}.{glyphs.meter_step(figure.share)}"
        return join((Span(glyphs.level(figure.share), style),), number)
    if past:
        return join(pad(past, cells, right=True), number)
    return join(_value_rail(figure, cells), number)


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
    return join((Span("hidden: ", "visible.no"),), styled(preview(block.why, ""), "warn"))


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
