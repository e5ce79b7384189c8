"""The way things took, and who can see them, for people reading a terminal: a line of stages, a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxview.files.visible import visible
from ctxview.flow import Flow, Stage
from ctxview.reports.cells import wrapped
from ctxview.reports.console import Console, Style
from ctxview.reports.table import Cell, Column, table_lines
from ctxview.state import Block, Sight

WIDE = 120
"""So many columns have room for every target, also those that nothing is meant for."""
MARKS = {
    Sight.INJECTED: Cell("✓", Style.GOOD),
    Sight.ASSEMBLED: Cell("◐", Style.WARNING),
    Sight.ALLOWED: Cell("○"),
    Sight.DENIED: Cell("–", Style.QUIET),
    Sight.UNKNOWN: Cell("?", Style.QUIET),
}
REACHED = (Sight.INJECTED, Sight.ASSEMBLED, Sight.ALLOWED)
INDENT = "  "


def flow_lines(flow: Flow | None, console: Console) -> Iterator[str]:
    """The stages with how much passed between them, the branches on lines of their own."""
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


def sight_lines(blocks: Sequence[Block], console: Console) -> Iterator[str]:
    """Which target is shown which block; where room is short, only targets that something is meant for."""
    targets = dict.fromkeys(target for block in blocks for target in block.sights)
    if console.width < WIDE:
        targets = dict.fromkeys(each for each in targets if _is_reached(blocks, each))
    if not targets:
        return
    legend = "  ".join(f"{mark.text} {sight.value}" for sight, mark in MARKS.items())
    yield f"{console.paint('visibility', Style.HEADING)}  {console.paint(legend, Style.QUIET)}"
    columns = (Column("id", most=26), *(Column(visible(each), most=15) for each in targets), Column())
    rows = [
        [
            Cell(visible(block.id), Style.STRONG),
            *(MARKS[block.sights.get(each, Sight.UNKNOWN)] for each in targets),
            Cell(""),
        ]
        for block in blocks
    ]
    yield from table_lines(columns, rows, console)


def _is_reached(blocks: Sequence[Block], target: str) -> bool:
    return any(block.sights.get(target) in REACHED for block in blocks)


def _stage(stage: Stage) -> str:
    blocks = sum(node.block is not None for node in stage.nodes)
    inside = f" ({blocks:,} {'block' if blocks == 1 else 'blocks'})" if blocks else ""
    return f"{visible(stage.name)} {len(stage.nodes) - blocks:,}{inside}"


def _arrow(flow: Flow, start: Stage, end: Stage) -> str:
    passed = flow.passed(start.name, end.name)
    return f"─{passed:,}→" if passed else "→"
