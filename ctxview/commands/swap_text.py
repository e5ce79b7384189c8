"""Swapping for people: which content goes into which chunk, and how the chunks of an index stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted
from ctxview.files.visible import visible
from ctxview.formats.session.derived import Wrote
from ctxview.formats.session.swap import Chunk, Rebuild, SwapPlan
from ctxview.reports.cells import cut
from ctxview.reports.console import Console, Style
from ctxview.reports.reasons import reason_lines, short_name, size_in_words
from ctxview.reports.table import Cell, Column

COLUMNS = (Column(), Column("line", right=True), Column("chunk", most=60))


def swap_lines(plan: SwapPlan, wrote: Sequence[Wrote], write: bool, console: Console) -> Iterator[str]:
    size = f"{size_in_words(len(plan.content))}, {plan.tokens:,} tokens"
    yield f"{console.paint(visible(plan.place), Style.STRONG)}  {counted(plan.records, 'record')}, {size}"
    yield cut(f"  chunk    {short_name(plan.name)}: {plan.chunk.value}", console.width)
    yield cut(f"  index    {_indexed(plan)}", console.width)
    yield cut(f"  summary  {visible(plan.summary)}", console.width)
    yield from (f"{each.deed.value} {visible(each.name)}" for each in wrote)
    if plan.done:
        yield "nothing to do: it is swapped out already"
    elif not write:
        yield "nothing was written; --write does"


def rebuild_lines(
    found: Sequence[Rebuild], wrote: Sequence[Wrote], write: bool, console: Console
) -> Iterator[str]:
    if not found:
        yield "the swap index is empty"
    yield from reason_lines(COLUMNS, [(_cells(each), each.reason) for each in found], console)
    yield from (f"{each.deed.value} {visible(each.name)}" for each in wrote)
    if not write and any(each.possible for each in found):
        yield "nothing was written; --write rebuilds the missing ones"


def _indexed(plan: SwapPlan) -> str:
    if plan.indexed is None:
        return "a new line"
    where = plan.indexed.text("range") or plan.indexed.text("event") or "?"
    return f"listed on line {plan.indexed.line} for {visible(where)}"


def _cells(rebuild: Rebuild) -> tuple[Cell, Cell, Cell]:
    if rebuild.chunk is Chunk.VERIFIED:
        mark = Cell("ok", Style.GOOD)
    else:
        mark = Cell("rebuild", Style.WARNING) if rebuild.possible else Cell("lost", Style.BAD)
    return mark, Cell(f"{rebuild.line}"), Cell(short_name(rebuild.name))
