"""Decide which rows of a Claude Code session are in the context at one moment.

Rows form a graph by their parents. A plain walk from the end up the parents misses results of parallel calls
and turns that hooks passed by, so the walk is closed over the rows that must have been sent with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import copy
from itertools import pairwise

from msgspec import Struct

from ctxview.formats.transcript.model import (
    Absence,
    LiveContext,
    LoggedCompaction,
    LogPart,
    ModelCall,
    PartKind,
    TranscriptLog,
    TranscriptRow,
)

NO_PARENT = -1
MISSING = -2


class RowGraph:
    """The parents of the first `end` rows, and for each row the nearest message row above it."""

    def __init__(self, log: TranscriptLog, end: int, *, alone: bool) -> None:
        self.log, self.rows, self.end = log, log.rows, end
        self.main = [alone or not row.side for row in log.rows[:end]]
        self.messages = [bool(row.parts) and main for row, main in zip(log.rows, self.main, strict=False)]
        names = [(row.id, index) for index, row in enumerate(log.rows[:end]) if row.id is not None]
        # From the end, because the first row of an id counts.
        self.by_id = dict(reversed(names))
        self.bridged: set[int] = set()
        self.parents = self._parents()
        self.above = self._above()
        self.lost = self.bridged | {at for at, over in enumerate(self.parents) if over == MISSING}
        """Rows whose parent is not in the file."""
        self.below: dict[int, list[int]] = defaultdict(list)
        for index, over in enumerate(self.above):
            if over >= 0 and self.messages[index]:
                self.below[over].append(index)

    def at(self, end: int) -> RowGraph:
        """Return the graph of the first `end` rows; it shares everything with this one."""
        made = copy(self)
        made.end = end
        return made

    def is_message(self, index: int) -> bool:
        return self.messages[index]

    def walk(self, leaf: int) -> tuple[set[int], int | None, int | None]:
        """Return the rows on the way up from `leaf`, the boundary at its end, and a row of a circle."""
        seen: set[int] = set()
        at = leaf
        while at >= 0:
            if at in seen:
                return seen, None, at
            seen.add(at)
            if self.rows[at].boundary:
                return seen, at, None
            at = self.parents[at]
        return seen, None, None

    def before_cut(self, boundary: int) -> int:
        """Return the row that a compaction continues; where that is not known, the message row before it."""
        named = self.by_id.get(self.rows[boundary].source or "", NO_PARENT)
        if named >= 0:
            return named
        return next((at for at in range(boundary - 1, -1, -1) if self.is_message(at)), NO_PARENT)

    def descendants(self, row: int) -> set[int]:
        """Return `row` and the rows below it, also behind compactions."""
        children: dict[int, list[int]] = defaultdict(list)
        for index in range(self.end):
            over = self.before_cut(index) if self.rows[index].boundary else self.parents[index]
            children[over].append(index)
        found, waiting = {row}, [row]
        while waiting:
            new = [index for index in children[waiting.pop()] if index not in found]
            found.update(new)
            waiting += new
        return found

    def close(self, walked: set[int], leaf: int) -> set[int]:
        """Return the live rows: the walk, and what was sent with it."""
        rows, live = self.rows, set(walked)
        speaking = [index for index in live if self.messages[index]]
        waiting = [index for index in speaking if not live.issuperset(self.below.get(index, ()))]
        if not waiting:
            return live
        messages = {rows[index].message for index in live if rows[index].message}
        calls = {part.call_id for index in live for part in rows[index].parts if part.kind is PartKind.CALL}
        held = {self.parents[index] for index in speaking}
        while waiting:
            # Rows whose nearest message row above is live, again when new ids may make their siblings join.
            over = waiting.pop()
            known = len(messages) + len(calls)
            joined: list[int] = []
            for index in self.below.get(over, ()):
                if index >= self.end:
                    break
                if index in live or not self._joins(index, over, leaf, held, messages, calls):
                    continue
                live.add(index)
                joined.append(index)
                held.add(self.parents[index])
                if rows[index].message:
                    messages.add(rows[index].message)
                calls |= {part.call_id for part in rows[index].parts if part.kind is PartKind.CALL}
            if len(messages) + len(calls) > known:
                waiting.append(over)
            waiting += joined
        return live

    def _joins(
        self,
        index: int,
        over: int,
        leaf: int,
        held: set[int],
        messages: set[str | None],
        calls: set[str | None],
    ) -> bool:
        row = self.rows[index]
        if row.role == "assistant" and row.message is not None and row.message in messages:
            return True
        if any(part.kind is PartKind.RESULT and part.call_id in calls for part in row.parts):
            return True
        if row.meta:
            return row.source is not None and row.source in calls
        if row.prompt or over == leaf or self.rows[over].role not in ("user", "assistant"):
            return False
        # The walk passed by on a chain of hook rows: nothing that hangs on the row itself is live.
        return over not in held

    def _parents(self) -> list[int]:
        rows, place = self.rows, self.by_id.get
        names = [row.parent for row in rows[: self.end]]
        found = [NO_PARENT if name is None else place(name, MISSING) for name in names]
        messages = [index for index, is_message in enumerate(self.messages) if is_message]
        if len(messages) > 1 and all(rows[index].parent is None for index in messages):
            for before, index in pairwise(messages):
                if not self._begins_anew(before, index):
                    found[index] = before
            return found
        bad = {problem.origin.line for problem in self.log.problems if problem.rule == "TRF001"}
        if bad:
            self._bridge(found, messages, bad)
        return found

    def _begins_anew(self, before: int, index: int) -> bool:
        return any(self.rows[at].boundary for at in range(before, index))

    def _bridge(self, found: list[int], messages: Sequence[int], bad: set[int | None]) -> None:
        """Hang a row whose parent is lost in a bad line on the message row before it."""
        for before, index in pairwise(messages):
            first, last = self.rows[before].line, self.rows[index].line
            if found[index] != MISSING or first is None or last is None:
                continue
            if any(first + 1 < line <= last + 1 for line in bad if line is not None):
                found[index] = before
                self.bridged.add(index)

    def _above(self) -> list[int]:
        found = [NO_PARENT] * self.end
        rows, messages = self.rows, self.messages
        for index, over in enumerate(self.parents):
            if over < index:
                # What is above the parent is known, as it comes first in nearly all files.
                if over >= 0:
                    passed = NO_PARENT if rows[over].boundary else found[over]
                    found[index] = over if messages[over] else passed
                continue
            at, steps = over, 0
            while at >= 0 and not self.is_message(at) and steps <= self.end:
                if at < index and steps and found[at] != NO_PARENT:
                    at = found[at]
                    break
                if self.rows[at].boundary:
                    at = NO_PARENT
                    break
                at, steps = self.parents[at], steps + 1
            found[index] = at if steps <= self.end else NO_PARENT
        return found


def graph_of(log: TranscriptLog, *, alone: bool) -> RowGraph:
    """Return the graph of all rows of a log, which is kept with the log."""
    if not isinstance(log.graph, RowGraph) or log.graph.end != len(log.rows):
        log.graph = RowGraph(log, len(log.rows), alone=alone)
    return log.graph


class Stretch(Struct, frozen=True):
    """The live rows of one stretch between compactions."""

    live: set[int]
    walked: set[int]
    boundary: int | None
    circle: int | None


def live_context(log: TranscriptLog, call: ModelCall | None, *, alone: bool) -> LiveContext:
    """Return the context that `call` was sent, or the one that the next call will be sent."""
    end = call.row if call is not None else len(log.rows)
    graph = graph_of(log, alone=alone).at(end)
    leaf = _leaf_of_call(log, graph, call) if call is not None else _leaf(graph)
    if leaf is None:
        absent = [index for index in range(end) if log.rows[index].in_context]
        return LiveContext((), {Absence.SIDE: absent}, ())
    stretches = [_stretch(graph, leaf)]
    first = stretches[0]
    start = _cut_at(log, first.boundary)
    kept = {graph.by_id[name] for name in (start.kept if start else ()) if name in graph.by_id}
    live = first.live | kept
    seen_boundaries: set[int] = set()
    while (boundary := stretches[-1].boundary) is not None and boundary not in seen_boundaries:
        seen_boundaries.add(boundary)
        earlier = graph.before_cut(boundary)
        if earlier < 0:
            break
        stretches.append(_stretch(graph, earlier))
    # What a compaction on an abandoned branch replaced was compacted away, too, and is not a dead branch.
    abandoned = [
        graph.by_id[source]
        for cut in log.compactions
        if cut.row < end and graph.main[cut.row] and cut.row not in seen_boundaries
        if (source := log.rows[cut.row].source) in graph.by_id
    ]
    earlier_live = [each.live for each in (*stretches[1:], *(_stretch(graph, each) for each in abandoned))]
    compacted = set().union(*earlier_live) - live
    rows = sorted([index for index in live if log.rows[index].parts])
    beside = frozenset(index for index in rows if index not in first.walked and index not in kept)
    parts = _in_prompt_order(log, rows)
    lineage = sorted([index for each in stretches for index in each.live if log.rows[index].parts])
    broken = [(index, index in graph.bridged) for each in stretches for index in each.walked & graph.lost]
    results = {part.call_id for part in parts if part.kind is PartKind.RESULT}
    calls = {part.call_id for part in parts if part.kind is PartKind.CALL}
    named = [(each, "logicalParentUuid", log.rows[each].source) for each in sorted(seen_boundaries)]
    named += [(start.row, "preserved message", name) for name in start.kept] if start else []
    return LiveContext(
        parts=parts,
        absent=_absent(graph, live, compacted),
        calls=_calls_in(log, rows),
        beside_walk=beside,
        lineage=lineage,
        circle=next((each.circle for each in stretches if each.circle is not None), None),
        broken=sorted(broken),
        start=start,
        dangling=[
            (row, f"{field} {name}")
            for row, field, name in named
            if name is not None and name not in graph.by_id and not log.partial
        ],
        missing_results=[
            part for part in parts if part.kind is PartKind.CALL and part.call_id not in results
        ],
        missing_calls=[part for part in parts if part.kind is PartKind.RESULT and part.call_id not in calls],
    )


def drop_side_calls(log: TranscriptLog) -> None:
    """Leave out the calls, tasks and agents of sub-agents that wrote into the same file."""
    if not any(row.side for row in log.rows):
        return
    log.calls = [call for call in log.calls if not log.rows[call.row].side]
    for at, call in enumerate(log.calls):
        call.number = at + 1
    log.todos = [change for change in log.todos if not log.rows[change.row].side]
    log.children = [child for child in log.children if not log.rows[child.row].side]


def previous_calls(log: TranscriptLog, *, alone: bool) -> None:
    """Note for every call the one that it continues, which on a branch is not the one before it."""
    graph = graph_of(log, alone=alone)
    by_message = {call.id: index for index, call in enumerate(log.calls)}
    for index, call in enumerate(log.calls):
        at, steps = graph.parents[call.row], 0
        call.previous = call.compaction = None
        while at >= 0 and steps <= len(log.rows):
            found = by_message.get(log.rows[at].message) if log.rows[at].message else None
            if found is not None and found != index:
                call.previous = found
                if call.compaction is None and not log.calls[found].sent:
                    call.compaction = log.calls[found].compaction
                break
            if log.rows[at].boundary:
                call.compaction = at if call.compaction is None else call.compaction
                at = graph.by_id.get(log.rows[at].source or "", NO_PARENT)
            else:
                at = graph.parents[at]
            steps += 1


def _stretch(graph: RowGraph, leaf: int) -> Stretch:
    walked, boundary, circle = graph.walk(leaf)
    return Stretch(graph.close(walked, leaf), walked, boundary, circle)


def _leaf(graph: RowGraph) -> int | None:
    """Return the newest message of the main line; if the last prompt names a row, the newest below that."""
    speakers = [
        index
        for index in range(graph.end - 1, -1, -1)
        if graph.main[index] and graph.rows[index].role in ("user", "assistant")
    ]
    named = next(
        (
            graph.by_id[row.source]
            for row in reversed(graph.rows[: graph.end])
            if row.sort == "last-prompt" and row.source in graph.by_id
        ),
        None,
    )
    if named is not None:
        below = graph.descendants(named)
        return next((index for index in speakers if index in below), speakers[0] if speakers else None)
    return speakers[0] if speakers else None


def _leaf_of_call(log: TranscriptLog, graph: RowGraph, call: ModelCall) -> int | None:
    name = log.rows[call.row].parent
    at = graph.by_id.get(name, NO_PARENT) if name is not None else NO_PARENT
    if at < 0:
        at = next((index for index in range(graph.end - 1, -1, -1) if graph.is_message(index)), NO_PARENT)
    return at if at >= 0 else None


def _cut_at(log: TranscriptLog, row: int | None) -> LoggedCompaction | None:
    return next((each for each in log.compactions if each.row == row), None)


def _in_prompt_order(log: TranscriptLog, rows: Sequence[int]) -> list[LogPart]:
    """Return the parts of the rows by line, with the blocks of one call gathered under its first row."""
    groups: dict[str, list[TranscriptRow]] = {}
    order: list[list[TranscriptRow]] = []
    for index in rows:
        row = log.rows[index]
        if row.role == "assistant" and row.message is not None:
            if row.message in groups:
                groups[row.message].append(row)
                continue
            groups[row.message] = [row]
            order.append(groups[row.message])
        else:
            order.append([row])
    return [part for group in order for row in group for part in row.parts]


def _calls_in(log: TranscriptLog, rows: Iterable[int]) -> list[ModelCall]:
    messages = {log.rows[index].message for index in rows} - {None}
    return [call for call in log.calls if call.id in messages]


def _absent(graph: RowGraph, live: set[int], compacted: set[int]) -> dict[Absence, list[int]]:
    """Return the rows with content that are not live by the reason, in the order of their first rows."""
    rows, main = graph.rows, graph.main
    absent = [index for index in range(graph.end) if index not in live and rows[index].parts]
    dead = [index for index in absent if index not in compacted and main[index]]
    copies = _copies(graph, dead, live | compacted) if dead else set()
    found = {
        Absence.SIDE: [index for index in absent if not main[index]],
        Absence.COMPACTED: [index for index in absent if index in compacted and main[index]],
        Absence.SUPERSEDED: [index for index in dead if index in copies],
        Absence.DEAD: [index for index in dead if index not in copies],
    }
    return {why: gone for gone, why in sorted((gone, why) for why, gone in found.items() if gone)}


def _copies(graph: RowGraph, dead: Sequence[int], on_the_way: set[int]) -> set[int]:
    """Return the rows of dead branches that have a call which the way to the end has, too."""
    rows = graph.rows
    known = {rows[index].message for index in on_the_way if rows[index].message}
    roots: dict[int, int] = {}
    copied: set[int] = set()
    for index in dead:
        roots[index] = roots.get(graph.above[index], index)
        if rows[index].message in known:
            copied.add(roots[index])
    return {index for index in dead if roots[index] in copied}
