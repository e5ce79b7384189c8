"""Aligned columns for a terminal: as wide as their content, the last one taking what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.quick_dataclass import dataclass
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
    """`most` bounds its width; `right` aligns numbers; where room is short the highest `spare` goes first."""

    heading: str = ""
    most: int = 24
    right: bool = False
    spare: int = 0


BLANK = Cell("")


def table_lines(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], console: Console, indent: str = "  "
) -> Iterator[str]:
    """The headings (when there are any), then a line a row. Columns with nothing in them are left out."""
    kept = [index for index in range(len(columns)) if any(row[index].text for row in rows)]
    if not kept:
        return
    widths = {index: _column_width(columns[index], [row[index] for row in rows]) for index in kept}
    room = console.width - width(indent)
    kept = _with_room(kept, columns, widths, room)
    _share(kept, widths, room)
    heading = [Cell(column.heading, Style.QUIET) for column in columns]
    for row in [heading, *rows] if any(columns[index].heading for index in kept) else rows:
        drawn = [_drawn(row[index], columns[index], widths[index], console) for index in kept[:-1]]
        last = kept[-1]
        drawn.append(console.paint(cut(row[last].text, widths[last]), row[last].style))
        yield (indent + GAP.join(drawn)).rstrip()


def _column_width(column: Column, cells: Sequence[Cell]) -> int:
    return min(column.most, max(width(column.heading), *(width(cell.text) for cell in cells)))


def _with_room(kept: list[int], columns: Sequence[Column], widths: dict[int, int], room: int) -> list[int]:
    """Without the spare columns that would leave the last one less than a third of the line."""
    spare = sorted(
        (index for index in kept[:-1] if columns[index].spare), key=lambda index: columns[index].spare
    )
    while spare and sum(widths[index] + len(GAP) for index in kept[:-1]) > room * 2 // 3:
        kept = [index for index in kept if index != spare[-1]]
        spare.pop()
    return kept


def _share(kept: list[int], widths: dict[int, int], room: int) -> None:
    """Give the last column what is left; take from the widest when that is nothing."""
    room -= len(GAP) * (len(kept) - 1)
    *fixed, last = kept
    while fixed and sum(widths[index] for index in fixed) > room - LAST_AT_LEAST:
        widths[max(fixed, key=widths.__getitem__)] -= 1
    widths[last] = room - sum(widths[index] for index in fixed)


def _drawn(cell: Cell, column: Column, cells: int, console: Console) -> str:
    return console.paint(fit_right(cell.text, cells) if column.right else fit(cell.text, cells), cell.style)
