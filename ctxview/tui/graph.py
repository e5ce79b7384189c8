"""What points where: every name of one reading as a stop, and the ways between stops in both directions.

Whatever goes by one name is one stop: a block, the reference to it, its record, the gap it leaves. What is
only named, such as a file outside, is a stop too. Draws nothing, reads nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

from ctxview.flow import Node
from ctxview.quick_dataclass import dataclass
from ctxview.state import Block, Gap, Ref, RefStatus, TodoItem
from ctxview.tui.things import Kind, Thing, message

if TYPE_CHECKING:
    from ctxview.tui.things import Index


@dataclass(frozen=True, slots=True)
class Way:
    """From one stop to another. `word` says what kind of way it is, `by` what in the reading says so."""

    start: Thing
    end: Thing
    word: str
    status: RefStatus | None = None
    by: Thing | None = None


class Graph:
    """Built once for a reading; asking costs no more than the answer is long."""

    def __init__(self, index: Index) -> None:
        self._names: dict[str, Thing] = {}
        self._files: dict[Thing, str] = {}
        self._stops: dict[Thing, Thing] = {}
        self._things: dict[Thing, list[Thing]] = defaultdict(list)
        self._out: dict[Thing, list[Way]] = defaultdict(list)
        self._into: dict[Thing, list[Way]] = defaultdict(list)
        self._led: set[tuple[Thing, Thing, str]] = set()
        self._subjects = {finding: index.subject(finding) for finding in index.findings}
        self._cited = index.reading.state.citations
        self._rows: dict[Thing, range] = {}
        self._name_all(index)
        self._lead_references(index)
        self._lead_gaps(index)
        self._lead_flow(index)

    def stop(self, thing: Thing | None) -> Thing | None:
        """Where a thing stands in the graph; None for what nothing can point to. A finding: its subject."""
        if thing is not None and thing.kind is Kind.FINDING:
            thing = self._subjects.get(thing)
        if thing is None or thing.kind in {Kind.MESSAGE, Kind.NAME}:
            return self._stops.get(thing, thing) if thing is not None else None
        return self._stops.get(thing)

    def things(self, stop: Thing) -> Sequence[Thing]:
        """Everything that goes by the name of a stop; nothing for what is only named."""
        return self._things.get(stop) or ((stop,) if stop.kind is Kind.MESSAGE else ())

    def rows(self, stop: Thing) -> range | None:
        """The messages a stop stands for, when it stands for several."""
        return self._rows.get(stop)

    def out_of(self, stop: Thing) -> Sequence[Way]:
        rows = self._rows.get(stop)
        return self._out.get(stop, ()) if rows is None else _Messages(self, stop, rows)

    def into(self, stop: Thing) -> Sequence[Way]:
        told = self._into.get(stop, [])
        numbers = [int(each.name) for each in self.things(stop) if each.kind is Kind.MESSAGE]
        around = [
            Way(several, stop, "of these")
            for several, rows in self._rows.items()
            if any(number in rows for number in numbers)
        ]
        return [*told, *around] if around else told

    # -- stops -----------------------------------------------------------------------------------------------

    def _name_all(self, index: Index) -> None:
        for thing, value in index.things.items():
            match value:
                case Block():
                    self._join(thing, thing.name)
                    self._files[thing] = value.origin.file
                    if (row := index.message_at(value.origin)) is not None:
                        self._stops[row] = self._stops[thing]
                        self._things[self._stops[thing]].append(row)
                case TodoItem():
                    self._join(thing, value.title)
                case Node():
                    self._join(thing, value.block or value.label)
        leading: dict[tuple[str, str], Thing] = {}
        for thing, value in index.things.items():
            if isinstance(value, Ref):
                named = self._names.get(thing.name)
                if named is None or named.kind is Kind.REF:
                    # References of one name are one stop only when they lead to the same place.
                    named = leading.setdefault((value.id, value.target), thing)
                self._join(thing, thing.name, named)
        for thing, value in index.things.items():
            if isinstance(value, Gap):
                row = index.message_at(value.origin) if thing.name not in self._names else None
                self._join(thing, thing.name, self.stop(row))

    def _join(self, thing: Thing, name: str, stop: Thing | None = None) -> None:
        first = self._names.setdefault(name, stop or thing)
        self._stops[thing] = stop = stop or first
        self._things[stop].append(thing)

    def _named(self, name: str) -> Thing:
        """The stop of a name; what nothing in the reading is called stands for itself."""
        if (found := self._names.get(name)) is not None:
            return found
        rows = self._cited.get(name)
        if rows is not None and len(rows) == 1:
            return self._stops.get(message(rows[0]), message(rows[0]))
        stop = self._names[name] = Thing(Kind.NAME, name) if not rows else self._several(name, rows)
        return stop

    def _several(self, name: str, rows: range) -> Thing:
        """The same messages are the same stop, however they are cited."""
        stop = next((each for each, known in self._rows.items() if known == rows), Thing(Kind.NAME, name))
        self._rows[stop] = rows
        return stop

    def _target(self, target: str) -> Thing:
        """Where a reference leads: to a name, or to the path of something that has a name."""
        if target in self._names or target in self._cited:
            return self._named(target)
        found = self._names.get(target.rpartition("/")[2])
        if found is not None and (
            found.kind is Kind.REF or f"/{self._files.get(found, '')}".endswith(f"/{target}")
        ):
            return found
        return self._named(target)

    # -- ways ------------------------------------------------------------------------------------------------

    def _lead_references(self, index: Index) -> None:
        for thing in index.of(Kind.REF):
            ref = index.value(thing)
            if isinstance(ref, Ref):
                here = self._stops[thing]
                for user in dict.fromkeys(ref.used_by):
                    self._lead(Way(self._named(user), here, ref.kind, ref.status, thing))
                if not ref.names_itself:
                    self._lead(Way(here, self._target(ref.target), ref.kind, ref.status, thing))

    def _lead_gaps(self, index: Index) -> None:
        for thing in index.of(Kind.GAP):
            gap = index.value(thing)
            for blocked in dict.fromkeys(gap.blocks) if isinstance(gap, Gap) else ():
                self._lead(Way(self._stops[thing], self._named(blocked), "blocks", by=thing))

    def _lead_flow(self, index: Index) -> None:
        """The way things took, where no reference says already that two of them belong together."""
        if index.ways is None:
            return
        known = {frozenset((start, end)) for start, end, _ in self._led}
        for node in index.ways.nodes:
            start = self._stops[index.node(node)]
            for link in index.ways.out_of(node):
                end = self._stops[index.node(link.end)]
                if frozenset((start, end)) not in known:
                    self._lead(Way(start, end, link.label or "on to", by=index.node(node)))

    def _lead(self, way: Way) -> None:
        """What leads to itself leads nowhere, and what is said twice is so once."""
        same = (way.start, way.end, way.word)
        if way.start != way.end and same not in self._led:
            self._led.add(same)
            self._out[way.start].append(way)
            self._into[way.end].append(way)


class _Messages(Sequence[Way]):
    """The ways from a range to each of its messages, which may be a million."""

    def __init__(self, graph: Graph, start: Thing, rows: range) -> None:
        self._graph = graph
        self._start = start
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> Way: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Way]: ...
    def __getitem__(self, at: int | slice) -> Way | Sequence[Way]:
        if isinstance(at, slice):
            return _Messages(self._graph, self._start, self._rows[at])
        row = message(self._rows[at])
        return Way(self._start, self._graph.stop(row) or row, "message")

    def __iter__(self) -> Iterator[Way]:
        return (self[at] for at in range(len(self)))
