"""The reference graph of one reading: a node for every name, and the edges between nodes in both directions.

Items of one name are one node: a block, the reference to it, its record, its gap. A name without an item,
such as a file outside, is a node too. Draws nothing, reads nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

from msgspec import Struct

from ctxview.core.flow import FlowNode
from ctxview.core.state import Block, Gap, Ref, RefStatus, TodoItem
from ctxview.tui.model.reading_index import ItemId, ItemKind, message_id

if TYPE_CHECKING:
    from ctxview.tui.model.reading_index import ReadingIndex


class ReferenceEdge(Struct, frozen=True):
    """An edge between two nodes. `label` is its kind, `declared_by` the item that declares it."""

    start: ItemId
    end: ItemId
    label: str
    status: RefStatus | None = None
    declared_by: ItemId | None = None


class ReferenceGraph:
    """Built once for a reading; a query costs no more than the length of its result."""

    def __init__(self, index: ReadingIndex) -> None:
        self._names: dict[str, ItemId] = {}
        self._files: dict[ItemId, str] = {}
        self._nodes: dict[ItemId, ItemId] = {}
        self._items: dict[ItemId, list[ItemId]] = defaultdict(list)
        self._out: dict[ItemId, list[ReferenceEdge]] = defaultdict(list)
        self._into: dict[ItemId, list[ReferenceEdge]] = defaultdict(list)
        self._known: set[tuple[ItemId, ItemId, str]] = set()
        self._subjects = {finding: index.subject(finding) for finding in index.findings}
        self._cited = index.reading.state.citations
        self._rows: dict[ItemId, range] = {}
        self._add_items(index)
        self._add_references(index)
        self._add_gaps(index)
        self._add_flow(index)

    def node(self, item: ItemId | None) -> ItemId | None:
        """The node of `item`, for a finding that of its subject; None for an item without a node."""
        if item is not None and item.kind is ItemKind.FINDING:
            item = self._subjects.get(item)
        if item is None or item.kind in {ItemKind.MESSAGE, ItemKind.NAME}:
            return self._nodes.get(item, item) if item is not None else None
        return self._nodes.get(item)

    def items(self, node: ItemId) -> Sequence[ItemId]:
        """All items of a node; none for a name without an item."""
        return self._items.get(node) or ((node,) if node.kind is ItemKind.MESSAGE else ())

    def rows(self, node: ItemId) -> range | None:
        """The messages of a node that stands for several; else None."""
        return self._rows.get(node)

    def out_of(self, node: ItemId) -> Sequence[ReferenceEdge]:
        rows = self._rows.get(node)
        return self._out.get(node, ()) if rows is None else _MessageEdges(self, node, rows)

    def into(self, node: ItemId) -> Sequence[ReferenceEdge]:
        edges = self._into.get(node, [])
        numbers = [int(each.name) for each in self.items(node) if each.kind is ItemKind.MESSAGE]
        ranges = [
            ReferenceEdge(several, node, "of these")
            for several, rows in self._rows.items()
            if any(number in rows for number in numbers)
        ]
        return [*edges, *ranges] if ranges else edges

    # -- nodes -----------------------------------------------------------------------------------------------

    def _add_items(self, index: ReadingIndex) -> None:
        for item, value in index.items.items():
            match value:
                case Block():
                    self._add(item, item.name)
                    self._files[item] = value.origin.file
                    if (row := index.message_at(value.origin)) is not None:
                        self._nodes[row] = self._nodes[item]
                        self._items[self._nodes[item]].append(row)
                case TodoItem():
                    self._add(item, value.title)
                case FlowNode():
                    self._add(item, value.block or value.label)
        by_target: dict[tuple[str, str], ItemId] = {}
        for item, value in index.items.items():
            if isinstance(value, Ref):
                named = self._names.get(item.name)
                if named is None or named.kind is ItemKind.REF:
                    # References of one name are one node only when they have the same target.
                    named = by_target.setdefault((value.id, value.target), item)
                self._add(item, item.name, named)
        for item, value in index.items.items():
            if isinstance(value, Gap):
                row = index.message_at(value.origin) if item.name not in self._names else None
                self._add(item, item.name, self.node(row))

    def _add(self, item: ItemId, name: str, node: ItemId | None = None) -> None:
        first = self._names.setdefault(name, node or item)
        self._nodes[item] = node = node or first
        self._items[node].append(item)

    def _named(self, name: str) -> ItemId:
        """The node of `name`; a name without an item gets a node for itself."""
        if (found := self._names.get(name)) is not None:
            return found
        rows = self._cited.get(name)
        if rows is not None and len(rows) == 1:
            return self._nodes.get(message_id(rows[0]), message_id(rows[0]))
        node = ItemId(ItemKind.NAME, name)
        if rows:
            # The same messages are the same node, however they are cited.
            node = next((each for each, known in self._rows.items() if known == rows), node)
            self._rows[node] = rows
        self._names[name] = node
        return node

    def _target(self, target: str) -> ItemId:
        """The node of a reference's target, which is a name or the path of a named item."""
        if target in self._names or target in self._cited:
            return self._named(target)
        found = self._names.get(target.rpartition("/")[2])
        if found is not None and (
            found.kind is ItemKind.REF or f"/{self._files.get(found, '')}".endswith(f"/{target}")
        ):
            return found
        return self._named(target)

    # -- edges -----------------------------------------------------------------------------------------------

    def _add_references(self, index: ReadingIndex) -> None:
        for item in index.of(ItemKind.REF):
            ref = index.value(item)
            if isinstance(ref, Ref):
                here = self._nodes[item]
                for user in dict.fromkeys(ref.used_by):
                    self._add_edge(ReferenceEdge(self._named(user), here, ref.kind, ref.status, item))
                if not ref.names_itself:
                    self._add_edge(ReferenceEdge(here, self._target(ref.target), ref.kind, ref.status, item))

    def _add_gaps(self, index: ReadingIndex) -> None:
        for item in index.of(ItemKind.GAP):
            gap = index.value(item)
            for blocked in dict.fromkeys(gap.blocks) if isinstance(gap, Gap) else ():
                self._add_edge(
                    ReferenceEdge(self._nodes[item], self._named(blocked), "blocks", declared_by=item)
                )

    def _add_flow(self, index: ReadingIndex) -> None:
        """Add the links of the flow, except between nodes that a reference already joins."""
        if index.flow_index is None:
            return
        known = {frozenset((start, end)) for start, end, _ in self._known}
        for node in index.flow_index.nodes:
            start = self._nodes[index.node(node)]
            for link in index.flow_index.out_of(node):
                end = self._nodes[index.node(link.end)]
                if frozenset((start, end)) not in known:
                    self._add_edge(
                        ReferenceEdge(start, end, link.label or "on to", declared_by=index.node(node))
                    )

    def _add_edge(self, edge: ReferenceEdge) -> None:
        """Add an edge; skip self-loops and duplicate edges."""
        key = (edge.start, edge.end, edge.label)
        if edge.start != edge.end and key not in self._known:
            self._known.add(key)
            self._out[edge.start].append(edge)
            self._into[edge.end].append(edge)


class _MessageEdges(Sequence[ReferenceEdge]):
    """The edges from a range to each of its messages, of which there may be a million."""

    def __init__(self, graph: ReferenceGraph, start: ItemId, rows: range) -> None:
        self._graph = graph
        self._start = start
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> ReferenceEdge: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[ReferenceEdge]: ...
    def __getitem__(self, at: int | slice) -> ReferenceEdge | Sequence[ReferenceEdge]:
        if isinstance(at, slice):
            return _MessageEdges(self._graph, self._start, self._rows[at])
        row = message_id(self._rows[at])
        return ReferenceEdge(self._start, self._graph.node(row) or row, "message")

    def __iter__(self) -> Iterator[ReferenceEdge]:
        return (self[at] for at in range(len(self)))
