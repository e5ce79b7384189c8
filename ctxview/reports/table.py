"""Tables on a terminal: the width of text in cells, columns that fit, sizes in words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from textwrap import wrap

from msgspec import Struct

from ctxview.analysis.secrets import mask_secrets
from ctxview.files.visible_text import visible
from ctxview.reports.console import Console, Style

GAP = "  "
INDENT = "  "
LAST_AT_LEAST = 6
UNITS = ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"))
HASH_SHOWN = len("sha256-") + 12


class Cell(Struct, frozen=True):
    text: str
    style: Style | None = None


class Column(Struct, frozen=True):
    """`most` bounds the width, `right` aligns numbers; the highest `spare` is dropped first to make room."""

    heading: str = ""
    most: int = 24
    right: bool = False
    spare: int = 0


BLANK = Cell("")


def table_lines(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], console: Console, indent: str = "  "
) -> Iterator[str]:
    """The headings, if any, then one line for each row. Empty columns are left out."""
    indexes = [index for index in range(len(columns)) if any(row[index].text for row in rows)]
    if not indexes:
        return
    widths = {}
    for index in indexes:
        widest = max(cell_width(columns[index].heading), *(cell_width(row[index].text) for row in rows))
        widths[index] = min(columns[index].most, widest)
    room = console.width - cell_width(indent)
    indexes = _with_room(indexes, columns, widths, room)
    _share(indexes, widths, room)
    heading = [Cell(column.heading, Style.QUIET) for column in columns]
    for row in [heading, *rows] if any(columns[index].heading for index in indexes) else rows:
        drawn = []
        for index in indexes[:-1]:
            fit = fit_right if columns[index].right else fit_cells
            drawn.append(console.paint(fit(row[index].text, widths[index]), row[index].style))
        last = indexes[-1]
        drawn.append(console.paint(cut_cells(row[last].text, widths[last]), row[last].style))
        yield (indent + GAP.join(drawn)).rstrip()


def reason_lines(
    columns: Sequence[Column], rows: Sequence[tuple[Sequence[Cell], str]], console: Console
) -> Iterator[str]:
    """Rows of cells, each with its reason: beside it if all of them fit, else below it."""
    if not rows:
        return
    cells = [list(row) for row, _ in rows]
    natural = [max(cell_width(row[index].text) for row in cells) for index in range(len(columns))]
    longest = max(cell_width(visible(reason)) for _, reason in rows)
    if len(INDENT) + sum(natural) + 2 * len(columns) + longest <= console.width:
        beside = [[*row, Cell(visible(reason), Style.QUIET)] for (row, reason) in rows]
        wide = [Column(column.heading, max(column.most, 200), column.right) for column in columns]
        yield from table_lines([*wide, Column()], beside, console, INDENT)
        return
    drawn = list(table_lines(columns, cells, console, INDENT))
    yield from drawn[: len(drawn) - len(rows)]
    for line, (_, reason) in zip(drawn[len(drawn) - len(rows) :], rows, strict=True):
        yield line
        for piece in wrap(visible(mask_secrets(reason)), console.width - 6) or [""]:
            yield f"      {console.paint(piece, Style.QUIET)}".rstrip()


def cell_width(text: str) -> int:
    """The width in terminal cells: two for wide East Asian characters and emoji, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(map(_char_width, text))


def fit_cells(text: str, cells: int) -> str:
    """`text` in exactly `cells` cells: padded with spaces, or cut with an ellipsis."""
    short = cut_cells(text, cells)
    return short + " " * (cells - cell_width(short))


def fit_right(text: str, cells: int) -> str:
    """Like `fit_cells`, with the padding on the left, for numbers."""
    short = cut_cells(text, cells)
    return " " * (cells - cell_width(short)) + short


def cut_cells(text: str, cells: int) -> str:
    """`text` in at most `cells` cells, ending in an ellipsis when something was left out."""
    if cell_width(text) <= cells:
        return text
    if cells <= 0:
        return ""
    # A secret that is cut could no longer be recognised.
    text = mask_secrets(text)
    used = 0
    for index, char in enumerate(text):
        used += _char_width(char)
        if used > cells - 1:
            return text[:index] + "…"
    return text


def wrapped(pieces: Sequence[str], cells: int, indent: str = "", gap: str = " ") -> Iterator[str]:
    """Pieces side by side on as many lines as they need; a piece that is too long for a line is cut."""
    line = ""
    for piece in pieces:
        longer = f"{line}{gap}{piece}" if line else f"{indent}{piece}"
        if line and cell_width(longer) > cells:
            yield cut_cells(line, cells)
            line = f"{indent}  {piece}"
        else:
            line = longer
    if line:
        yield cut_cells(line, cells)


def size_in_words(count: int) -> str:
    """`812 bytes`, `6.6 KiB`."""
    for size, unit in UNITS:
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} byte{'' if count == 1 else 's'}"


def short_name(name: str) -> str:
    """The short name of a session's file: without `context/`, and hashes cut to their start."""
    *folders, last = name.removeprefix("context/").split("/")
    if last.startswith("sha256-") and len(last) > HASH_SHOWN + 1:
        last = f"{last[:HASH_SHOWN]}…"
    return visible("/".join([*folders, last]))


def _with_room(indexes: list[int], columns: Sequence[Column], widths: dict[int, int], room: int) -> list[int]:
    """Drop spare columns until the last column has a third of the line."""
    spare = sorted(
        (index for index in indexes[:-1] if columns[index].spare), key=lambda index: columns[index].spare
    )
    while spare and sum(widths[index] + len(GAP) for index in indexes[:-1]) > room * 2 // 3:
        indexes = [index for index in indexes if index != spare[-1]]
        spare.pop()
    return indexes


def _share(indexes: list[int], widths: dict[int, int], room: int) -> None:
    """Give the last column the remaining width; take from the widest columns if there is too little."""
    room -= len(GAP) * (len(indexes) - 1)
    *fixed, last = indexes
    while fixed and sum(widths[index] for index in fixed) > room - LAST_AT_LEAST:
        widths[max(fixed, key=widths.__getitem__)] -= 1
    widths[last] = room - sum(widths[index] for index in fixed)


def _char_width(char: str) -> int:
    if char < "\u0300":
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
