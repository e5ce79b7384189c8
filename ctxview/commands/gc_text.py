"""A collection for people: what goes and what is protected, with a reason for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import counted
from ctxview.files.removal import Restored
from ctxview.files.visible import visible
from ctxview.formats.session.collecting import Collected
from ctxview.formats.session.gc import GcItem, GcPlan
from ctxview.formats.session.model import Session
from ctxview.reports.console import Console, Style
from ctxview.reports.reasons import reason_lines, short_name, size_in_words
from ctxview.reports.table import Cell, Column

COLUMNS = (Column("", most=14), Column(right=True), Column(most=60))


def gc_lines(
    session: Session, plan: GcPlan, done: Collected | None, path: str, console: Console
) -> Iterator[str]:
    removals = plan.removals if done is None else done.removed
    total = f"{counted(len(removals), 'file')}, {size_in_words(sum(item.size for item in removals))}"
    verb = "would remove" if done is None else "removed"
    yield f"{console.paint(visible(session.title), Style.STRONG)}  {verb} {total if removals else 'nothing'}"
    for note in plan.notes:
        yield f"{console.paint('note', Style.WARNING)}: {visible(note)}"
    yield from _group(verb, Style.WARNING, removals, console)
    stayed = [(_cells(item), why) for item, why in done.stayed] if done else []
    if stayed:
        yield console.paint("stayed after all", Style.BAD)
        yield from reason_lines(COLUMNS, stayed, console)
    yield from _group("protected", Style.GOOD, plan.protected, console)
    if removals:
        option, does = ("--apply", "removes it") if done is None else ("--undo", "puts it back")
        yield f"ctxview gc {visible(path)} {option} {does}"


def undo_lines(restored: Sequence[Restored]) -> Iterator[str]:
    if not restored:
        yield "there is nothing to put back"
    for each in restored:
        name = visible(each.name)
        yield f"not restored {name}: {visible(each.problem)}" if each.problem else f"restored {name}"


def _group(title: str, style: Style, items: Sequence[GcItem], console: Console) -> Iterator[str]:
    if items:
        yield console.paint(title, style)
        yield from reason_lines(COLUMNS, [(_cells(item), item.reason) for item in items], console)


def _cells(item: GcItem) -> tuple[Cell, Cell, Cell]:
    size = size_in_words(item.size) if item.kind != "rest" else ""
    return Cell("" if item.kind == "rest" else item.kind), Cell(size), Cell(short_name(item.name))
