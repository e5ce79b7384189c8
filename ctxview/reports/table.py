"""Aligned columns for a terminal: as wide as their content, the last one taking what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxview.reports.cells import cut, fit, fit_right, width
from ctxview.reports.console import Console, Style

GAP = "  "
LAST_AT_LEAST = 6


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    style: Style | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """`most` bounds its width; `right` aligns numbers; an `optional` one goes when space is short."""

    heading: str = ""
    most: int = 24
    right: bool = False
    optional: bool = False


BLANK = Cell("")


def table_lines(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], console: Console, indent: str = "  "
) -> Iterator[str]:
    """The rows; columns in which no row has anything are left out, and so are optional ones without room."""
    kept = [index for index in range(len(columns)) if any(row[index].text for row in rows)]
    if not kept:
        return
    widths = {index: _column_width(columns[index], [row[index] for row in rows]) for index in kept}
    last = kept[-1]
    kept = _with_room(kept, columns, widths, console.width - len(indent))
    room = console.width - len(indent) - len(GAP) * (len(kept) - 1)
    fixed = kept[:-1]
    while fixed and sum(widths[index] for index in fixed) > room - LAST_AT_LEAST:
        widths[max(fixed, key=widths.__getitem__)] -= 1
    widths[last] = room - sum(widths[index] for index in fixed)
    heading = [Cell(column.heading, Style.QUIET) for column in columns]
    for row in [heading, *rows] if any(columns[index].heading for index in kept) else rows:
        yield (
            indent + GAP.join(_drawn(row[i], columns[i], widths[i], i == last, console) for i in kept)
        ).rstrip()


def _column_width(column: Column, cells: Sequence[Cell]) -> int:
    return min(column.most, max(width(column.heading), *(width(cell.text) for cell in cells)))


def _with_room(kept: list[int], columns: Sequence[Column], widths: dict[int, int], room: int) -> list[int]:
    """Without the optional columns that would leave the last one less than a third of the line."""
    for index in reversed(kept[:-1]):
        if sum(widths[each] + len(GAP) for each in kept[:-1]) <= room * 2 // 3:
            break
        if columns[index].optional:
            kept = [each for each in kept if each != index]
    return kept


def _drawn(cell: Cell, column: Column, cells: int, last: bool, console: Console) -> str:
    if last:
        return console.paint(cut(cell.text, cells), cell.style)
    drawn = fit_right(cell.text, cells) if column.right else fit(cell.text, cells)
    return console.paint(drawn, cell.style)
