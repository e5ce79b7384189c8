"""Where every reference of every record leads: to a record, to a file beside, to the outside, or nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ctxview.formats.envelope.fates import GONE
from ctxview.formats.envelope.files_beside import FileBeside
from ctxview.formats.envelope.model import Record, Reference
from ctxview.formats.envelope.read import embedded
from ctxview.formats.envelope.state_tiers import block_text
from ctxview.formats.envelope.view import View, spelled_out
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.state import Ref, RefStatus

MOST_REFS = 5000
LONGEST_TEXT = 4000
NAMELESS = "?"
ROOTS = (Kind.ENVELOPE, Kind.EVENT)
"""Nothing has to lead to these."""
_WORST = (RefStatus.DANGLING, RefStatus.MISMATCH, RefStatus.ORPHAN)


def build_refs(view: View) -> tuple[Ref, ...]:
    """In the order of the records; when there are too many, what leads astray comes first and stays."""
    found = [*_Refs(view).all()]
    if len(found) > MOST_REFS:
        found.sort(key=lambda each: each.status not in _WORST)
    return tuple(found[:MOST_REFS])


@dataclass(frozen=True, eq=False)
class _Refs:
    view: View

    def all(self) -> Iterator[Ref]:
        for record in self.view.dossier.records:
            for reference in record.references:
                yield self._ref(reference)
            if record.kind is Kind.SOURCE:
                yield self._place_of_source(record)
        yield from self._orphans()

    def _ref(self, reference: Reference) -> Ref:
        record = self._led_to(reference)
        if record is not None:
            return self._to_record(reference, record)
        file = self._file(reference)
        if file is not None:
            return self._to_file(reference, file)
        name = reference.id or NAMELESS
        lost = bool(reference.leads_to) or reference.id is None
        target = f"no {reference.leads_to[0].value}" if reference.leads_to else name
        return Ref(
            id=self.view.mask(name),
            kind=_kind(reference),
            target=self.view.mask(target),
            status=RefStatus.DANGLING if lost else RefStatus.EXTERNAL,
            tokens=None,
            bytes=None,
            used_by=self._users(reference),
            origin=reference.origin,
        )

    def _to_record(self, reference: Reference, record: Record) -> Ref:
        view = self.view
        text = record_text(view, record)
        inside = embedded(reference) is not None and record.inside is reference.holder
        tokens = view.tokens(record)[0] if record.kind in (Kind.ITEM, Kind.SUMMARY) else None
        return Ref(
            id=view.name(record),
            kind=f"{_kind(reference)}, embedded" if inside else _kind(reference),
            target=view.mask(f"{record.kind.value} {view.name(record)}"),
            status=RefStatus.RESOLVED,
            tokens=tokens,
            bytes=len(text.encode("utf-8", "surrogatepass")) if text else None,
            used_by=self._users(reference),
            origin=reference.origin,
            text=text[:LONGEST_TEXT] or None,
        )

    def _to_file(self, reference: Reference, file: FileBeside) -> Ref:
        holder = reference.holder
        hidden = holder.text("redaction_state") in GONE
        return self._file_ref(reference.id or NAMELESS, _kind(reference), file, holder, reference, hidden)

    def _place_of_source(self, record: Record) -> Ref:
        """The place that a source names: a file beside the records, or something outside."""
        uri = record.text("uri")
        file = self.view.beside.find(uri)
        if file is not None:
            return self._file_ref(self.view.name(record), "uri", file, record, None, self._is_hidden(record))
        return Ref(
            id=self.view.name(record),
            kind="uri",
            target=self.view.mask(uri or NAMELESS),
            status=RefStatus.EXTERNAL if uri else RefStatus.DANGLING,
            tokens=None,
            bytes=None,
            used_by=(self.view.name(record),),
            origin=record.origin("uri"),
        )

    def _file_ref(
        self,
        name: str,
        kind: str,
        file: FileBeside,
        holder: Record,
        reference: Reference | None,
        hidden: bool,
    ) -> Ref:
        mismatch = file.matches(holder.text("digest")) is False
        text = None if hidden else self.view.mask(file.text)
        return Ref(
            id=self.view.mask(name),
            kind=kind,
            target=self.view.mask(file.name),
            status=RefStatus.MISMATCH if mismatch else RefStatus.RESOLVED,
            tokens=self.view.counter.count(text) if text is not None else None,
            bytes=len(file.data),
            used_by=self._users(reference) if reference is not None else (self.view.name(holder),),
            origin=reference.origin if reference is not None else holder.origin("uri"),
            text=text[:LONGEST_TEXT] if text is not None else None,
        )

    def _orphans(self) -> Iterator[Ref]:
        """Records that nothing leads to; without an envelope nothing has to."""
        dossier = self.view.dossier
        if dossier.envelope is None:
            return
        for record in dossier.records:
            if record.kind not in ROOTS and record not in self._reached:
                text = record_text(self.view, record)
                yield Ref(
                    id=self.view.name(record),
                    kind=record.kind.value,
                    target=self.view.mask(f"{record.kind.value} {self.view.name(record)}"),
                    status=RefStatus.ORPHAN,
                    tokens=None,
                    bytes=len(text.encode("utf-8", "surrogatepass")) if text else None,
                    used_by=(),
                    origin=record.origin(),
                    text=text[:LONGEST_TEXT] or None,
                )

    def _led_to(self, reference: Reference) -> Record | None:
        """By the kinds a field may name; a field that may name anything finds a record of any kind."""
        if reference.leads_to:
            return self.view.dossier.resolve(reference)
        return self._by_name.get(reference.id or "")

    def _file(self, reference: Reference) -> FileBeside | None:
        return None if reference.leads_to else self.view.beside.find(reference.id)

    def _users(self, reference: Reference) -> tuple[str, ...]:
        return self._used_by.get(reference.id or "", (self.view.name(reference.holder),))

    def _is_hidden(self, source: Record) -> bool:
        """Whether an item whose content is gone was taken from a source."""
        items = self.view.dossier.of(Kind.ITEM)
        gone = (each for each in items if each.text("redaction_state") in GONE)
        return any(source in self.view.dossier.targets_of(each.refs("source_refs")) for each in gone)

    @cached_property
    def _reached(self) -> set[Record]:
        """What the envelope leads to, step by step."""
        dossier = self.view.dossier
        waiting = [each for each in dossier.records if each.kind in ROOTS]
        found = set(waiting)
        while waiting:
            for record in dossier.targets_of(waiting.pop().references):
                if record not in found:
                    found.add(record)
                    waiting.append(record)
        return found

    @cached_property
    def _by_name(self) -> Mapping[str, Record]:
        found: dict[str, Record] = {}
        for record in self.view.dossier.records:
            found.setdefault(record.id or "", record)
        found.pop("", None)
        return found

    @cached_property
    def _used_by(self) -> Mapping[str, tuple[str, ...]]:
        """Who refers to each id, each holder once."""
        found: dict[str, dict[str, None]] = {}
        for record in self.view.dossier.records:
            for reference in record.references:
                found.setdefault(reference.id or "", {})[self.view.name(record)] = None
        return {name: tuple(users) for name, users in found.items()}


def record_text(view: View, record: Record) -> str:
    """What a person reads of a record: the content of an item, every field of another."""
    if record.kind in (Kind.ITEM, Kind.SUMMARY):
        return block_text(view, record)
    members = view.withheld.value(record)
    lines = (
        (f"{name}: {spelled_out(value)}" for name, value in members.items())
        if isinstance(members, dict)
        else ()
    )
    return "\n".join(lines)


def _kind(reference: Reference) -> str:
    """The field, without its ending."""
    return reference.name.removesuffix("_refs").removesuffix("_ref").removesuffix("_id")
