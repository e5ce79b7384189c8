"""The lines of the start screen: sources with name, format and time, and the known formats. No toolkit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from ctxview.formats.registry import formats
from ctxview.tui.drawing.text import EMPTY, Line, Span, fit, join, pad, show, width, wrap, wrap_to
from ctxview.tui.model.start_entries import StartEntry

WHEN = 14
LEAST_ABOUT = 16
"""Columns below which the description of an entry is left out."""
WIDE = 60
"""Columns for names from which on a name leaves half of the width to the description."""


class Columns(Struct, frozen=True):
    """The widths of names, with their indent, and of formats in one section."""

    names: int
    formats: int


def columns_of(entries: Sequence[StartEntry], cells: int) -> Columns:
    kinds = max((width(show(each.format)) for each in entries), default=0)
    room = cells - kinds - 2 - WHEN
    most = room if room < WIDE else cells // 2
    names = max((width(_name(each)) for each in entries), default=0)
    return Columns(min(names + 2, most), kinds + 2 if kinds else 0)


def entry_lines(entry: StartEntry, columns: Columns, cells: int) -> list[Line]:
    """The entry; a path that is too long has its folder above its name, and none is cut."""
    name, above = _name(entry), list[Line]()
    if width(name) > columns.names - 2:
        folder, slash, last = entry.name.rpartition("/")
        above = _indented(show(f"{folder}{slash}", "dim"), 2, cells) if folder else []
        name = show(f"    {last}", "strong")
    if width(name) > columns.names - 2:
        above += _indented(show(entry.name.rpartition("/")[2], "strong"), 4, cells)
        name = EMPTY
    facts = pad(name, columns.names)
    if entry.format:
        facts = join(facts, pad(show(entry.format, "rule"), columns.formats))
    if entry.time is not None and entry.section != "Samples":
        facts = join(facts, pad(show(f"{datetime.fromtimestamp(entry.time):%d %b %H:%M}", "dim"), WHEN))
    room = cells - width(facts)
    if room < LEAST_ABOUT:
        return [*above, fit(facts, cells)]
    first, *more = wrap_to(show(entry.about, "dim"), room, 1 if entry.section == "Nearby" else 2) or [EMPTY]
    return [*above, join(facts, first), *(join((Span(" " * width(facts)),), line) for line in more)]


def _name(entry: StartEntry) -> Line:
    return show(f"{'    ' if entry.group else '  '}{entry.name}", "strong")


def _indented(line: Line, by: int, cells: int) -> list[Line]:
    return [join((Span(" " * by),), each) for each in wrap(line, cells - by)]


def heading(section: str, remark: str = "") -> Line:
    return join(show(section, "title"), show(remark, "dim"), gap=" ")


def format_lines(cells: int) -> list[Line]:
    """The formats that can be opened, for new users."""
    lines: list[Line] = [EMPTY, show("What ctxview opens", "title")]
    for spec in formats():
        text = join(
            pad(show(f"  {spec.name}", "rule"), 14), show(f"{spec.title}: {spec.recognised_by}", "dim")
        )
        lines += wrap(text, cells, " " * 14)
    return lines
