"""Where the references of all records lead: to a record, to a file beside, to the outside, or nowhere.

One entry for each thing that is referred to, whoever does: references to the same thing share their fate.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property

from ctxview.analysis.tokens import size
from ctxview.formats.envelope.fates import GONE
from ctxview.formats.envelope.files_beside import FileBeside
from ctxview.formats.envelope.flow_text import fields_text
from ctxview.formats.envelope.model import Record, Reference
from ctxview.formats.envelope.read import embedded
from ctxview.formats.envelope.standing import Standing, standing
from ctxview.formats.envelope.state_tiers import block_text
from ctxview.formats.envelope.view import View
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.origin import Origin
from ctxview.state import Ref, RefStatus

MOST_REFS = 5000
LONGEST_TEXT = 4000
NAMELESS = "?"
ROOTS = (Kind.ENVELOPE, Kind.EVENT)
"""Nothing has to lead to these."""
_WORST = (RefStatus.DANGLING, RefStatus.MISMATCH, RefStatus.ORPHAN)


def build_refs(view: View) -> tuple[Ref, ...]:
    """In the order of the records; when there are too many, what leads astray comes first and stays."""
    refs = _Refs(view)
    found = [*refs.of_references(), *refs.of_sources(), *refs.of_orphans()]
    if len(found) > MOST_REFS:
        found.sort(key=lambda each: each.status not in _WORST)
    return tuple(found[:MOST_REFS])


class _Refs:
    def __init__(self, view: View) -> None:
        self._view = view
        self._dossier = view.dossier
        self._sound = 0

    def _one_more(self) -> bool:
        """Whether one more that leads where it should would stay: when there are too many, the first do."""
        self._sound += 1
        return self._sound <= MOST_REFS

    def of_references(self) -> Iterator[Ref]:
        for references in self._grouped().values():
            record, file = self._led_to(references[0]), self._file(references[0])
            if record is not None:
                if self._one_more():
                    yield self._to_record(references, record)
            elif file is not None:
                yield self._to_file(references, file)
            else:
                yield self._to_nothing(references)

    def of_sources(self) -> Iterator[Ref]:
        """The place that each source names: a file beside the records, or something outside."""
        for record in self._dossier.of(Kind.SOURCE):
            uri = record.text("uri")
            file = self._view.beside.find(uri)
            if file is None and uri and not self._one_more():
                continue
            origin, users = record.origin("uri"), (self._view.name(record),)
            if file is not None:
                hidden = record in self._hidden
                yield self._file_ref(users[0], "uri", file, record.text("digest"), hidden, users, origin)
            else:
                status = RefStatus.EXTERNAL if uri else RefStatus.DANGLING
                target = self._view.mask(uri or NAMELESS)
                yield Ref(users[0], "uri", target, status, None, None, users, origin)

    def of_orphans(self) -> Iterator[Ref]:
        """Records that nothing leads to; without an envelope nothing has to."""
        if self._dossier.envelope is None:
            return
        for record in self._dossier.records:
            if record.kind not in ROOTS and record not in self._reached:
                yield self._record_ref(record, _word(record.kind), RefStatus.ORPHAN, (), record.origin())

    # -- one thing -----------------------------------------------------------------------------------------

    def _to_record(self, references: Sequence[Reference], record: Record) -> Ref:
        inside = any(embedded(each) is not None for each in references)
        kind = f"{_word(record.kind)}, embedded" if inside else _word(record.kind)
        origin = references[0].origin
        return self._record_ref(record, kind, RefStatus.RESOLVED, self._users(references), origin)

    def _record_ref(
        self, record: Record, kind: str, status: RefStatus, users: tuple[str, ...], origin: Origin
    ) -> Ref:
        view = self._view
        is_item = record.kind in (Kind.ITEM, Kind.SUMMARY)
        text = block_text(view, record) if is_item else fields_text(view, record)
        return Ref(
            id=view.name(record),
            kind=kind,
            target=f"{record.kind.value} {view.name(record)}",
            status=status,
            tokens=view.tokens(record)[0] if is_item else None,
            bytes=size(text) if text else None,
            used_by=users,
            origin=origin,
            text=text[:LONGEST_TEXT] or None,
            meaning=None if is_item else view.withheld.value(record),
        )

    def _to_file(self, references: Sequence[Reference], file: FileBeside) -> Ref:
        holder = references[0].holder
        hidden = any(each.holder.text("redaction_state") in GONE for each in references)
        digest = holder.text("digest") if not hidden else None
        name, kind = self._view.mask(references[0].id or NAMELESS), _field(references[0])
        users = self._users(references)
        return self._file_ref(name, kind, file, digest, hidden, users, references[0].origin)

    def _file_ref(
        self,
        name: str,
        kind: str,
        file: FileBeside,
        digest: str | None,
        hidden: bool,
        users: tuple[str, ...],
        origin: Origin,
    ) -> Ref:
        text = None if hidden else self._view.mask(file.text)
        return Ref(
            id=name,
            kind=kind,
            target=self._view.mask(file.name),
            status=RefStatus.MISMATCH if file.matches(digest) is False else RefStatus.RESOLVED,
            tokens=self._view.counter.count(text) if text is not None else None,
            bytes=len(file.data),
            used_by=users,
            origin=origin,
            text=text[:LONGEST_TEXT] if text is not None else None,
        )

    def _to_nothing(self, references: Sequence[Reference]) -> Ref:
        first = references[0]
        name = self._view.mask(first.id or NAMELESS)
        lost = first.id is None or standing(first, self._dossier) is Standing.BROKEN
        return Ref(
            id=name,
            kind=_word(first.leads_to[0]) if first.leads_to else _field(first),
            target=f"no {first.leads_to[0].value} {name}" if lost and first.leads_to else name,
            status=RefStatus.DANGLING if lost else RefStatus.EXTERNAL,
            tokens=None,
            bytes=None,
            used_by=self._users(references),
            origin=first.origin,
        )

    # -- where things lead ---------------------------------------------------------------------------------

    def _grouped(self) -> Mapping[Hashable, Sequence[Reference]]:
        found: dict[Hashable, list[Reference]] = {}
        for record in self._dossier.records:
            for reference in record.references:
                if any((kind, reference.id) in self._later for kind in reference.leads_to):
                    continue
                target = self._led_to(reference)
                key = (
                    target if target is not None else (reference.leads_to or _field(reference), reference.id)
                )
                found.setdefault(key, []).append(reference)
        return found

    def _led_to(self, reference: Reference) -> Record | None:
        """By the kinds a field may name; a field that may name anything finds a record of any kind."""
        if reference.leads_to:
            return self._dossier.resolve(reference)
        return self._by_name.get(reference.id or "")

    def _file(self, reference: Reference) -> FileBeside | None:
        return None if reference.leads_to else self._view.beside.find(reference.id)

    def _users(self, references: Sequence[Reference]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._view.name(each.holder) for each in references))

    @cached_property
    def _later(self) -> set[tuple[Kind, str | None]]:
        """What an envelope already names at a moment when it was not there yet."""
        return {(each.kind, each.id) for each in self._dossier.later}

    @cached_property
    def _hidden(self) -> set[Record]:
        """Sources of items whose content is gone."""
        gone = (each for each in self._dossier.of(Kind.ITEM) if each.text("redaction_state") in GONE)
        return {source for each in gone for source in self._dossier.targets_of(each.refs("source_refs"))}

    @cached_property
    def _reached(self) -> set[Record]:
        """What the envelope and the events lead to, step by step."""
        waiting = [each for each in self._dossier.records if each.kind in ROOTS]
        found = set(waiting)
        while waiting:
            for record in self._dossier.targets_of(waiting.pop().references):
                if record not in found:
                    found.add(record)
                    waiting.append(record)
        return found

    @cached_property
    def _by_name(self) -> Mapping[str, Record]:
        found: dict[str, Record] = {}
        for record in self._dossier.records:
            if record.id:
                found.setdefault(record.id, record)
        return found


def _word(kind: Kind) -> str:
    return kind.value.removeprefix("context_").removesuffix("_ref").removesuffix("_context")


def _field(reference: Reference) -> str:
    """The field, without its ending."""
    return reference.name.removesuffix("_refs").removesuffix("_ref")
