"""All records of a source, grouped by envelope.

The draft defines no bundle: a single envelope owns all records; several envelopes divide them by references.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.rfc3339 import time_sort_key
from ctxview.files.reading import ReadError, read_bytes
from ctxview.formats.envelope.format import belongs_to_source, files_of, revisions_beside
from ctxview.formats.envelope.model import EnvelopeRecords, Record, text
from ctxview.formats.envelope.parser import RecordFile, parse_record_file
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.withheld import MAY_REDACT
from ctxview.formats.interface import OpenError
from ctxview.formats.kit import file_source
from ctxview.formats.peek import Peek

MOST_BESIDE = 500
LARGEST_BESIDE = 4 * 1024 * 1024
"""How many files beside a single file are searched for records it refers to, and up to which size."""


class Bundle(Struct, frozen=True, eq=False, dict=True):
    """All files of a source."""

    files: tuple[RecordFile, ...]

    @cached_property
    def records(self) -> tuple[Record, ...]:
        return tuple(record for file in self.files for record in file.records)

    @cached_property
    def envelopes(self) -> tuple[Record, ...]:
        """The envelopes in the order of their revisions."""
        return _in_order(self.of(RecordKind.ENVELOPE))

    @cached_property
    def groups(self) -> tuple[EnvelopeRecords, ...]:
        """One group for each envelope in that order; one without an envelope when there is none."""
        envelopes = self.envelopes
        if not envelopes:
            return (EnvelopeRecords(None, self.records),)
        if len(envelopes) == 1:
            own = envelopes[0].file
            return (
                EnvelopeRecords(envelopes[0], tuple(sorted(self.records, key=lambda each: each.file != own))),
            )
        groups = [_Group(self, envelope) for envelope in envelopes]
        taken = {id(record) for group in groups for record in group.found}
        by_file: dict[str, list[_Group]] = {}
        for group in groups:
            by_file.setdefault(group.envelope.file, []).append(group)
        holders = _holders(groups)
        for record in self.records:
            if id(record) in taken:
                continue
            # An unreferenced record goes to the groups of its file, else of all, that it refers to most.
            near = by_file.get(record.file) or [each for each in groups if not each.replaces(record)]
            names = ((kind, each.id) for each in record.references for kind in each.leads_to)
            shares = Counter(group for name in names for group in holders.get(name, ()))
            most = max((shares[group] for group in near), default=0) if shares else 0
            for group in near:
                if shares[group] == most:
                    group.assigned.append(record)
        return tuple(group.records() for group in groups)

    def of(self, kind: RecordKind) -> Sequence[Record]:
        return self._by_kind.get(kind, ())

    @cached_property
    def places(self) -> Mapping[int, int]:
        """The position of each record among all, by its identity."""
        return {id(record): place for place, record in enumerate(self.records)}

    @cached_property
    def _by_kind(self) -> Mapping[RecordKind, Sequence[Record]]:
        found: dict[RecordKind, list[Record]] = {}
        for record in self.records:
            found.setdefault(record.kind, []).append(record)
        return found

    @cached_property
    def by_id(self) -> Mapping[tuple[RecordKind, str], Sequence[Record]]:
        found: dict[tuple[RecordKind, str], list[Record]] = {}
        for record in self.records:
            if record.id is not None:
                found.setdefault((record.kind, record.id), []).append(record)
        return found

    @cached_property
    def owners(self) -> Mapping[tuple[str, str | None], Sequence[Record]]:
        """The envelopes that an event is about, by the file of the event and the context it names.

        A revision is saved with the events of the envelopes before it: in its file those events are its own.
        """
        successors: dict[tuple[str, str | None], list[Record]] = {}
        for envelope in self.of(RecordKind.ENVELOPE):
            for before in lineage(self, envelope):
                successors.setdefault((envelope.file, before.id), []).append(envelope)
        found: dict[tuple[str, str | None], Sequence[Record]] = {}
        for event in self.of(RecordKind.EVENT):
            place = event.file, event.text("context_id")
            named = self.by_id.get((RecordKind.ENVELOPE, place[1] or ""), ())
            here = [each for each in named if each.file == event.file]
            found[place] = here or successors.get(place) or named
        return found

    @cached_property
    def ids(self) -> Mapping[str, Sequence[Record]]:
        """The records of any kind by id."""
        found: dict[str, list[Record]] = {}
        for (_, name), records in self.by_id.items():
            found.setdefault(name, []).extend(records)
        return found


def revision_of(envelope: Record) -> str | None:
    """The id of the envelope before this one, from the note that publishing a revision writes."""
    note = envelope.object("metadata").get("ctxview")
    return text(note.get("revision_of")) if isinstance(note, dict) else None


def _in_order(envelopes: Sequence[Record]) -> tuple[Record, ...]:
    """Sort by time and position, but never before the envelope that one is a revision of."""
    waiting = sorted(envelopes, key=lambda each: time_sort_key(each.text("created_at")))
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
    # Revisions that name each other in a cycle have no first one.
    return (*found.values(), *(each for each in waiting if id(each) not in found))


class _Group:
    """The records that one of several envelopes leads to."""

    def __init__(self, bundle: Bundle, envelope: Record) -> None:
        self._bundle = bundle
        self.envelope = envelope
        self._files = tuple(dict.fromkeys(each.file for each in lineage(bundle, envelope)))
        self._foreign = {each.file for each in bundle.of(RecordKind.ENVELOPE)} - {*self._files}
        self.found: list[Record] = []
        self.assigned: list[Record] = []
        self._known: set[int] = set()
        self._follow([envelope])
        self._follow([each for each in bundle.of(RecordKind.INJECTION) if self._holds_assembly_of(each)])
        self._follow([each for each in bundle.of(RecordKind.EVENT) if self._is_own(each)])

    def records(self) -> EnvelopeRecords:
        ranks = {file: rank for rank, file in enumerate(self._files)}
        places = self._bundle.places
        records = sorted(
            [*self.found, *self.assigned],
            key=lambda each: (ranks.get(each.file, len(ranks)), places[id(each)]),
        )
        others = tuple(each for each in self._bundle.envelopes if each is not self.envelope)
        return EnvelopeRecords(self.envelope, tuple(records), others)

    def _follow(self, records: Sequence[Record]) -> None:
        waiting = [*reversed(records)]
        while waiting:
            record = waiting.pop()
            if id(record) in self._known:
                continue
            self._known.add(id(record))
            self.found.append(record)
            for reference in reversed(record.references):
                for kind in reference.leads_to if reference.id is not None else ():
                    named = self._bundle.by_id.get((kind, reference.id or ""), ())
                    waiting.extend(self._nearest(named, record.file))

    def replaces(self, record: Record) -> bool:
        """Whether the envelope is a published revision whose file has a record with the same kind and id."""
        same = self._bundle.by_id.get((record.kind, record.id or ""), ())
        own = any(each.file == self.envelope.file for each in same)
        return own and revision_of(self.envelope) is not None

    def _nearest(self, records: Sequence[Record], holder: str) -> Sequence[Record]:
        """Of records with the same id, those of the first file in order of precedence.

        The file of another envelope comes last: it may be a later revision with changed records.
        """
        for file in (*self._files, holder):
            if found := [each for each in records if each.file == file]:
                return found
        ordered = sorted(records, key=lambda each: each.file in self._foreign)
        return [each for each in ordered if each.file == ordered[0].file]

    def _is_own(self, event: Record) -> bool:
        if owners := self._bundle.owners[event.file, event.text("context_id")]:
            return any(each is self.envelope for each in owners)
        subjects = self._bundle.ids.get(event.text("subject") or "", ())
        return any(id(each) in self._known for each in _of_one_file(subjects, event.file))

    def _holds_assembly_of(self, injection: Record) -> bool:
        named = self._bundle.by_id.get((RecordKind.ASSEMBLY, injection.text("assembly_id") or ""), ())
        return any(id(each) in self._known for each in _of_one_file(named, injection.file))


def _holders(groups: Sequence[_Group]) -> Mapping[tuple[RecordKind, str | None], Sequence[_Group]]:
    """The groups whose envelope leads to a record of this kind and id."""
    found: dict[tuple[RecordKind, str | None], dict[_Group, None]] = {}
    for group in groups:
        for record in group.found:
            found.setdefault((record.kind, record.id), {})[group] = None
    return {name: tuple(holders) for name, holders in found.items()}


def _of_one_file(records: Sequence[Record], file: str) -> Sequence[Record]:
    """The records of `file` if it has any, else all."""
    return [each for each in records if each.file == file] or records


def lineage(bundle: Bundle, envelope: Record) -> Iterator[Record]:
    """Yield the envelope, then those it is a revision of."""
    current: Record | None = envelope
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        before = bundle.by_id.get((RecordKind.ENVELOPE, revision_of(current) or ""), ())
        current = before[0] if before else None


Loaded: TypeAlias = file_source.LoadedFiles[RecordFile]
LoadedFile: TypeAlias = file_source.LoadedFile[RecordFile]
READER = file_source.FileReader[RecordFile](
    lambda file, data, whole: parse_record_file(file, data, whole=whole),
    is_broken=lambda found: bool(found.problems),
    belongs=belongs_to_source,
    takes_part=True,
)


def load_files(peek: Peek, earlier: Loaded | None = None) -> Loaded:
    """Load the files of the source at `peek`; raises `OpenError`."""
    files, path = file_source.FileLoader(READER, earlier), peek.path
    if not path.is_dir():
        files.add_named(peek)
        for each in revisions_beside(peek):
            files.add(each)
        beside = files_of(peek.parent)
        _add_wanted(files, beside)
        if (others := len(beside) - 1) > MOST_BESIDE:
            why = (
                f"only {MOST_BESIDE:,} of {others:,} files beside it were searched for records and redactions"
            )
            return replace(files.loaded(), left_out=why)
        return files.loaded()
    for each in files_of(peek):
        files.add(each)
    if not files.files and not files.held_back:
        raise OpenError(f"{path}: no file in this folder holds records of the Agent Context draft")
    return files.loaded()


def files_beside(path: Path, own: Sequence[RecordFile]) -> Sequence[RecordFile]:
    """The other files in the folder of a single file, if one of them or of its own may redact something.

    A folder is one source, so a redaction in any of its files holds in the others.
    """
    if path.is_dir():
        return ()
    taken = {file.file for file in own}
    found: list[tuple[str, bytes]] = []
    paths = (each.path for each in files_of(Peek(path.parent)))
    others = (each for each in paths if str(each) not in taken and not each.is_symlink())
    for each in islice(others, MOST_BESIDE):
        # As with wanted records, a very large file is not searched.
        with suppress(ReadError):
            found.append((str(each), read_bytes(each, LARGEST_BESIDE)))
    if not any(MAY_REDACT.search(data) for data in (*(file.data for file in own), *dict(found).values())):
        return ()
    return [parse_record_file(file, data) for file, data in found]


def _add_wanted(files: file_source.FileLoader[RecordFile], present: Sequence[Peek]) -> None:
    """Add files beside a single file that hold records it refers to, until none is wanted.

    A file with an envelope is another source and is not added.
    """
    taken = {file.path for file in files.files}
    beside: list[LoadedFile] | None = None
    while wanted := _wanted(files.files):
        if beside is None:
            others = [each for each in present if each.path not in taken][:MOST_BESIDE]
            peeked = (files.load(each, LARGEST_BESIDE) for each in others)
            beside = [
                file
                for file in peeked
                if file.problem is None
                and file.whole
                and all(each.kind is not RecordKind.ENVELOPE for each in file.found.records)
            ]
        found = [
            file for file in beside if any((each.kind, each.id) in wanted for each in file.found.records)
        ]
        if not found:
            return
        for file in found:
            beside.remove(file)
            files.take(file)


def _wanted(files: Sequence[LoadedFile]) -> set[tuple[RecordKind, str | None]]:
    """The kind and id of records that the files refer to and do not hold."""
    records = [record for file in files for record in file.found.records]
    present = {(record.kind, record.id) for record in records}
    wanted: set[tuple[RecordKind, str | None]] = set()
    for reference in (each for record in records for each in record.references):
        names = {(kind, reference.id) for kind in reference.leads_to}
        if reference.id is not None and not names & present:
            wanted |= names
    return wanted
