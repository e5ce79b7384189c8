"""Repeated content for people: what stands where how often, and what is done about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted, listed
from ctxview.files.visible import visible
from ctxview.formats.session.dedup import Act, DedupItem, DedupPlan
from ctxview.formats.session.derived import Wrote
from ctxview.formats.session.model import Session
from ctxview.reports.console import Console, Style
from ctxview.reports.reasons import reason_lines, short_name, size_in_words
from ctxview.reports.table import Cell, Column

COLUMNS = (Column(), Column("size", right=True), Column("content"), Column("places", most=60))
STYLES = {Act.KEEP: Style.WARNING, Act.REFER: Style.WARNING, Act.REBUILD: Style.WARNING, Act.LOST: Style.BAD}


def dedup_lines(
    session: Session, plan: DedupPlan, wrote: Sequence[Wrote], write: bool, console: Console
) -> Iterator[str]:
    repeated = size_in_words(sum(item.saved for item in plan.items))
    looked = f"{counted(plan.contents, 'large content')} looked at"
    yield f"{console.paint(visible(session.title), Style.STRONG)}  {looked}, {repeated} of them repeated"
    yield from (f"{console.paint('note', Style.WARNING)}: {visible(note)}" for note in plan.notes)
    yield from reason_lines(COLUMNS, [(_cells(item), item.reason) for item in plan.items], console)
    yield from (f"{each.deed.value} {visible(each.name)}" for each in wrote)
    if plan.to_do and not write:
        yield "nothing was written; --write does"


def _cells(item: DedupItem) -> tuple[Cell, Cell, Cell, Cell]:
    act = Cell(item.act.value if item.act is not Act.NOTHING else "ok", STYLES.get(item.act, Style.GOOD))
    return act, Cell(size_in_words(item.size)), Cell(short_name(item.id)), Cell(listed(item.refs, 3))
