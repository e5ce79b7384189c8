"""All records of a source, and which of them belong to which envelope.

The draft names no bundle: one envelope owns whatever lies beside it; several share by what each refers to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from ctxview.analysis.rfc3339 import in_time
from ctxview.formats.envelope.model import Dossier, Record, Reference, text
from ctxview.formats.envelope.read import RecordFile
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, eq=False)
class Bundle:
    """The files of a source, taken together."""

    files: tuple[RecordFile, ...]

    @cached_property
    def records(self) -> tuple[Record, ...]:
        return tuple(record for file in self.files for record in file.records)

    @cached_property
    def envelopes(self) -> tuple[Record, ...]:
        """In the order of their revisions."""
        return _in_order(self.of(Kind.ENVELOPE))

    @cached_property
    def dossiers(self) -> tuple[Dossier, ...]:
        """One for each envelope in that order; one without an envelope when there is none."""
        envelopes = self.envelopes
        if not envelopes:
            return (Dossier(None, self.records),)
        if len(envelopes) == 1:
            own = envelopes[0].file
            return (Dossier(envelopes[0], tuple(sorted(self.records, key=lambda each: each.file != own))),)
        reaches = [_Reach(self, envelope) for envelope in envelopes]
        taken = {id(record) for reach in reaches for record in reach.found}
        for record in self.records:
            if id(record) not in taken:
                _adopt(record, reaches)
        return tuple(reach.dossier() for reach in reaches)

    def of(self, kind: Kind) -> Sequence[Record]:
        return self._by_kind.get(kind, ())

    @cached_property
    def places(self) -> Mapping[int, int]:
        """The position of each record among all, by its identity."""
        return {id(record): place for place, record in enumerate(self.records)}

    @cached_property
    def _by_kind(self) -> Mapping[Kind, Sequence[Record]]:
        found: dict[Kind, list[Record]] = {}
        for record in self.records:
            found.setdefault(record.kind, []).append(record)
        return found

    @cached_property
    def by_id(self) -> Mapping[tuple[Kind, str], Sequence[Record]]:
        found: dict[tuple[Kind, str], list[Record]] = {}
        for record in self.records:
            if record.id is not None:
                found.setdefault((record.kind, record.id), []).append(record)
        return found

    @cached_property
    def owners(self) -> Mapping[tuple[str, str | None], Sequence[Record]]:
        """By the file of an event and the context it names: the envelopes that it tells of.

        A revision is saved with all that was told of the envelopes before it: there those events are its own.
        """
        heirs: dict[tuple[str, str | None], list[Record]] = {}
        for envelope in self.of(Kind.ENVELOPE):
            for before in _line(self, envelope):
                heirs.setdefault((envelope.file, before.id), []).append(envelope)
        found: dict[tuple[str, str | None], Sequence[Record]] = {}
        for event in self.of(Kind.EVENT):
            place = event.file, event.text("context_id")
            named = self.by_id.get((Kind.ENVELOPE, place[1] or ""), ())
            here = [each for each in named if each.file == event.file]
            found[place] = here or heirs.get(place) or named
        return found

    @cached_property
    def ids(self) -> Mapping[str, Sequence[Record]]:
        """Records of any kind by id."""
        found: dict[str, list[Record]] = {}
        for (_, name), records in self.by_id.items():
            found.setdefault(name, []).extend(records)
        return found


def revision_of(envelope: Record) -> str | None:
    """The envelope that this one came after, by the note that saving a revision leaves."""
    note = envelope.object("metadata").get("ctxview")
    return text(note.get("revision_of")) if isinstance(note, dict) else None


def _in_order(envelopes: Sequence[Record]) -> tuple[Record, ...]:
    """By time and place, but never before the envelope they are a revision of."""
    waiting = sorted(envelopes, key=lambda each: in_time(each.text("created_at")))
    children: dict[str | None, list[Record]] = {}
    names = {each.id for each in waiting}
    for envelope in waiting:
        before = revision_of(envelope)
        before = before if before in names and before != envelope.id else None
        children.setdefault(before, []).append(envelope)
    found: dict[int, Record] = {}
    ready = list(reversed(children.get(None, ())))
    while ready:
        envelope = ready.pop()
        if id(envelope) not in found:
            found[id(envelope)] = envelope
            ready.extend(reversed(children.pop(envelope.id, [])))
    # Revisions that name each other in a circle have no first one.
    return (*found.values(), *(each for each in waiting if id(each) not in found))


class _Reach:
    """What one of several envelopes leads to."""

    def __init__(self, bundle: Bundle, envelope: Record) -> None:
        self._bundle = bundle
        self.envelope = envelope
        self._files = _line_of_files(bundle, envelope)
        self.found: list[Record] = []
        self.adopted: list[Record] = []
        self._known: set[int] = set()
        self._follow([envelope])
        self._follow(self._injections())
        self._follow(self._events())

    def share(self, record: Record) -> int:
        """How much of what a record refers to is here."""
        return sum(
            1 for each in record.references for kind in each.leads_to if (kind, each.id) in self._names
        )

    @cached_property
    def _names(self) -> frozenset[tuple[Kind, str | None]]:
        return frozenset((each.kind, each.id) for each in self.found)

    def dossier(self) -> Dossier:
        ranks = {file: rank for rank, file in enumerate(self._files)}
        places = self._bundle.places
        records = sorted(
            [*self.found, *self.adopted],
            key=lambda each: (ranks.get(each.file, len(ranks)), places[id(each)]),
        )
        others = tuple(each for each in self._bundle.envelopes if each is not self.envelope)
        return Dossier(self.envelope, tuple(records), others)

    def _follow(self, records: Sequence[Record]) -> None:
        waiting = [*reversed(records)]
        while waiting:
            record = waiting.pop()
            if id(record) in self._known:
                continue
            self._known.add(id(record))
            self.found.append(record)
            for reference in reversed(record.references):
                waiting.extend(self._named(reference))

    def _named(self, reference: Reference) -> Iterator[Record]:
        name = reference.id
        for kind in reference.leads_to if name is not None else ():
            yield from self._nearest(self._bundle.by_id.get((kind, name or ""), ()), reference.holder.file)

    def _nearest(self, records: Sequence[Record], holder: str) -> Sequence[Record]:
        """Of records that share an id, those of the file that has the first say here."""
        for file in (*self._files, holder):
            if found := [each for each in records if each.file == file]:
                return found
        return [each for each in records if each.file == records[0].file]

    def _injections(self) -> list[Record]:
        every = self._bundle.of(Kind.INJECTION)
        return [each for each in every if self._holds(each, Kind.ASSEMBLY, each.text("assembly_id"))]

    def _events(self) -> list[Record]:
        return [each for each in self._bundle.of(Kind.EVENT) if self._is_ours(each)]

    def _is_ours(self, event: Record) -> bool:
        if owners := self._bundle.owners[event.file, event.text("context_id")]:
            return any(each is self.envelope for each in owners)
        subjects = self._bundle.ids.get(event.text("subject") or "", ())
        return any(id(each) in self._known for each in _of_one_file(subjects, event.file))

    def _holds(self, holder: Record, kind: Kind, name: str | None) -> bool:
        records = self._bundle.by_id.get((kind, name or ""), ())
        return any(id(each) in self._known for each in _of_one_file(records, holder.file))


def _adopt(record: Record, reaches: Sequence[_Reach]) -> None:
    """What nobody leads to belongs to the envelopes of its file, or else to all; best to where it leads."""
    near = [each for each in reaches if each.envelope.file == record.file] or reaches
    shares = [each.share(record) for each in near]
    for reach, share in zip(near, shares, strict=True):
        if share == max(shares):
            reach.adopted.append(record)


def _of_one_file(records: Sequence[Record], file: str) -> Sequence[Record]:
    """Those of that file when it has any."""
    return [each for each in records if each.file == file] or records


def _line_of_files(bundle: Bundle, envelope: Record) -> tuple[str, ...]:
    """The envelope's own file, then those of the envelopes it is a revision of."""
    return tuple(dict.fromkeys(each.file for each in _line(bundle, envelope)))


def _line(bundle: Bundle, envelope: Record) -> Iterator[Record]:
    """The envelope, and those it is a revision of."""
    current: Record | None = envelope
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        before = bundle.by_id.get((Kind.ENVELOPE, revision_of(current) or ""), ())
        current = before[0] if before else None
