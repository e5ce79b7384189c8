"""A pack for people: what is in, what is out, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.files.visible import visible
from ctxview.formats.session.derived import Wrote
from ctxview.formats.session.model import Session
from ctxview.formats.session.pack import PackPlan, Placed
from ctxview.reports.console import Console, Style
from ctxview.reports.reasons import reason_lines, short_name
from ctxview.reports.table import Cell, Column

COLUMNS = (Column(), Column("kind"), Column("tokens", right=True), Column("source", most=60))


def pack_lines(session: Session, plan: PackPlan, wrote: Sequence[Wrote], console: Console) -> Iterator[str]:
    how = plan.counter if plan.exact else f"{plan.counter}, an estimate"
    limit = f"of {plan.budget:,} " if plan.budget else ""
    yield f"{console.paint(visible(session.title), Style.STRONG)}  {plan.used:,} {limit}tokens ({how})"
    yield from reason_lines(COLUMNS, [(_cells(each), each.why) for each in plan.items], console)
    for abort in plan.aborts:
        yield f"{console.paint('the runtime itself would build no pack', Style.BAD)}: {visible(abort)}"
    if plan.left_out:
        missing = plan.used + sum(each.tokens for each in plan.left_out) - (plan.budget or 0)
        yield f"{len(plan.left_out)} left out; with {missing:,} tokens more there would be room for all"
    if session.budget != plan.budget and wrote:
        yield "note: the pack was built for another budget than context/budget says (ABI032)"
    yield from (f"{each.deed.value} {visible(each.name)}" for each in wrote)


def _cells(placed: Placed) -> tuple[Cell, Cell, Cell, Cell]:
    offer = placed.offer
    mark = (
        Cell("in", Style.GOOD)
        if placed.taken
        else Cell("out", Style.WARNING if placed.for_room else Style.QUIET)
    )
    tokens = f"{offer.tokens:,}" if offer.tokens else ""
    source = short_name(offer.source)
    return mark, Cell(offer.kind), Cell(tokens), Cell(f"{source} {offer.range}" if offer.range else source)
