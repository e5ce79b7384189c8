"""The heart of the inspector: one row a block, with what became of it and why."""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.state import Block
from ctxview.tui import glyphs
from ctxview.tui.layout import Pane
from ctxview.tui.marks import Change
from ctxview.tui.panes.memory_columns import GAUGE, ROOMY, Columns, plan
from ctxview.tui.panes.pane import PaneLines, nothing
from ctxview.tui.panes.past import FIGURES, rail
from ctxview.tui.panes.rows import EMPTY_TEXT, gap_order
from ctxview.tui.session_view import Shown, Sort
from ctxview.tui.sparks import gauge_spark
from ctxview.tui.text import Line, Span, fit, join, pad, preview, shorten, show, styled, width, wrap_to
from ctxview.tui.things import Kind, Thing
from ctxview.tui.tiers import tier_styles
from ctxview.tui.trends import Past, gauge_of
from ctxview.tui.widgets.page import Page

INLINE = 64
"""From this width of the text column on the reason stands beside the text instead of below it."""

CHANGED = {Change.ADDED: "+", Change.CHANGED: "~", Change.VERDICT: "!"}


class MemoryPane(PaneLines):
    pane = Pane.MEMORY

    def __init__(self) -> None:
        super().__init__()
        self.sort: Sort = Sort.FILE
        self.reverse = False

    def differs(self, before: Shown, after: Shown) -> bool:
        return before is not after

    def draw(self, shown: Shown, width: int, room: int) -> Page:
        if not shown.blocks:
            return _empty(shown, width)
        rows, index = shown.blocks, shown.index
        columns = plan(width, [index.block(row) for row in rows[:500]])
        inline = columns.text >= INLINE
        styles = tier_styles(tier.name for tier in index.reading.state.tiers)
        past = shown.past if columns.bar > 1 else None

        def draw(row: int, depth: int) -> Sequence[Line]:
            block = index.block(rows[row])
            first = row == 0 or rows[row - 1].within != rows[row].within
            cells = _cells(
                block, columns, styles[block.tier], shown.changes.get(rows[row]), past, first=first
            )
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
        """Whether it is wide enough for pictures over time."""
        return self.content_size.width > ROOMY

    def holds(self, shown: Shown) -> bool:
        return bool(shown.index.of(Kind.BLOCK))

    def count(self, shown: Shown) -> str:
        total = len(shown.index.of(Kind.BLOCK))
        return str(total) if len(shown.blocks) == total else f"{len(shown.blocks)} of {total}"


def _hidden(block: Block) -> bool:
    return block.visible is False and bool(block.reason)


def _cells(
    block: Block, columns: Columns, tier_style: str, change: Change | None, past: Past | None, *, first: bool
) -> list[Line]:
    """Everything before the text."""
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
    """A value as a picture and a number: in one cell a column; in more its past, or a rail if it has none."""
    number = pad(show(glyphs.share(value)), GAUGE, right=True)
    if value is None:
        return join((Span(" " * cells),), number)
    if cells == 1:
        return join((Span(glyphs.level(value), f"{ramp}.{glyphs.step(value)}"),), number)
    if past:
        return join(pad(past, cells, right=True), number)
    return join(rail(value, ramp, cells), number)


def _text(block: Block, cells: int, depth: int, *, inline: bool) -> list[Line]:
    """The beginning of the text, at most `depth` lines of it."""
    quiet = "hidden" if block.visible is False else ""
    label = show(f"{block.state} ", quiet or "accent") if _telling(block.state) else ()
    text = join(label, preview(block.text, quiet, limit=cells * depth * 2 + 20) or (EMPTY_TEXT,))
    if not inline or not _hidden(block):
        return wrap_to(text, cells, depth) if depth > 1 else [fit(text, cells)]
    reason = _reason(block)
    room = max(cells // 3, cells - width(reason) - 2)
    return [fit(join(fit(text, room), reason, gap="  "), cells)]


def _reason(block: Block) -> Line:
    return join((Span("hidden: ", "visible.no"),), styled(preview(block.reason or "", ""), "warn"))


def _telling(state: str | None) -> bool:
    """Everyday states say nothing; the others change how the text is to be read."""
    return state is not None and state not in {"active", "open"}


def _empty(shown: Shown, width: int) -> Page:
    if shown.index.of(Kind.BLOCK):
        return nothing(width, "No block passes the filter.", "Press f to change it, Esc to clear it.")
    if not shown.index.reading.state.tiers:
        lost = min(shown.index.reading.state.missing, key=gap_order, default=None)
        told = [f"{lost.question}: {lost.why}"] if lost is not None else []
        return nothing(width, "There are no memory blocks here.", *told)
    names = ", ".join(tier.name for tier in shown.index.reading.state.tiers)
    sentences = [f"The memory is empty: nothing in {names}."]
    if any(tier.new is not None for tier in shown.index.reading.state.tiers):
        sentences.append("Press a to add a block.")
    return nothing(width, *sentences)


def tier_of(thing: Thing | None) -> str | None:
    return thing.within if thing is not None and thing.kind is Kind.BLOCK else None
