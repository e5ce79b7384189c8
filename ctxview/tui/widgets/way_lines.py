"""Stops and the ways between them as lines: what a neighbour is called, by which way, and what comes next."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len

from ctxview.flow import Node
from ctxview.state import Block, Gap, Ref, RefStatus, Row, TodoItem
from ctxview.tui import glyphs
from ctxview.tui.graph import Graph, Way
from ctxview.tui.panes.history import numeral
from ctxview.tui.panes.references import STYLE, figures
from ctxview.tui.panes.rows import gap_badge
from ctxview.tui.text import Line, Span, fit, join, pad, plain, preview, shorten, show, width, wrap, wrap_to
from ctxview.tui.things import Index, Kind, Thing
from ctxview.tui.widgets.page import Page

MEASURED = 300
"""So many ways are looked at to find out how wide their columns have to be."""
WIDEST_WORD = 14
LEAST = 6
"""In fewer cells nothing can be told."""
ONLY_NAMED = "It is only named: nothing here shows it."

NOTHING_IN = "Nothing points to it."
NOTHING_OUT = "It points to nothing."


def label(stop: Thing, index: Index) -> str:
    """What a stop is called."""
    rows = index.graph.rows(stop)
    if rows is not None:
        return f"messages {numeral(rows[0])}–{numeral(rows[-1])}"
    if stop.kind is Kind.MESSAGE:
        return f"message {numeral(int(stop.name))}"
    value = index.value(stop)
    if isinstance(value, Node):
        return value.label
    return value.title if isinstance(value, TodoItem) else stop.name


def ways_page(ways: Sequence[Way], index: Index, cells: int, trail: Sequence[Thing], *, into: bool) -> Page:
    """The neighbours on one side. Those that were passed already are marked, for walks go in circles."""
    if not ways:
        return Page.of([fit(show(NOTHING_IN if into else NOTHING_OUT, "dim"), cells)])
    words = min(WIDEST_WORD, max(cell_len(way.word) for way in ways[:MEASURED]))
    passed = set(trail)

    def other(row: int) -> Thing:
        return ways[row].start if into else ways[row].end

    widest = max(8, cells - words - 12)
    names = max(cell_len(label(other(row), index)) for row in range(min(len(ways), MEASURED)))

    def draw(row: int) -> tuple[Line]:
        way, stop = ways[row], other(row)
        name = show(shorten(label(stop, index), widest), _style(stop))
        name = pad(name, max(min(names, widest), width(name)))
        mark: Line = (Span("↺", "accent"),) if stop in passed else ()
        told = join(name, mark, gap=" ")
        room = widest - width(told) - 1
        told = join(told, fit(_beside(way, stop, index), room if room >= LEAST else 0), gap=" ")
        further = _further(stop, index.graph, into=into)
        word = pad(show(shorten(way.word, words), "dim"), words)
        status = _status(way)
        if into:
            tail = join(word, status, (Span("→", "faint"),), gap=" ")
            told = pad(told, cells - width(tail) - 7)
            return (fit(join(pad(further, 5), told, tail, gap=" "), cells),)
        head = join((Span("→", "faint"),), status, word, gap=" ")
        told = pad(told, cells - width(head) - 7)
        return (fit(join(head, told, pad(further, 5, right=True), gap=" "), cells),)

    return Page(len(ways), draw, other)


def stop_page(stop: Thing, index: Index, cells: int, room: int) -> Page:
    """Everything that goes by the name of a stop, a line for each."""
    graph = index.graph
    things = graph.things(stop)
    if not things:
        rows = graph.rows(stop)
        told = f"{len(rows):,} messages" if rows is not None else ONLY_NAMED
        return Page(1, lambda _: lines, lambda _: stop, [len(lines := wrap(show(told, "dim"), cells))])
    kinds = max(cell_len(thing.kind) for thing in things[:MEASURED])

    def draw(row: int, depth: int) -> list[Line]:
        kind = pad(show(things[row].kind, "rule"), kinds)
        return wrap_to(join(kind, _told(things[row], index), gap="  "), cells, depth, " " * (kinds + 2))

    return Page.roomy(len(things), draw, lambda row: things[row], room)


def trail_line(trail: Sequence[Thing], index: Index, cells: int, action: Callable[[int], str]) -> Line:
    """The way one came, the beginning left out where there is no room; a click goes back to a stop."""
    here = len(trail) - 1
    parts: list[Line] = []
    used = 0
    for at in range(here, -1, -1):
        style = "strong" if at == here else "link"
        part = show(shorten(label(trail[at], index), 24), style, "" if at == here else action(at))
        if parts and used + width(part) + 3 > cells - 2:
            parts.append((Span("…", "dim"),))
            break
        used += width(part) + 3
        parts.append(part)
    return fit(join(*reversed(parts), gap=" › "), cells)


def _style(stop: Thing) -> str:
    return "code" if stop.kind is Kind.NAME else "strong"


def _status(way: Way) -> Line:
    if way.status is None:
        return (Span(glyphs.UNSAID, "dim"),)
    return (Span(glyphs.REF[way.status], STYLE[way.status]),)


def _further(stop: Thing, graph: Graph, *, into: bool) -> Line:
    """How many ways go on from a neighbour, away from here."""
    number = len(graph.into(stop) if into else graph.out_of(stop))
    if not number:
        return ()
    return show(f"{glyphs.short_count(number)}→" if into else f"→{glyphs.short_count(number)}", "dim")


def _beside(way: Way, stop: Thing, index: Index) -> Line:
    """What else is to be said of a neighbour: how its way stands where that is not well, and what it is."""
    wrong = way.status if way.status not in (None, RefStatus.RESOLVED) else None
    about = _about(stop, index)
    return join(
        show(wrong, STYLE[wrong]) if wrong is not None else (),
        about if plain(about) != way.word else (),
        gap=" ",
    )


def _about(stop: Thing, index: Index) -> Line:
    """In a few words what a stop is."""
    match index.value(stop):
        case Block() as block:
            return show(block.tier, "dim")
        case Node():
            return show(stop.within, "dim")
        case Row() as row:
            return join(show(row.role or "", "dim"), preview(row.text, "dim", 120), gap=" ")
        case Ref() as ref:
            return show(ref.kind, "dim")
        case Gap():
            return show("missing", "dim")
        case TodoItem() as item:
            return show(item.status, "dim")
    return ()


def _told(thing: Thing, index: Index) -> Line:
    """One of the things of a stop, in a line."""
    match index.value(thing):
        case Block() as block:
            return join(show(block.tier, "accent"), preview(block.text, "dim", 200), gap=" ")
        case Ref() as ref:
            status = show(f"{glyphs.REF[ref.status]} {ref.status}", STYLE[ref.status])
            shared = show(f"shared by {len(ref.used_by)}" if len(ref.used_by) > 1 else "", "dim")
            return join(show(ref.kind, "dim"), status, shared, show(figures(ref), "dim"), gap="  ")
        case Gap() as gap:
            return join(gap_badge(gap), show(gap.status, "dim"), preview(gap.question), gap=" ")
        case Node() as node:
            return join(show(thing.within, "accent"), preview(node.detail, "dim"), gap=" ")
        case Row() as row:
            return join(show(row.role or "–", "dim"), preview(row.text, "dim", 200), gap=" ")
        case TodoItem() as item:
            return join(show(item.status, "dim"), show(item.title), gap=" ")
    return show(thing.name)
