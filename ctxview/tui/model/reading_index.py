"""Ids for everything selectable, and the index of one reading: items by id, and findings by item.

An id outlives its reading: the same block of the next revision has the same id.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.diff.model import Change, ChangeGroup
from ctxview.core.findings import Finding, worst_first
from ctxview.core.flow import FlowIndex, FlowNode
from ctxview.core.lazy import LazySequence
from ctxview.core.origin import Origin
from ctxview.core.pauses import give_way
from ctxview.core.state import Block, Budget, ContextState, Gap, Ref, Todo, TodoItem
from ctxview.core.transcript import Row, Transcript
from ctxview.files.reading import ReadError

if TYPE_CHECKING:
    from ctxview.formats import Reading
    from ctxview.tui.model.reference_graph import ReferenceGraph


class ItemKind(StrEnum):
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
    """A name that is mentioned but has no item, such as a file outside."""


class ItemId(Struct, frozen=True):
    """The id of an item. `nth` distinguishes duplicates, which an inspector must be able to show."""

    kind: ItemKind
    name: str = ""
    within: str = ""
    nth: int = 0


WHOLE = ItemId(ItemKind.WHOLE)
TODO = ItemId(ItemKind.TODO)
TEXT = ItemId(ItemKind.TEXT)

ItemValue: TypeAlias = (
    Block | Todo | TodoItem | Budget | Ref | Gap | Finding | Row | FlowNode | ContextState | str
)


def message_id(row: int) -> ItemId:
    """The id of a message: its row number, since a transcript is too long to be indexed."""
    return ItemId(ItemKind.MESSAGE, str(row))


class ReadingIndex:
    """All items of one reading by id, and its findings by the item they are about."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        flow = reading.state.flow
        self.flow_index: FlowIndex | None = flow.index if flow is not None else None
        """The index of the flow; None when the state has no flow."""
        self.items: dict[ItemId, ItemValue] = dict(_items(reading))
        self.findings = tuple(item for item in self.items if item.kind is ItemKind.FINDING)
        self._origins = _OriginIndex(self.items)
        self._about: dict[ItemId, list[ItemId]] = defaultdict(list)
        self._subject: dict[ItemId, ItemId] = {}
        for item in self.findings:
            give_way()
            origin = self.finding(item).origin
            around = self._origins.items_at(origin) or [*self._message_at(origin)]
            if around:
                self._subject[item] = around[0]
            for each in dict.fromkeys(around):
                self._about[each].append(item)

    def with_transcript(self, transcript: Transcript) -> ReadingIndex:
        """Return the same index with another transcript, which is not indexed."""
        index = copy(self)
        index.reading = replace(self.reading, state=replace(self.reading.state, transcript=transcript))
        return index

    def value(self, item: ItemId | None) -> ItemValue | None:
        if item is not None and item.kind is ItemKind.MESSAGE:
            return self._row(int(item.name))
        return self.items.get(item) if item is not None else None

    def message_at(self, origin: Origin) -> ItemId | None:
        """The message at `origin`; None when that is not in the transcript."""
        return next(self._message_at(origin), None)

    @cached_property
    def graph(self) -> ReferenceGraph:
        """The reference graph, built on first use."""
        from ctxview.tui.model.reference_graph import ReferenceGraph

        return ReferenceGraph(self)

    def prepare(self) -> None:
        """Build the reference graph now, in a job, so that it is there when a person asks for it."""
        assert self.graph is not None

    def node(self, id_: str) -> ItemId:
        """The id of the flow node `id_`."""
        stage = self.flow_index.stage(id_) if self.flow_index is not None else None
        return ItemId(ItemKind.NODE, id_, stage.name if stage is not None else "")

    def block_named(self, id_: str | None) -> ItemId | None:
        return self._block_names.get(id_) if id_ is not None else None

    @cached_property
    def _block_names(self) -> dict[str, ItemId]:
        """The first block of each id."""
        return {item.name: item for item in reversed(self.of(ItemKind.BLOCK))}

    def block_at(self, origin: Origin) -> Block | None:
        """The innermost block around `origin`; None when it is not in a block."""
        values = (self.items[item] for item in self._origins.items_at(origin))
        return next((value for value in values if isinstance(value, Block)), None)

    def block(self, item: ItemId) -> Block:
        value = self.items[item]
        if not isinstance(value, Block):
            raise KeyError(item)
        return value

    def finding(self, item: ItemId) -> Finding:
        value = self.items[item]
        if not isinstance(value, Finding):
            raise KeyError(item)
        return value

    def of(self, kind: ItemKind) -> Sequence[ItemId]:
        return self._by_kind.get(kind, ())

    @cached_property
    def _by_kind(self) -> dict[ItemKind, list[ItemId]]:
        found: dict[ItemKind, list[ItemId]] = {}
        for item in self.items:
            found.setdefault(item.kind, []).append(item)
        return found

    def about(self, item: ItemId) -> list[ItemId]:
        """The findings about `item`, worst first."""
        return self._about.get(item, [])

    def subject(self, finding: ItemId) -> ItemId | None:
        """The innermost item a finding is about; None when it is not about a single item."""
        return self._subject.get(finding)

    def origin(self, item: ItemId) -> Origin | None:
        return _origin(self.value(item))

    def _row(self, number: int) -> Row | None:
        transcript = self.reading.state.transcript
        try:
            return transcript.row(number) if transcript is not None else None
        except (IndexError, OSError, ReadError):
            return None

    def _message_at(self, origin: Origin) -> Iterator[ItemId]:
        if origin.line is None or self._messages != origin.file:
            return
        yield message_id(origin.line - 1)

    @cached_property
    def _messages(self) -> str | None:
        """The file with one message on each line; None when the transcript has another form."""
        first = self._row(0)
        return first.origin.file if first is not None and first.origin.line == 1 else None


def item_of_change(change: Change) -> ItemId:
    """The id of the item that `change` is about."""
    kinds = {
        ChangeGroup.BLOCKS: ItemKind.BLOCK,
        ChangeGroup.BUDGET: ItemKind.BUDGET,
        ChangeGroup.REFS: ItemKind.REF,
    }
    if change.group in kinds:
        return ItemId(kinds[change.group], change.subject, change.place)
    if change.group is ChangeGroup.MISSING:
        return ItemId(ItemKind.GAP, change.subject)
    if change.group is ChangeGroup.TODO and change.subject != "progress":
        return ItemId(ItemKind.ITEM, change.subject.removeprefix("#"))
    if change.group in (ChangeGroup.TODO, ChangeGroup.CURSOR):
        return TODO
    if change.group is ChangeGroup.ORDER:
        order = change.deltas[0].after
        return ItemId(ItemKind.BLOCK, str(order[0]) if isinstance(order, list) else "", change.subject)
    return TEXT if change.subject == "text" else WHOLE


def copy_text(value: ItemValue) -> str:
    """The text to copy for an item."""
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
        case FlowNode():
            return str(value.text) or f"{value.label} {value.detail}".strip()
        case Budget():
            return f"{value.target}: {value.used} of {value.limit} {value.unit}"
        case ContextState():
            return value.source
        case str():
            return value


class _OriginIndex:
    """Finds the items at or around an origin."""

    def __init__(self, items: Mapping[ItemId, ItemValue]) -> None:
        self._pointers: dict[tuple[str, str], ItemId] = {}
        spans: dict[str, list[tuple[int, int, ItemId]]] = defaultdict(list)
        for item, value in items.items():
            for file, pointer, start, end in _places(value):
                if pointer is not None:
                    self._pointers.setdefault((file, pointer), item)
                if start is not None and end is not None:
                    spans[file].append((start, end, item))
        self._spans = {file: sorted(each, key=lambda span: span[0]) for file, each in spans.items()}

    def items_at(self, origin: Origin) -> list[ItemId]:
        """The items at or around `origin`, the innermost first."""
        found: list[ItemId] = []
        pointer = origin.pointer
        while pointer is not None:
            if item := self._pointers.get((origin.file, pointer)):
                found.append(item)
            pointer = pointer.rpartition("/")[0] if pointer else None
        if not found and (item := self._around(origin)):
            found.append(item)
        return found

    def _around(self, origin: Origin) -> ItemId | None:
        if origin.start is None:
            return None
        spans = self._spans.get(origin.file, [])
        after = bisect_right(spans, origin.start, key=lambda span: span[0])
        # Items rarely nest more than a few deep, so the nearest few starts before the origin are enough.
        for start, end, item in reversed(spans[max(0, after - 16) : after]):
            if start <= origin.start < max(end, start + 1):
                return item
        return None


def _items(reading: Reading) -> Iterator[tuple[ItemId, ItemValue]]:
    state = reading.state
    seen: dict[ItemId, int] = defaultdict(int)

    def unique(kind: ItemKind, name: str, within: str = "") -> ItemId:
        first = ItemId(kind, name, within)
        seen[first] += 1
        return ItemId(kind, name, within, seen[first] - 1)

    for tier in state.tiers:
        for block in tier.blocks:
            yield unique(ItemKind.BLOCK, block.id, tier.name), block
    if state.todo is not None:
        for item in state.todo.items:
            yield unique(ItemKind.ITEM, str(item.id) if item.id is not None else item.title), item
        yield TODO, state.todo
    for gap in state.missing:
        yield unique(ItemKind.GAP, gap.id), gap
    for ref in state.refs:
        yield unique(ItemKind.REF, ref.id, ref.kind), ref
    for budget in state.budgets:
        yield unique(ItemKind.BUDGET, budget.target, budget.unit), budget
    for stage in state.flow.stages if state.flow is not None else ():
        for node in stage.nodes:
            yield unique(ItemKind.NODE, node.id, stage.name), node
    if state.text is not None:
        yield TEXT, state.text
    yield WHOLE, state
    for finding in worst_first(reading.findings):
        where = finding.origin.pointer or str(finding.origin.line or "")
        yield unique(ItemKind.FINDING, finding.rule, where), finding


def _places(value: ItemValue) -> Iterator[tuple[str, str | None, int | None, int | None]]:
    """The places (file, pointer, start, end) that belong to an item."""
    origin = _origin(value)
    if origin is not None and not isinstance(value, Finding | ContextState):
        yield origin.file, origin.pointer, origin.start, origin.end
    form = value.form if isinstance(value, Block | Todo | Gap | Ref | FlowNode | ContextState) else None
    if form is None:
        return
    if not isinstance(value, ContextState):
        yield form.file, form.pointer, None, None
    if isinstance(value, Todo) and (around := form.pointer.rpartition("/")[0]):
        # Only the cursor may be written, but findings about the figures beside it concern the todo too.
        yield form.file, around, None, None
    if not isinstance(form.fields, LazySequence):
        yield from ((form.file, each.pointer, None, None) for each in form.fields)


def _origin(value: ItemValue | None) -> Origin | None:
    if isinstance(value, Block | Ref | Gap | Finding | Row | TodoItem | FlowNode):
        return value.origin
    if isinstance(value, Todo):
        if value.cursor is not None:
            return value.cursor.origin
        return Origin(value.form.file, value.form.pointer) if value.form is not None else None
    if isinstance(value, ContextState):
        return Origin(value.form.file, value.form.pointer) if value.form is not None else Origin(value.source)
    return None
