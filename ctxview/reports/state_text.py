"""The state for people reading a terminal or a pipe: what is kept, shown, full and broken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from ctxview.analysis.secrets import mask_secrets
from ctxview.files.visible import visible
from ctxview.findings import Finding
from ctxview.reports.cells import cut, wrapped
from ctxview.reports.console import Console, Style
from ctxview.reports.findings_text import tally
from ctxview.reports.flow_text import flow_lines, sight_lines
from ctxview.reports.table import BLANK, Cell, Column, table_lines
from ctxview.state import Block, Budget, ContextState, Gap, Ref, RefStatus, Segment, Tier, Todo, TodoItem

BARS = "▁▂▃▄▅▆▇█"
METER = 16


def state_lines(state: ContextState, findings: tuple[Finding, ...], console: Console) -> Iterator[str]:
    parts = (
        _header(state, console),
        flow_lines(state.flow, console),
        *_tiers(state.tiers, console),
        sight_lines([*state.blocks()], console),
        _todo(state.todo, console),
        *(_budget(budget, console) for budget in state.budgets),
        _refs(state.refs, console),
        _missing(state, console),
        _findings(state, findings, console),
    )
    for index, part in enumerate(chunk for chunk in map(list, parts) if chunk):
        yield from part if index == 0 else chain([""], part)


def _header(state: ContextState, console: Console) -> Iterator[str]:
    counts = state.counts
    what = visible(f"{state.format} · {state.revision}")
    yield f"{console.paint(visible(state.title), Style.STRONG)}  {what}"
    tokens = f"{'' if counts.tokens_exact else '≈ '}{counts.tokens:,} tokens ({counts.estimator})"
    shown = (
        f"{counts.visible} shown to the model, {counts.hidden} not" if counts.blocks else "nothing in memory"
    )
    yield visible(f"{counts.blocks} {'block' if counts.blocks == 1 else 'blocks'} · {shown} · {tokens}")
    facts = [visible(f"{name} {value}") for name, value in state.extra.items()]
    for line in wrapped(facts, console.width, gap=" · "):
        yield console.paint(line, Style.QUIET)


# -- memory --------------------------------------------------------------------------------------------------

BLOCK_COLUMNS = (
    Column(most=1),
    Column("id", most=26),
    Column("type", most=14, spare=2),
    Column("decay", most=8),
    Column("conf", most=8),
    Column("quality", most=7, right=True, spare=4),
    Column("age", most=6, right=True, spare=1),
    Column("tokens", most=8, right=True, spare=3),
    Column("text"),
)


def _tiers(tiers: Sequence[Tier], console: Console) -> Iterator[Iterator[str]]:
    """All tiers share one table, so that their columns stand under each other."""
    rows = [_block_row(block) for tier in tiers for block in tier.blocks]
    heading, *lines = [*table_lines(BLOCK_COLUMNS, rows, console)] or [""]
    waiting = iter(lines)
    for index, tier in enumerate(tiers):
        yield _tier(tier, [next(waiting) for _ in tier.blocks], heading if index == 0 else None, console)


def _tier(tier: Tier, lines: Sequence[str], heading: str | None, console: Console) -> Iterator[str]:
    hidden = sum(block.visible is False for block in tier.blocks)
    note = "  empty" if not tier.blocks else f"  {hidden} of {len(tier.blocks)} not shown" if hidden else ""
    if heading:
        yield heading
    yield _heading(tier.name, console) + console.paint(note, Style.QUIET)
    for block, line in zip(tier.blocks, lines, strict=True):
        yield line
        if block.visible is False and block.reason:
            yield console.paint(f"    └ not shown: {visible(block.reason)}", Style.WARNING)


def _block_row(block: Block) -> list[Cell]:
    dim = Style.QUIET if block.visible is False else None
    return [
        _mark(block.visible),
        Cell(visible(block.id), Style.STRONG),
        Cell(visible(block.type or ""), dim),
        _gauge(block.decay),
        _gauge(block.confidence),
        Cell("" if block.quality is None else f"{block.quality:.2f}", dim),
        Cell("" if block.age is None else f"{block.age}", dim),
        Cell("" if block.tokens is None else f"{block.tokens:,}", dim),
        Cell(_one_line(block.text, block.state), dim),
    ]


def _mark(shown: bool | None) -> Cell:
    if shown is None:
        return Cell("·", Style.QUIET)
    return Cell("✓", Style.GOOD) if shown else Cell("✗", Style.WARNING)


def _gauge(value: float | None) -> Cell:
    if value is None:
        return BLANK
    level = min(len(BARS) - 1, int(min(1.0, max(0.0, value)) * len(BARS)))
    return Cell(f"{BARS[level]} {value:.2f}")


def _one_line(text: str, state: str | None = None) -> str:
    """Line ends and tabs become spaces, secrets are masked, whatever else cannot be seen is spelled out."""
    note = f"[{state}] " if state else ""
    return visible(note + " ".join(word for word in re.split("[ \t\n]", mask_secrets(text)) if word))


# -- todo ----------------------------------------------------------------------------------------------------


def _todo(todo: Todo | None, console: Console) -> Iterator[str]:
    if todo is None:
        return
    step = f"step {todo.step} of {todo.total}" if todo.step is not None and todo.total is not None else ""
    yield _heading("todo", console) + "  " + visible(" · ".join(filter(None, (todo.summary, step))))
    if todo.cursor:
        cursor = todo.cursor
        target = "" if cursor.target is None else f" {cursor.target}"
        doing = f"{cursor.phase or '?'} → {cursor.next or '?'}{target}"
        note = f"  {cursor.note}" if cursor.note else ""
        yield cut(f"  ▸ {visible(doing + note)}", console.width)
    rows = [_todo_row(item) for item in todo.items]
    yield from table_lines((Column(most=1), Column(most=6, right=True), Column()), rows, console)


def _todo_row(item: TodoItem) -> list[Cell]:
    marks = {
        "done": Cell("✓", Style.GOOD),
        "failed": Cell("✗", Style.BAD),
        "cancelled": Cell("–", Style.QUIET),
    }
    current = Cell("▸", Style.STRONG) if item.current else Cell("○")
    return [
        marks.get(item.status, current),
        Cell("" if item.id is None else str(item.id)),
        Cell(_one_line(item.title), Style.STRONG if item.current else None),
    ]


# -- budget --------------------------------------------------------------------------------------------------

SEGMENT_COLUMNS = (Column(most=24), Column(most=METER), Column(most=14, right=True), Column())


def _budget(budget: Budget, console: Console) -> Iterator[str]:
    yield f"{_heading('budget', console)}  {visible(budget.target)}  {_fill(budget, console)}"
    whole = sum(segment.used for segment in budget.segments)
    rows = [_segment_row(segment, segment.limit or whole) for segment in budget.segments]
    yield from table_lines(SEGMENT_COLUMNS, rows, console)


def _fill(budget: Budget, console: Console) -> str:
    used = "?" if budget.used is None else f"{budget.used:,}"
    text = f"{used} {budget.unit}" if budget.limit is None else f"{used} of {budget.limit:,} {budget.unit}"
    if budget.limit and budget.used is not None:
        text += f" ({budget.used / budget.limit:.0%})"
    if budget.reserved:
        text += f", {budget.reserved:,} reserved"
    if budget.over:
        text += console.paint(f", {budget.over:,} too many", Style.BAD)
    return text


def _segment_row(segment: Segment, whole: int) -> list[Cell]:
    over = segment.limit is not None and segment.used > segment.limit
    limit = "" if segment.limit is None else f"of {segment.limit:,}"
    how = "" if segment.exact else f"≈ {segment.estimator or 'estimate'}"
    return [
        Cell(visible(segment.name)),
        Cell(meter(segment.used, whole), Style.BAD if over else None),
        Cell(f"{segment.used:,}", Style.BAD if over else None),
        Cell(visible("  ".join(filter(None, (limit, how)))), Style.QUIET),
    ]


def meter(used: int, whole: int) -> str:
    """A bar for the share of the whole; never empty when something is used."""
    share = used / whole if whole > 0 else 0
    cells = min(METER, max(1 if used > 0 else 0, round(share * METER)))
    return "█" * cells + "░" * (METER - cells)


# -- references and gaps -------------------------------------------------------------------------------------

REF_STYLES = {
    RefStatus.RESOLVED: Style.GOOD,
    RefStatus.DANGLING: Style.BAD,
    RefStatus.MISMATCH: Style.BAD,
    RefStatus.ORPHAN: Style.WARNING,
    RefStatus.EXTERNAL: Style.WARNING,
    RefStatus.STALE: Style.WARNING,
    RefStatus.REBUILDABLE: Style.WARNING,
    RefStatus.PLACEHOLDER: Style.WARNING,
}
REF_COLUMNS = (
    Column(most=10),
    Column(most=12, spare=1),
    Column(most=28),
    Column(most=10, right=True),
    Column(most=30),
    Column(),
)
GAP_COLUMNS = (Column(most=10), Column(most=12), Column(most=24), Column())


def _refs(refs: tuple[Ref, ...], console: Console) -> Iterator[str]:
    if refs:
        yield _heading("references", console)
    yield from table_lines(REF_COLUMNS, [_ref_row(ref) for ref in refs], console)


def _ref_row(ref: Ref) -> list[Cell]:
    return [
        Cell(ref.status.value, REF_STYLES.get(ref.status)),
        Cell(visible(ref.kind)),
        Cell(visible(ref.id), Style.STRONG),
        Cell("" if ref.bytes is None else f"{ref.bytes:,} B"),
        Cell(visible(f"used by {', '.join(ref.used_by)}" if ref.used_by else "used by nobody")),
        Cell(visible(f"→ {ref.target.rpartition('/')[2]}")),
    ]


def _missing(state: ContextState, console: Console) -> Iterator[str]:
    """What the tiers have not told already by saying why a block is not shown."""
    told = {block.origin for block in state.blocks() if block.visible is False}
    gaps = [gap for gap in state.missing if gap.origin not in told]
    if gaps:
        yield _heading("missing", console)
    yield from table_lines(GAP_COLUMNS, [_gap_row(gap) for gap in gaps], console)


def _gap_row(gap: Gap) -> list[Cell]:
    return [
        Cell(
            visible(gap.severity),
            Style.BAD if gap.severity in ("error", "blocking", "high") else Style.WARNING,
        ),
        Cell(visible(gap.status)),
        Cell(visible(gap.id), Style.STRONG),
        Cell(_one_line(f"{gap.question}: {gap.why}" if gap.why else gap.question)),
    ]


# -- findings ------------------------------------------------------------------------------------------------


def _findings(state: ContextState, findings: tuple[Finding, ...], console: Console) -> Iterator[str]:
    if not findings:
        yield _heading("findings", console) + "  none"
        return
    hint = f"details: ctxview check {visible(state.source)}"
    yield f"{_heading('findings', console)}  {tally(findings)}; {hint}"


def _heading(text: str, console: Console) -> str:
    return console.paint(visible(text), Style.HEADING)
