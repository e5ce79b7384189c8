"""Names for what a person can point at, and the index that finds them, in both directions, in one reading.

A name outlives the reading it was taken from: the same block of the next revision has the same name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ctxview.files.reading import Unreadable
from ctxview.findings import Finding, worst_first
from ctxview.flow import Node
from ctxview.later import Later
from ctxview.quick_dataclass import dataclass
from ctxview.state import Block, Budget, ContextState, Gap, Origin, Ref, Row, Todo, TodoItem, Transcript
from ctxview.tui.ways import Ways

if TYPE_CHECKING:
    from ctxview.formats import Reading
    from ctxview.tui.graph import Graph


class Kind(StrEnum):
    SOURCE = "source"
    REVISION = "revision"
    WHOLE = "whole"
    BLOCK = "block"
    TODO = "todo"
    ITEM = "todo item"
    BUDGET = "budget"
    REF = "reference"
    GAP = "missing"
    FINDING = "finding"
    TEXT = "text"
    MESSAGE = "message"
    NODE = "record"
    NAME = "name"
    """What is named somewhere and is nothing that is shown."""


@dataclass(frozen=True, slots=True)
class Thing:
    """`nth` tells things of one name apart: duplicates are exactly what an inspector must be able to show."""

    kind: Kind
    name: str = ""
    within: str = ""
    nth: int = 0


WHOLE = Thing(Kind.WHOLE)
TODO = Thing(Kind.TODO)
TEXT = Thing(Kind.TEXT)

Value: TypeAlias = Block | Todo | TodoItem | Budget | Ref | Gap | Finding | Row | Node | ContextState | str


def message(row: int) -> Thing:
    """A message of the transcript; they are too many to be listed, so their name is their number."""
    return Thing(Kind.MESSAGE, str(row))


class Index:
    """Everything in one reading by name, and every finding by what it is about."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.things: dict[Thing, Value] = dict(_named(reading))
        self.findings = tuple(thing for thing in self.things if thing.kind is Kind.FINDING)
        self._places = _Places(self.things)
        self._about: dict[Thing, list[Thing]] = defaultdict(list)
        self._subject: dict[Thing, Thing] = {}
        for thing in self.findings:
            origin = self.finding(thing).origin
            around = self._places.things_at(origin) or [*self._message_at(origin)]
            if around:
                self._subject[thing] = around[0]
            for each in dict.fromkeys(around):
                self._about[each].append(thing)

    def telling(self, transcript: Transcript) -> Index:
        """The same with other messages: they are no part of what is indexed."""
        made = copy(self)
        made.reading = replace(self.reading, state=replace(self.reading.state, transcript=transcript))
        return made

    def value(self, thing: Thing | None) -> Value | None:
        if thing is not None and thing.kind is Kind.MESSAGE:
            return self._row(int(thing.name))
        return self.things.get(thing) if thing is not None else None

    def message_at(self, origin: Origin) -> Thing | None:
        """The message that stands at a place; None when the place is not in the transcript."""
        return next(self._message_at(origin), None)

    @cached_property
    def ways(self) -> Ways | None:
        """The flow to walk along; None where there is none."""
        flow = self.reading.state.flow
        return Ways(flow) if flow is not None else None

    @cached_property
    def graph(self) -> Graph:
        """What points where; built when somebody wants to walk."""
        from ctxview.tui.graph import Graph

        return Graph(self)

    def node(self, id_: str) -> Thing:
        """The name of a record of the flow."""
        stage = self.ways.stage(id_) if self.ways is not None else None
        return Thing(Kind.NODE, id_, stage.name if stage is not None else "")

    def block_named(self, id_: str | None) -> Thing | None:
        return self._block_names.get(id_) if id_ is not None else None

    @cached_property
    def _block_names(self) -> dict[str, Thing]:
        """The first block of each name."""
        return {thing.name: thing for thing in reversed(self.of(Kind.BLOCK))}

    def block(self, thing: Thing) -> Block:
        value = self.things[thing]
        if not isinstance(value, Block):
            raise KeyError(thing)
        return value

    def finding(self, thing: Thing) -> Finding:
        value = self.things[thing]
        if not isinstance(value, Finding):
            raise KeyError(thing)
        return value

    def of(self, kind: Kind) -> list[Thing]:
        return [thing for thing in self.things if thing.kind is kind]

    def about(self, thing: Thing) -> list[Thing]:
        """The findings about a thing, worst first."""
        return self._about.get(thing, [])

    def subject(self, finding: Thing) -> Thing | None:
        """The innermost thing a finding is about; None when it is about no one thing that is shown."""
        return self._subject.get(finding)

    def origin(self, thing: Thing) -> Origin | None:
        return _origin(self.value(thing))

    def _row(self, number: int) -> Row | None:
        transcript = self.reading.state.transcript
        try:
            return transcript.row(number) if transcript is not None else None
        except (IndexError, OSError, Unreadable):
            return None

    def _message_at(self, origin: Origin) -> Iterator[Thing]:
        if origin.line is None or self._messages != origin.file:
            return
        yield message(origin.line - 1)

    @cached_property
    def _messages(self) -> str | None:
        """The file with a message on each line; None when messages do not stand like that."""
        first = self._row(0)
        return first.origin.file if first is not None and first.origin.line == 1 else None


def words_of(value: Value) -> str:
    """What a person means by copying a thing."""
    match value:
        case Block():
            return value.text
        case Row():
            return value.text
        case Finding():
            return f"{value.origin}: {value.message} ({value.rule})"
        case Ref():
            return value.target
        case Gap():
            return value.question
        case TodoItem():
            return value.title
        case Todo():
            return value.summary or ""
        case Node():
            return value.text or f"{value.label} {value.detail}".strip()
        case Budget():
            return f"{value.target}: {value.used} of {value.limit} {value.unit}"
        case ContextState():
            return value.source
        case str():
            return value


class _Places:
    """Finds the things that stand at, or around, a place in a file."""

    def __init__(self, things: Mapping[Thing, Value]) -> None:
        self._pointers: dict[tuple[str, str], Thing] = {}
        spans: dict[str, list[tuple[int, int, Thing]]] = defaultdict(list)
        for thing, value in things.items():
            for file, pointer, start, end in _stands(value):
                if pointer is not None:
                    self._pointers.setdefault((file, pointer), thing)
                if start is not None and end is not None:
                    spans[file].append((start, end, thing))
        self._spans = {file: sorted(each, key=lambda item: item[0]) for file, each in spans.items()}

    def things_at(self, origin: Origin) -> list[Thing]:
        """The innermost first."""
        found: list[Thing] = []
        pointer = origin.pointer
        while pointer is not None:
            if thing := self._pointers.get((origin.file, pointer)):
                found.append(thing)
            pointer = pointer.rpartition("/")[0] if pointer else None
        if not found and (thing := self._around(origin)):
            found.append(thing)
        return found

    def _around(self, origin: Origin) -> Thing | None:
        if origin.start is None:
            return None
        spans = self._spans.get(origin.file, [])
        after = bisect_right(spans, origin.start, key=lambda item: item[0])
        # Things rarely nest more than a few deep, so the nearest few starts before the place are enough.
        for start, end, thing in reversed(spans[max(0, after - 16) : after]):
            if start <= origin.start < max(end, start + 1):
                return thing
        return None


def _named(reading: Reading) -> Iterator[tuple[Thing, Value]]:
    state = reading.state
    seen: dict[Thing, int] = defaultdict(int)

    def unique(kind: Kind, name: str, within: str = "") -> Thing:
        first = Thing(kind, name, within)
        seen[first] += 1
        return Thing(kind, name, within, seen[first] - 1)

    for tier in state.tiers:
        for block in tier.blocks:
            yield unique(Kind.BLOCK, block.id, tier.name), block
    if state.todo is not None:
        for item in state.todo.items:
            yield unique(Kind.ITEM, str(item.id) if item.id is not None else item.title), item
        yield TODO, state.todo
    for gap in state.missing:
        yield unique(Kind.GAP, gap.id), gap
    for ref in state.refs:
        yield unique(Kind.REF, ref.id, ref.kind), ref
    for budget in state.budgets:
        yield unique(Kind.BUDGET, budget.target, budget.unit), budget
    for stage in state.flow.stages if state.flow is not None else ():
        for node in stage.nodes:
            yield unique(Kind.NODE, node.id, stage.name), node
    if state.text is not None:
        yield TEXT, state.text
    yield WHOLE, state
    for finding in worst_first(reading.findings):
        where = finding.origin.pointer or str(finding.origin.line or "")
        yield unique(Kind.FINDING, finding.rule, where), finding


def _stands(value: Value) -> Iterator[tuple[str, str | None, int | None, int | None]]:
    """The places (file, pointer, start, end) that belong to a thing."""
    origin = _origin(value)
    if origin is not None and not isinstance(value, Finding | ContextState):
        yield origin.file, origin.pointer, origin.start, origin.end
    form = value.form if isinstance(value, Block | Todo | Gap | Node | ContextState) else None
    if form is None:
        return
    if not isinstance(value, ContextState):
        yield form.file, form.pointer, None, None
    if isinstance(value, Todo) and (around := form.pointer.rpartition("/")[0]):
        # The cursor is what may be written; what is wrong with the figures beside it concerns the todo too.
        yield form.file, around, None, None
    if not isinstance(form.fields, Later):
        yield from ((form.file, each.pointer, None, None) for each in form.fields)


def _origin(value: Value | None) -> Origin | None:
    if isinstance(value, Block | Ref | Gap | Finding | Row | TodoItem | Node):
        return value.origin
    if isinstance(value, Todo):
        if value.cursor is not None:
            return value.cursor.origin
        return Origin(value.form.file, value.form.pointer) if value.form is not None else None
    if isinstance(value, ContextState):
        return Origin(value.form.file, value.form.pointer) if value.form is not None else Origin(value.source)
    return None
