"""Records as they were written, the references between them, and an envelope with all its records.

Nothing is repaired or checked. For a value of the wrong type the accessors return None or an empty value; the
rules report it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from ctxview.core.origin import JsonValue, Origin
from ctxview.files.strict_json.document import JsonDocument
from ctxview.files.strict_json.tree import join
from ctxview.formats.envelope.field_specs import BLOCK, FIELDS, SEGMENT, FieldSpec, FieldType
from ctxview.formats.envelope.redactions import redaction_state
from ctxview.formats.envelope.vocabulary import ID_KEYS, OWN_ID, RecordKind


def text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def count(value: JsonValue) -> int | None:
    """Return a whole number from 0 (`2.0` counts as one); None for everything else, also for `true`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


def texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


class StrayValue(Struct, frozen=True):
    """A value in the place of a record that is not an object, or has no id field that gives its kind."""

    value: JsonValue
    origin: Origin


class RecordReference(Struct, frozen=True, dict=True):
    """One entry of a reference field: the record that holds it, its path, and its value."""

    holder: Record
    path: tuple[str | int, ...]
    """From the holder to the entry: ("selected_item_refs", 2), ("ordered_blocks", 0, "item_refs", 1)."""
    value: JsonValue
    leads_to: tuple[RecordKind, ...]

    @property
    def name(self) -> str:
        """The name of the field that holds the entry."""
        return next(part for part in reversed(self.path) if isinstance(part, str))

    @cached_property
    def id(self) -> str | None:
        if not isinstance(self.value, dict):
            return text(self.value)
        own = [OWN_ID[kind] for kind in self.leads_to or RecordKind]
        named = (text(self.value.get(key)) for key in (*own, *ID_KEYS, "uri"))
        wrapped = (text(self.wrapped.get(key)) for key in own)
        return next((found for found in (*named, *wrapped) if found), None)

    @property
    def wrapped(self) -> Mapping[str, JsonValue]:
        """The object that an entry such as `{"item_ref": {…}, "reason": …}` wraps."""
        value = self.members.get("item_ref")
        return value if isinstance(value, dict) else {}

    @property
    def members(self) -> Mapping[str, JsonValue]:
        return self.value if isinstance(self.value, dict) else {}

    @property
    def origin(self) -> Origin:
        return self.holder.origin(*self.path)


class Record(Struct, frozen=True, eq=False, dict=True):
    """One object of the draft: a whole file, a list element, a line, or inside another record."""

    kind: RecordKind
    value: Mapping[str, JsonValue]
    file: str
    document: JsonDocument
    inner: str
    """The pointer in its document."""
    prefix: str = ""
    """The prefix of pointers into the document: the line in a file of JSON lines, as in `/12`."""
    inside: Record | None = None
    """The record that embeds this one in place of a reference."""

    @property
    def id(self) -> str | None:
        return text(self.value.get(OWN_ID[self.kind]))

    @cached_property
    def redaction(self) -> str | None:
        """The redaction state that the record gives in any spelling, or None."""
        return redaction_state(self.value)

    @property
    def pointer(self) -> str:
        """The pointer in its file."""
        return self.prefix + self.inner

    def at(self, *path: str | int) -> str:
        return join(self.pointer, *path)

    def origin(self, *path: str | int) -> Origin:
        return self._origin_at(path) if path else self._own_origin

    @cached_property
    def _own_origin(self) -> Origin:
        return self._origin_at(())

    def _origin_at(self, path: tuple[str | int, ...]) -> Origin:
        found = self.document.origin(self.file, join(self.inner, *path))
        pointer = self.prefix + (found.pointer or "")
        return Origin(found.file, pointer, found.start, found.end, found.line, found.column)

    def text(self, name: str) -> str | None:
        return text(self.value.get(name))

    def count(self, name: str) -> int | None:
        return count(self.value.get(name))

    def texts(self, name: str) -> tuple[str, ...]:
        return texts(self.value.get(name))

    def object(self, name: str) -> Mapping[str, JsonValue]:
        value = self.value.get(name)
        return value if isinstance(value, dict) else {}

    def objects(self, name: str) -> tuple[tuple[int, Mapping[str, JsonValue]], ...]:
        """The objects of a list with their indexes; other elements are skipped."""
        value = self.value.get(name)
        entries = value if isinstance(value, list) else []
        return tuple((at, each) for at, each in enumerate(entries) if isinstance(each, dict))

    def refs(self, name: str) -> tuple[RecordReference, ...]:
        """The entries of one reference field, of any type."""
        return tuple(_entries(self, self.value, FIELDS[self.kind].get(name), (name,)))

    @cached_property
    def references(self) -> tuple[RecordReference, ...]:
        """All references of the record, also those in its blocks and segments, and bare ids."""
        found: list[RecordReference] = []
        for name, spec in _REFERRING[self.kind].items():
            if name in self.value:
                found += _entries(self, self.value, spec, (name,))
        for name, kind in (("surface_id", RecordKind.SURFACE), ("assembly_id", RecordKind.ASSEMBLY)):
            if name != OWN_ID[self.kind] and name in FIELDS[self.kind] and name in self.value:
                found.append(RecordReference(self, (name,), self.value[name], (kind,)))
        for name, parts in (("ordered_blocks", BLOCK), ("window_segments", SEGMENT)):
            for at, each in self.objects(name):
                for inner, spec in parts.items():
                    found += _entries(self, each, spec, (name, at, inner))
        return tuple(found)


_REFERRING = {
    kind: {name: spec for name, spec in specs.items() if spec.type in (FieldType.REF, FieldType.REFS)}
    for kind, specs in FIELDS.items()
}
"""The fields that hold references, by kind of record."""


def _entries(
    record: Record, members: Mapping[str, JsonValue], spec: FieldSpec | None, path: tuple[str | int, ...]
) -> Iterator[RecordReference]:
    name = path[-1]
    if spec is None or name not in members:
        return
    value = members[str(name)]
    if spec.type is FieldType.REF:
        yield RecordReference(record, path, value, spec.leads_to)
    elif spec.type is FieldType.REFS and isinstance(value, list):
        for at, each in enumerate(value):
            yield RecordReference(record, (*path, at), each, spec.leads_to)


def is_blocking(gap: Record) -> bool:
    """Whether a gap is blocking, in any spelling: a capital must not hide it."""
    return (gap.text("severity") or "").strip().casefold() == "blocking"


class EnvelopeRecords(Struct, frozen=True, eq=False, dict=True):
    """One envelope with all its records: the input of the rules about a bundle.

    `envelope` is None when there are only loose records. `others` are the other envelopes of the source,
    `later` are records of the envelope that are newer than this revision.
    """

    envelope: Record | None
    records: tuple[Record, ...]
    others: tuple[Record, ...] = ()
    later: tuple[Record, ...] = ()

    def of(self, kind: RecordKind) -> tuple[Record, ...]:
        return self._by_kind.get(kind, ())

    def named(self, kind: RecordKind, id_: str | None) -> Record | None:
        """The record with this kind and id; the first of duplicates."""
        return self._by_id.get((kind, id_)) if id_ is not None else None

    def resolve(self, reference: RecordReference) -> Record | None:
        """The record that a reference leads to, also an embedded one; None when it is not in this group."""
        for kind in reference.leads_to:
            if found := self.named(kind, reference.id):
                return found
        return None

    def targets_of(self, references: Sequence[RecordReference]) -> tuple[Record, ...]:
        """The records that `references` lead to, each once, in order."""
        found = (self.resolve(each) for each in references)
        return tuple({id(each): each for each in found if each is not None}.values())

    def under_budget(self, kind: RecordKind, budget: Record) -> tuple[Record, ...]:
        """The records of a kind that name a budget."""
        return tuple(each for each in self._by_budget.get(budget, ()) if each.kind is kind)

    @cached_property
    def _by_budget(self) -> Mapping[Record, Sequence[Record]]:
        found: dict[Record, list[Record]] = {}
        for record in self.records:
            for budget in self.targets_of(record.refs("budget_ref")) if "budget_ref" in record.value else ():
                found.setdefault(budget, []).append(record)
        return found

    @cached_property
    def reached(self) -> frozenset[Record]:
        """The envelope and all records that it leads to, directly or not."""
        waiting = [self.envelope] if self.envelope is not None else []
        found = set(waiting)
        while waiting:
            for record in self.targets_of(waiting.pop().references):
                if record not in found:
                    found.add(record)
                    waiting.append(record)
        return frozenset(found)

    @cached_property
    def _by_kind(self) -> Mapping[RecordKind, tuple[Record, ...]]:
        kinds: dict[RecordKind, list[Record]] = {}
        for record in self.records:
            kinds.setdefault(record.kind, []).append(record)
        return {kind: tuple(found) for kind, found in kinds.items()}

    @cached_property
    def _by_id(self) -> Mapping[tuple[RecordKind, str], Record]:
        found: dict[tuple[RecordKind, str], Record] = {}
        for record in self.records:
            if record.id is not None:
                found.setdefault((record.kind, record.id), record)
        return found
