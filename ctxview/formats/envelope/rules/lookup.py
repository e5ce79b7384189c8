"""What several rules ask of a dossier: which items were selected, what stands in for items, who holds them.

Answers only; None where the records do not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ctxview.analysis.wording import shown
from ctxview.formats.envelope.model import Dossier, Record, Reference, count, text
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.origin import JsonValue, Origin


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
    """How a message names a record."""
    return shown(record.id) if record.id else "without an id"


def strings(value: JsonValue, *path: str | int) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text inside a value, with the way to it."""
    waiting: list[tuple[tuple[str | int, ...], JsonValue]] = [(path, value)]
    while waiting:
        at, found = waiting.pop()
        if isinstance(found, str):
            yield at, found
        elif isinstance(found, dict):
            waiting.extend(((*at, key), each) for key, each in reversed(found.items()))
        elif isinstance(found, list):
            waiting.extend(((*at, index), each) for index, each in reversed([*enumerate(found)]))


def is_blank(value: JsonValue) -> bool:
    """Nothing is said: absent, empty, or only spaces."""
    return value is None or value in ({}, []) or (isinstance(value, str) and not value.strip())
