"""What several rules ask of a dossier: which items were selected, what stands in for items, who holds them.

Answers only; None where the records do not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from ctxview.analysis.wording import shown
from ctxview.formats.envelope.model import Dossier, Record, Reference, count, text
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.origin import JsonValue, Origin
from ctxview.quick_dataclass import dataclass

Path: TypeAlias = tuple[str | int, ...]
Value: TypeAlias = JsonValue | Mapping[str, JsonValue]
DEEPEST = 60
"""Nobody writes what is nested deeper, but somebody may want to keep a rule busy with it."""


@dataclass(frozen=True, slots=True)
class Part:
    """One block of an assembly, or one segment of a window."""

    record: Record
    name: str
    """The list it stands in."""
    at: int
    members: Mapping[str, JsonValue]
    refs: tuple[Reference, ...] | None
    """Its items; None when it does not say which."""

    @property
    def id(self) -> str:
        """How a message names it."""
        own = self.text("block_id") or self.text("segment_id")
        return shown(own) if own else f"number {self.at + 1}"

    def text(self, name: str) -> str | None:
        return text(self.members.get(name))

    def count(self, name: str) -> int | None:
        return count(self.members.get(name))

    def number(self, name: str) -> float | None:
        value = self.members.get(name)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def object(self, name: str) -> Mapping[str, JsonValue]:
        value = self.members.get(name)
        return value if isinstance(value, dict) else {}

    def origin(self, *path: str | int) -> Origin:
        return self.record.origin(self.name, self.at, *path)


def blocks(assembly: Record) -> tuple[Part, ...]:
    return tuple(_parts(assembly, "ordered_blocks"))


def segments(budget: Record) -> tuple[Part, ...]:
    return tuple(_parts(budget, "window_segments"))


def _parts(record: Record, name: str) -> Iterator[Part]:
    found: dict[str | int, list[Reference]] = {}
    for reference in record.references:
        if reference.path[0] == name and reference.name == "item_refs":
            found.setdefault(reference.path[1], []).append(reference)
    for at, members in record.objects(name):
        says = isinstance(members.get("item_refs"), list)
        yield Part(record, name, at, members, tuple(found.get(at, ())) if says else None)


def truncations(budget: Record) -> list[JsonValue]:
    """The truncation records of a budget and of its segments, whatever they look like."""
    homes = (budget.value, *(each.members for each in segments(budget)))
    lists = (home.get("truncation_records") for home in homes)
    return [each for found in lists if isinstance(found, list) for each in found if not is_blank(each)]


def ids(references: Iterable[Reference]) -> tuple[str, ...]:
    """What the references name, each once, in their order; entries that name nothing are left out."""
    return tuple(dict.fromkeys(each.id for each in references if each.id is not None))


def assembled(assembly: Record) -> tuple[str, ...]:
    """The items in the blocks of an assembly."""
    return ids(each for block in blocks(assembly) for each in block.refs or ())


def assemblies_under(dossier: Dossier, budget: Record) -> tuple[Record, ...]:
    """The assemblies that say that they kept to a budget."""
    found = dossier.of(Kind.ASSEMBLY)
    return tuple(each for each in found if budget in dossier.targets_of(each.refs("budget_ref")))


def selected(dossier: Dossier) -> frozenset[str] | None:
    """What any selection selected; None when none of them tells."""
    telling = [each for each in dossier.of(Kind.SELECTION) if "selected_item_refs" in each.value]
    if not telling:
        return None
    return frozenset(name for each in telling for name in ids(each.refs("selected_item_refs")))


def stand_ins(dossier: Dossier) -> frozenset[str]:
    """The summaries: they stand in for the items they were made of."""
    summaries = (each.id for each in dossier.of(Kind.SUMMARY) if each.id is not None)
    made = (name for each in dossier.of(Kind.COMPACTION) for name in ids(each.refs("summary_ref")))
    return frozenset((*summaries, *made))


def omissions(dossier: Dossier, *reasons: str) -> Iterator[Reference]:
    """The items that a selection left out for one of these reasons."""
    for selection in dossier.of(Kind.SELECTION):
        for reference in selection.refs("omitted_item_refs"):
            if reference.members.get("reason") in reasons:
                yield reference


def called(record: Record) -> str:
    """How a message names a record behind the word for its kind."""
    return shown(record.id) if record.id else "without an id"


def named(record: Record) -> str:
    """How a message that begins with a record names it."""
    return shown(record.id) if record.id else f"a {record.kind} without an id"


def members(value: Value) -> Iterator[tuple[Path, Value]]:
    """Everything inside a value, in its order, with the way to it."""
    waiting: list[tuple[Path, Value]] = [((), value)]
    while waiting:
        path, found = waiting.pop()
        if path:
            yield path, found
        entries: Iterable[tuple[str | int, JsonValue]] = ()
        if isinstance(found, Mapping):
            entries = found.items()
        elif isinstance(found, list):
            entries = enumerate(found)
        if len(path) >= DEEPEST:
            continue
        waiting.extend(reversed([((*path, key), each) for key, each in entries]))


def strings(value: Value) -> Iterator[tuple[Path, str]]:
    """Every text inside a value, with the way to it."""
    if isinstance(value, str):
        yield (), value
    for path, found in members(value):
        if isinstance(found, str):
            yield path, found


def is_blank(value: JsonValue) -> bool:
    """Nothing is said: absent, empty, or only spaces."""
    return value is None or value in ({}, []) or (isinstance(value, str) and not value.strip())
