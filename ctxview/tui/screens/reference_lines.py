"""The nodes and edges of the reference graph as lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len

from ctxview.core.flow import FlowNode
from ctxview.core.state import Block, Gap, Ref, RefStatus, TodoItem
from ctxview.core.transcript import Row
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.rows import gap_badge
from ctxview.tui.drawing.text import (
    Line,
    Span,
    fit,
    join,
    pad,
    plain,
    preview,
    shorten,
    show,
    width,
    wrap,
    wrap_to,
)
from ctxview.tui.model.reading_index import ItemId, ItemKind, ReadingIndex, message_id
from ctxview.tui.model.reference_graph import ReferenceEdge, ReferenceGraph
from ctxview.tui.panes.history import numeral, row_numeral
from ctxview.tui.panes.references import STYLE, figures

MEASURED = 300
"""Edges that are measured to find the widths of the columns."""
WIDEST_LABEL = 14
LEAST = 6
"""Below this width the text beside a name is left out."""
ONLY_NAMED = "Only the name is known: no pane shows this item."


def node_label(node: ItemId, index: ReadingIndex) -> str:
    rows = index.graph.rows(node)
    if rows is not None:
        return f"messages {_number(rows[0], index):,}–{_number(rows[-1], index):,}"
    value = index.value(node)
    if node.kind is ItemKind.MESSAGE:
        number = row_numeral(value) if isinstance(value, Row) else numeral(int(node.name))
        return f"message {number}" if number else "blank line"
    if isinstance(value, FlowNode):
        return value.label
    return value.title if isinstance(value, TodoItem) else node.name


def _number(row: int, index: ReadingIndex) -> int:
    """The number by which the message on a row is cited."""
    value = index.value(message_id(row))
    return value.number if isinstance(value, Row) and value.number is not None else row + 1


def edges_page(
    edges: Sequence[ReferenceEdge], index: ReadingIndex, cells: int, trail: Sequence[ItemId], *, into: bool
) -> Page:
    """The neighbours on one side. Nodes of the `trail` are marked, because the graph has cycles."""
    if not edges:
        nothing = "Nothing refers to it." if into else "It refers to nothing."
        return Page.of([fit(show(nothing, "dim"), cells)])
    words = min(WIDEST_LABEL, max(cell_len(edge.label) for edge in edges[:MEASURED]))
    visited = set(trail)

    def other(row: int) -> ItemId:
        return edges[row].start if into else edges[row].end

    widest = max(8, cells - words - 12)
    names = max(cell_len(node_label(other(row), index)) for row in range(min(len(edges), MEASURED)))

    def draw(row: int) -> tuple[Line]:
        edge, node = edges[row], other(row)
        style = "code" if node.kind is ItemKind.NAME else "strong"
        name = show(shorten(node_label(node, index), widest), style)
        name = pad(name, max(min(names, widest), width(name)))
        mark: Line = (Span("↺", "accent"),) if node in visited else ()
        text = join(name, mark, gap=" ")
        room = widest - width(text) - 1
        text = join(text, fit(_beside(edge, node, index), room if room >= LEAST else 0), gap=" ")
        further = _further(node, index.graph, into=into)
        word = pad(show(shorten(edge.label, words), "dim"), words)
        status: Line = (Span(glyphs.UNSAID, "dim"),)
        if edge.status is not None:
            status = (Span(glyphs.REF[edge.status], STYLE[edge.status]),)
        if into:
            tail = join(word, status, (Span("→", "faint"),), gap=" ")
            text = pad(text, cells - width(tail) - 7)
            return (fit(join(pad(further, 5), text, tail, gap=" "), cells),)
        head = join((Span("→", "faint"),), status, word, gap=" ")
        text = pad(text, cells - width(head) - 7)
        return (fit(join(head, text, pad(further, 5, right=True), gap=" "), cells),)

    return Page(len(edges), draw, other)


def node_page(node: ItemId, index: ReadingIndex, cells: int, room: int) -> Page:
    """All items with the name of a node, one row for each."""
    graph = index.graph
    items = graph.items(node)
    if not items:
        rows = graph.rows(node)
        text = ONLY_NAMED
        if rows is not None:
            text = f"{_number(rows[-1], index) - _number(rows[0], index) + 1:,} messages"
        lines = wrap(show(text, "dim"), cells)
        return Page(1, lambda _: lines, lambda _: node, [len(lines)])
    kinds = max(cell_len(item.kind) for item in items[:MEASURED])

    def draw(row: int, depth: int) -> list[Line]:
        kind = pad(show(items[row].kind, "rule"), kinds)
        return wrap_to(join(kind, _item_text(items[row], index), gap="  "), cells, depth, " " * (kinds + 2))

    return Page.roomy(len(items), draw, lambda row: items[row], room)


def trail_line(
    trail: Sequence[ItemId], index: ReadingIndex, cells: int, action: Callable[[int], str]
) -> Line:
    """The visited nodes, without the first ones if they do not fit; a click goes back to a node."""
    here = len(trail) - 1
    parts: list[Line] = []
    used = 0
    for at in range(here, -1, -1):
        style = "strong" if at == here else "link"
        part = show(shorten(node_label(trail[at], index), 24), style, "" if at == here else action(at))
        if parts and used + width(part) + 3 > cells - 2:
            parts.append((Span("…", "dim"),))
            break
        used += width(part) + 3
        parts.append(part)
    return fit(join(*reversed(parts), gap=" › "), cells)


def _further(node: ItemId, graph: ReferenceGraph, *, into: bool) -> Line:
    """The number of edges that lead on from a neighbour."""
    number = len(graph.into(node) if into else graph.out_of(node))
    if not number:
        return ()
    return show(f"{glyphs.short_count(number)}→" if into else f"→{glyphs.short_count(number)}", "dim")


def _beside(edge: ReferenceEdge, node: ItemId, index: ReadingIndex) -> Line:
    """The status of the edge if it is not resolved, and what kind of item the neighbour is."""
    wrong = edge.status if edge.status not in (None, RefStatus.RESOLVED) else None
    about = _about(node, index)
    return join(
        show(wrong, STYLE[wrong]) if wrong is not None else (),
        about if plain(about) != edge.label else (),
        gap=" ",
    )


def _about(node: ItemId, index: ReadingIndex) -> Line:
    """The kind of a node, in a few words."""
    match index.value(node):
        case Block() as block:
            return show(block.tier, "dim")
        case FlowNode():
            return show(node.within, "dim")
        case Row() as row:
            return join(show(row.role or "", "dim"), preview(row.text, "dim", 120), gap=" ")
        case Ref() as ref:
            return show(ref.kind, "dim")
        case Gap():
            return show("missing", "dim")
        case TodoItem() as step:
            return show(step.status, "dim")
    return ()


def _item_text(item: ItemId, index: ReadingIndex) -> Line:
    match index.value(item):
        case Block() as block:
            return join(show(block.tier, "accent"), preview(block.text, "dim", 200), gap=" ")
        case Ref() as ref:
            status = show(f"{glyphs.REF[ref.status]} {ref.status}", STYLE[ref.status])
            shared = show(f"shared by {len(ref.used_by)}" if len(ref.used_by) > 1 else "", "dim")
            return join(show(ref.kind, "dim"), status, shared, show(figures(ref), "dim"), gap="  ")
        case Gap() as gap:
            return join(gap_badge(gap), show(gap.status, "dim"), preview(gap.question), gap=" ")
        case FlowNode() as record:
            return join(show(item.within, "accent"), preview(record.detail, "dim"), gap=" ")
        case Row() as row:
            return join(show(row.role or "–", "dim"), preview(row.text, "dim", 200), gap=" ")
        case TodoItem() as step:
            return join(show(step.status, "dim"), show(step.title), gap=" ")
    return show(item.name)
