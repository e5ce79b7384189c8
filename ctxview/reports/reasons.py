"""A table of things with a reason each: on the same line where all fit, on a line of its own where not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from ctxview.files.visible import visible
from ctxview.reports.cells import width
from ctxview.reports.console import Console, Style
from ctxview.reports.table import Cell, Column, table_lines

INDENT = "  "
UNITS = ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"))
HASH_SHOWN = len("sha256-") + 12


def reason_lines(
    columns: Sequence[Column], rows: Sequence[tuple[Sequence[Cell], str]], console: Console
) -> Iterator[str]:
    """Rows of cells, each with its reason. No row is cut where the reasons fit beside them."""
    if not rows:
        return
    cells = [list(row) for row, _ in rows]
    natural = [max(width(row[index].text) for row in cells) for index in range(len(columns))]
    longest = max(width(visible(reason)) for _, reason in rows)
    if len(INDENT) + sum(natural) + 2 * len(columns) + longest <= console.width:
        beside = [[*row, Cell(visible(reason), Style.QUIET)] for (row, reason) in rows]
        wide = [Column(column.heading, max(column.most, 200), column.right) for column in columns]
        yield from table_lines([*wide, Column()], beside, console, INDENT)
        return
    drawn = list(table_lines(columns, cells, console, INDENT))
    yield from drawn[: len(drawn) - len(rows)]
    for line, (_, reason) in zip(drawn[len(drawn) - len(rows) :], rows, strict=True):
        yield line
        for piece in wrap(visible(reason), console.width - 6) or [""]:
            yield f"      {console.paint(piece, Style.QUIET)}".rstrip()


def size_in_words(count: int) -> str:
    """`812 bytes`, `6.6 KiB`."""
    for size, unit in UNITS:
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} byte{'' if count == 1 else 's'}"


def short_name(name: str) -> str:
    """A file of a session as people read it: without the folder all share, and hashes by their beginning."""
    *folders, last = name.removeprefix("context/").split("/")
    if last.startswith("sha256-") and len(last) > HASH_SHOWN + 1:
        last = f"{last[:HASH_SHOWN]}…"
    return visible("/".join([*folders, last]))
