"""Build the references of a state: to a record, to a sibling file, to an external object, or broken.

All references to the same target are one entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from ctxview.analysis.tokens import byte_size
from ctxview.core.origin import Origin
from ctxview.core.pauses import give_way
from ctxview.core.state import Ref, RefStatus
from ctxview.formats.envelope.caps import MOST_REFS, orphans, reference_field, references_by_target
from ctxview.formats.envelope.model import Record, RecordReference
from ctxview.formats.envelope.parser import embedded
from ctxview.formats.envelope.redactions import is_gone
from ctxview.formats.envelope.references import RefResolution, SiblingFile, resolve_reference
from ctxview.formats.envelope.state.inputs import EnvelopeStateInputs
from ctxview.formats.envelope.state.record_text import fields_text
from ctxview.formats.envelope.state.tiers import block_text
from ctxview.formats.envelope.vocabulary import RecordKind

LONGEST_TEXT = 4000
NAMELESS = "?"
_WORST = (RefStatus.DANGLING, RefStatus.MISMATCH, RefStatus.ORPHAN)


def build_refs(inputs: EnvelopeStateInputs) -> tuple[Ref, ...]:
    """The references in the order of the records; if there are too many, problems come first."""
    refs = _Refs(inputs)
    found = [*refs.of_references(), *refs.of_sources(), *refs.of_orphans()]
    if len(found) > MOST_REFS:
        found.sort(key=lambda each: each.status not in _WORST)
    return tuple(found[:MOST_REFS])


class _Refs:
    def __init__(self, inputs: EnvelopeStateInputs) -> None:
        self._inputs = inputs
        self._records = inputs.records
        self._resolved = 0

    def _has_room(self) -> bool:
        """Count one more reference without a problem, and say whether it is still within the limit."""
        self._resolved += 1
        return self._resolved <= MOST_REFS

    def of_references(self) -> Iterator[Ref]:
        for record, references in references_by_target(self._records).values():
            give_way()
            first = references[0]
            file = None if first.leads_to else self._inputs.siblings.find(first.id)
            if record is not None:
                if self._has_room():
                    yield self._to_record(references, record)
            elif file is not None:
                yield self._to_file(references, file)
            else:
                yield self._to_nothing(references)

    def of_sources(self) -> Iterator[Ref]:
        """The address of each source: a sibling file, or external."""
        for record in self._records.of(RecordKind.SOURCE):
            uri = record.text("uri")
            file = self._inputs.siblings.find(uri)
            if file is None and uri and not self._has_room():
                continue
            origin, users = record.origin("uri"), (self._inputs.name(record),)
            if file is not None:
                hidden = record in self._hidden
                yield self._file_ref(users[0], "uri", file, record.text("digest"), hidden, users, origin)
            else:
                status = RefStatus.EXTERNAL if uri else RefStatus.DANGLING
                target = self._inputs.mask(uri or NAMELESS)
                yield Ref(users[0], "uri", target, status, None, None, users, origin)

    def of_orphans(self) -> Iterator[Ref]:
        """The records without a reference to them; none without an envelope."""
        for record in orphans(self._records):
            yield self._record_ref(record, _word(record.kind), RefStatus.ORPHAN, (), record.origin())

    # -- one reference -------------------------------------------------------------------------------------

    def _to_record(self, references: Sequence[RecordReference], record: Record) -> Ref:
        inside = any(embedded(each) is not None for each in references)
        kind = f"{_word(record.kind)}, embedded" if inside else _word(record.kind)
        origin = references[0].origin
        return self._record_ref(record, kind, RefStatus.RESOLVED, self._users(references), origin)

    def _record_ref(
        self, record: Record, kind: str, status: RefStatus, users: tuple[str, ...], origin: Origin
    ) -> Ref:
        inputs = self._inputs
        is_item = record.kind in (RecordKind.ITEM, RecordKind.SUMMARY)
        text = block_text(inputs, record) if is_item else fields_text(inputs, record)
        return Ref(
            id=inputs.name(record),
            kind=kind,
            target=f"{record.kind.value} {inputs.name(record)}",
            status=status,
            tokens=inputs.tokens(record)[0] if is_item else None,
            bytes=byte_size(text) if text else None,
            used_by=users,
            origin=origin,
            text=text[:LONGEST_TEXT] or None,
            meaning=None if is_item else inputs.withheld.value(record),
        )

    def _to_file(self, references: Sequence[RecordReference], file: SiblingFile) -> Ref:
        holder = references[0].holder
        hidden = any(is_gone(each.holder.redaction) for each in references)
        digest = holder.text("digest") if not hidden else None
        name, kind = self._inputs.mask(references[0].id or NAMELESS), reference_field(references[0])
        users = self._users(references)
        return self._file_ref(name, kind, file, digest, hidden, users, references[0].origin)

    def _file_ref(
        self,
        name: str,
        kind: str,
        file: SiblingFile,
        digest: str | None,
        hidden: bool,
        users: tuple[str, ...],
        origin: Origin,
    ) -> Ref:
        text = None if hidden else self._inputs.mask(file.text)
        return Ref(
            id=name,
            kind=kind,
            target=self._inputs.mask(file.name),
            status=RefStatus.MISMATCH if file.matches(digest) is False else RefStatus.RESOLVED,
            tokens=self._inputs.counter.count(text) if text is not None else None,
            bytes=len(file.data),
            used_by=users,
            origin=origin,
            text=text[:LONGEST_TEXT] if text is not None else None,
        )

    def _to_nothing(self, references: Sequence[RecordReference]) -> Ref:
        first = references[0]
        name = self._inputs.mask(first.id or NAMELESS)
        is_broken = first.id is None or resolve_reference(first, self._records) is RefResolution.BROKEN
        return Ref(
            id=name,
            kind=_word(first.leads_to[0]) if first.leads_to else reference_field(first),
            target=f"no {first.leads_to[0].value} {name}" if is_broken and first.leads_to else name,
            status=RefStatus.DANGLING if is_broken else RefStatus.EXTERNAL,
            tokens=None,
            bytes=None,
            used_by=self._users(references),
            origin=first.origin,
        )

    # -- users and sources ---------------------------------------------------------------------------------

    def _users(self, references: Sequence[RecordReference]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._inputs.name(each.holder) for each in references))

    @cached_property
    def _hidden(self) -> set[Record]:
        """The sources of items whose content was removed."""
        gone = (each for each in self._records.of(RecordKind.ITEM) if is_gone(each.redaction))
        return {source for each in gone for source in self._records.targets_of(each.refs("source_refs"))}


def _word(kind: RecordKind) -> str:
    return kind.value.removeprefix("context_").removesuffix("_ref").removesuffix("_context")
