"""A state as text for a terminal: lifecycle, tiers, visibility, todo, budgets, references, gaps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from ctxview.analysis.revisions.reasons import is_shown_in_part
from ctxview.analysis.secrets import mask_secrets
from ctxview.analysis.wording import counted
from ctxview.core.figures import Figure
from ctxview.core.findings import Finding
from ctxview.core.flow import Flow, FlowStage
from ctxview.core.state import (
    Block,
    Budget,
    ContextState,
    Reach,
    Ref,
    RefStatus,
    Tier,
    Todo,
    TodoItem,
)
from ctxview.files.visible_text import visible
from ctxview.reports.console import Console, Style
from ctxview.reports.findings import severity_counts_text
from ctxview.reports.table import BLANK, Cell, Column, cut_cells, table_lines, wrapped

WIDE = 120
"""Columns that have room for every target, also for those that no block reaches."""
METER = 16
INDENT = "  "
BARS = "▁▂▃▄▅▆▇█"
MARKS = {
    Reach.INJECTED: Cell("●", Style.GOOD),
    Reach.ASSEMBLED: Cell("◐", Style.WARNING),
    Reach.ALLOWED: Cell("○"),
    Reach.DENIED: Cell("–", Style.QUIET),
    Reach.VIOLATION: Cell("✖", Style.BAD),
    Reach.UNKNOWN: Cell("?", Style.QUIET),
}
REACHED = (Reach.INJECTED, Reach.ASSEMBLED, Reach.ALLOWED, Reach.VIOLATION)
GAUGE = 8
"""Cells of the column of a gauge."""
BEFORE_FIGURES = (Column(most=1), Column("id", most=26), Column("type", most=14, spare=2))
AFTER_FIGURES = (
    Column("age", most=6, right=True, spare=1),
    Column("tokens", most=8, right=True, spare=3),
    Column("text"),
)
SEGMENT_COLUMNS = (Column(most=24), Column(most=METER), Column(most=14, right=True), Column())
REF_COLUMNS = (
    Column(most=10),
    Column(most=12, spare=1),
    Column(most=28),
    Column(most=10, right=True),
    Column(most=30),
    Column(),
)
GAP_COLUMNS = (Column(most=10), Column(most=12), Column(most=24), Column())
REF_STYLES = {
    RefStatus.RESOLVED: Style.GOOD,
    RefStatus.DANGLING: Style.BAD,
    RefStatus.MISMATCH: Style.BAD,
    RefStatus.ORPHAN: Style.WARNING,
    RefStatus.EXTERNAL: Style.WARNING,
    RefStatus.STALE: Style.WARNING,
    RefStatus.REBUILDABLE: Style.WARNING,
    RefStatus.PLACEHOLDER: Style.WARNING,
    RefStatus.DUPLICATE: Style.WARNING,
    RefStatus.CONTRADICTION: Style.BAD,
}


def state_lines(state: ContextState, findings: tuple[Finding, ...], console: Console) -> Iterator[str]:
    parts = (
        _header(state, console),
        flow_lines(state.flow, console),
        *_tiers(state.tiers, console),
        visibility_lines([*state.blocks()], console),
        _todo(state.todo, console),
        *(_budget(budget, console) for budget in state.budgets),
        _refs(state.refs, console),
        _missing(state, console),
        _findings(state, findings, console),
    )
    for index, part in enumerate(chunk for chunk in map(list, parts) if chunk):
        yield from part if index == 0 else chain([""], part)


def flow_lines(flow: Flow | None, console: Console) -> Iterator[str]:
    """The stages with the number of items that passed between them; each branch has its own line."""
    if flow is None or not any(stage.nodes for stage in flow.stages):
        return
    yield console.paint("lifecycle", Style.HEADING)
    main = [stage for stage in flow.stages if stage.branch_of is None]
    pieces = [_stage(main[0])]
    pieces += [f"{_arrow(flow, before, stage)} {_stage(stage)}" for before, stage in pairwise(main)]
    yield from wrapped(pieces, console.width, INDENT)
    for stage in flow.stages:
        origin = next((each for each in main if each.name == stage.branch_of), None)
        if origin is not None and stage.nodes:
            yield f"{INDENT}└ {visible(origin.name)} {_arrow(flow, origin, stage)} {_stage(stage)}"


def visibility_lines(blocks: Sequence[Block], console: Console) -> Iterator[str]:
    """A table of blocks and targets; a narrow terminal shows only targets that a block reaches."""
    targets = dict.fromkeys(target for block in blocks for target in block.reach)
    if console.width < WIDE:
        targets = dict.fromkeys(
            each for each in targets if any(block.reach.get(each) in REACHED for block in blocks)
        )
    if not targets:
        return
    legend = "  ".join(f"{mark.text} {reach.value}" for reach, mark in MARKS.items())
    yield f"{console.paint('visibility', Style.HEADING)}  {console.paint(legend, Style.QUIET)}"
    columns = (Column("id", most=26), *(Column(visible(each), most=15) for each in targets), Column())
    rows = [
        [
            Cell(visible(block.id), Style.STRONG),
            *(MARKS[block.reach.get(each, Reach.UNKNOWN)] for each in targets),
            Cell(""),
        ]
        for block in blocks
    ]
    yield from table_lines(columns, rows, console)


def meter(used: int, whole: int) -> str:
    """A bar for the share of `used` in `whole`; never empty when something is used."""
    share = used / whole if whole > 0 else 0
    cells = min(METER, max(1 if used > 0 else 0, round(share * METER)))
    return "█" * cells + "░" * (METER - cells)


def _header(state: ContextState, console: Console) -> Iterator[str]:
    counts = state.counts
    revision = visible(f"{state.format} · {state.revision}")
    yield f"{console.paint(visible(state.title), Style.STRONG)}  {revision}"
    of_shown = " shown" if counts.hidden else ""
    tokens = f"{'' if counts.tokens_exact else '≈ '}{counts.tokens:,} tokens{of_shown} ({counts.estimator})"
    shown = (
        f"{counts.visible} shown to the model, {counts.hidden} not" if counts.blocks else "nothing in memory"
    )
    yield visible(f"{counted(counts.blocks, 'block')} · {shown} · {tokens}")
    facts = [visible(f"{name} {value}") for name, value in state.extra.items()]
    for line in wrapped(facts, console.width, gap=" · "):
        yield console.paint(line, Style.QUIET)
    if state.advice:
        yield console.paint(visible(state.advice), Style.NOTE)


def _stage(stage: FlowStage) -> str:
    blocks = sum(node.block is not None for node in stage.nodes)
    inside = f" ({blocks:,} {'block' if blocks == 1 else 'blocks'})" if blocks else ""
    return f"{visible(stage.name)} {len(stage.nodes) - blocks:,}{inside}"


def _arrow(flow: Flow, start: FlowStage, end: FlowStage) -> str:
    passed = flow.index.passed(start.name, end.name)
    return f"─{passed:,}→" if passed else "→"


def _tiers(tiers: Sequence[Tier], console: Console) -> Iterator[Iterator[str]]:
    """All tiers share one table, so that their columns are aligned."""
    figures = {each.name: each for tier in tiers for block in tier.blocks for each in block.figures}
    gauges = [name for name, each in figures.items() if each.scale is not None]
    numbers = [name for name in figures if name not in gauges]
    columns = (
        *BEFORE_FIGURES,
        *(Column(name if len(name) <= GAUGE else name[:4], most=GAUGE) for name in gauges),
        *(Column(name, most=max(7, len(name)), right=True, spare=4) for name in numbers),
        *AFTER_FIGURES,
    )
    rows = [_block_row(block, gauges, numbers) for tier in tiers for block in tier.blocks]
    heading, *lines = [*table_lines(columns, rows, console)] or [""]
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
        if block.visible is False and block.why:
            yield console.paint(f"    └ not shown: {visible(block.why)}", Style.WARNING)


def _block_row(block: Block, gauges: Sequence[str], numbers: Sequence[str]) -> list[Cell]:
    figures = {each.name: each for each in block.figures}
    dim = Style.QUIET if block.visible is False else None
    shown = "◐" if is_shown_in_part(block) else "●"
    marks = {None: Cell("·", Style.QUIET), True: Cell(shown, Style.GOOD), False: Cell("○", Style.QUIET)}
    return [
        marks[block.visible],
        Cell(visible(block.id), Style.STRONG),
        Cell(visible(block.type or ""), dim),
        *(_gauge(figures.get(name)) for name in gauges),
        *(Cell(_number(figures.get(name)), dim) for name in numbers),
        Cell("" if block.age is None else f"{block.age}", dim),
        Cell("" if block.tokens is None else f"{block.tokens:,}", dim),
        Cell(_one_line(block.text, block.state), dim),
    ]


def _gauge(figure: Figure | None) -> Cell:
    if figure is None:
        return BLANK
    level = min(len(BARS) - 1, int(min(1.0, max(0.0, figure.share)) * len(BARS)))
    text = f"{figure.value:.0f}%" if figure.unit == "%" else f"{figure.value:.2f}"
    return Cell(f"{BARS[level]} {text}")


def _number(figure: Figure | None) -> str:
    if figure is None:
        return ""
    return f"{figure.value:,}" if isinstance(figure.value, int) else f"{figure.value:.2f}"


def _one_line(text: str, state: str | None = None) -> str:
    """The text on one line: spaces for line ends and tabs, masked secrets, escaped invisible characters."""
    note = f"[{state}] " if state else ""
    return visible(note + " ".join(word for word in re.split("[ \t\n]", mask_secrets(text)) if word))


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
        yield cut_cells(f"  ▸ {visible(doing + note)}", console.width)
    rows = [
        [
            _todo_mark(item),
            Cell("" if item.id is None else str(item.id)),
            Cell(_one_line(item.title), Style.STRONG if item.current else None),
        ]
        for item in todo.items
    ]
    yield from table_lines((Column(most=1), Column(most=6, right=True), Column()), rows, console)


def _todo_mark(item: TodoItem) -> Cell:
    if item.is_done:
        return Cell("✓", Style.GOOD)
    if item.is_dropped:
        return Cell("–", Style.QUIET)
    if item.status in ("failed", "error"):
        return Cell("✗", Style.BAD)
    return Cell("▸", Style.STRONG) if item.current else Cell("○")


def _budget(budget: Budget, console: Console) -> Iterator[str]:
    yield f"{_heading('budget', console)}  {visible(budget.target)}  {_fill(budget, console)}"
    whole = sum(segment.used for segment in budget.segments)
    rows = []
    for segment in budget.segments:
        style = Style.BAD if segment.limit is not None and segment.used > segment.limit else None
        limit = "" if segment.limit is None else f"of {segment.limit:,}"
        how = "" if segment.exact else f"≈ {segment.estimator or 'estimate'}"
        rows.append(
            [
                Cell(visible(segment.name)),
                Cell(meter(segment.used, segment.limit or whole), style),
                Cell(f"{segment.used:,}", style),
                Cell(visible("  ".join(filter(None, (limit, how)))), Style.QUIET),
            ]
        )
    yield from table_lines(SEGMENT_COLUMNS, rows, console)


def _fill(budget: Budget, console: Console) -> str:
    used = "?" if budget.used is None else f"{budget.used:,}"
    text = f"{used} {budget.unit}" if budget.limit is None else f"{used} of {budget.limit:,} {budget.unit}"
    if budget.percent:
        text += f" ({budget.percent})"
    if budget.limit_from is not None:
        text += f", limit {visible(budget.limit_from)}"
    if budget.reserved:
        text += f", {budget.reserved:,} reserved"
    if budget.over:
        text += console.paint(f", {budget.over:,} too many", Style.BAD)
    if budget.stage is not None:
        text += console.paint(f", {visible(budget.stage)}", Style.BAD)
    if budget.note is not None:
        text += f", {visible(budget.note)}"
    return text


def _refs(refs: tuple[Ref, ...], console: Console) -> Iterator[str]:
    if refs:
        yield _heading("references", console)
    rows = [
        [
            Cell(ref.status.value, REF_STYLES.get(ref.status)),
            Cell(visible(ref.kind)),
            Cell(visible(ref.id), Style.STRONG),
            Cell("" if ref.bytes is None else f"{ref.bytes:,} B"),
            Cell(visible(f"used by {', '.join(ref.used_by)}" if ref.used_by else "not used")),
            Cell(visible(f"→ {ref.target.rpartition('/')[2]}")),
        ]
        for ref in refs
    ]
    yield from table_lines(REF_COLUMNS, rows, console)


def _missing(state: ContextState, console: Console) -> Iterator[str]:
    """The gaps, except those that the tiers already show as a hidden block."""
    listed = {block.origin for block in state.blocks() if block.visible is False}
    gaps = [gap for gap in state.missing if gap.origin not in listed]
    if gaps:
        yield _heading("missing", console)
    rows = []
    for gap in gaps:
        style = Style.BAD if gap.severity in ("error", "blocking", "high") else Style.WARNING
        text = _one_line(f"{gap.question}: {gap.why}" if gap.why else gap.question)
        name = Cell(visible(gap.id), Style.STRONG)
        rows.append([Cell(visible(gap.severity), style), Cell(visible(gap.status)), name, Cell(text)])
    yield from table_lines(GAP_COLUMNS, rows, console)


def _findings(state: ContextState, findings: tuple[Finding, ...], console: Console) -> Iterator[str]:
    if not findings:
        yield _heading("findings", console) + "  none"
        return
    hint = f"details: ctxview check {visible(state.source)}"
    yield f"{_heading('findings', console)}  {severity_counts_text(findings)}; {hint}"


def _heading(text: str, console: Console) -> str:
    return console.paint(visible(text), Style.HEADING)
