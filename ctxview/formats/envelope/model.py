"""Records as they were written, the references between them, and one envelope with all that belongs to it.

Nothing is repaired or judged. A value of the wrong type stays what it is: the accessors answer None or
nothing, and the rules say why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from ctxview.files.json_document import JsonDocument, join
from ctxview.formats.envelope.fields import BLOCK, FIELDS, SEGMENT, FieldSpec, Type
from ctxview.formats.envelope.vocabulary import OWN_ID, Kind
from ctxview.origin import JsonValue, Origin
from ctxview.quick_dataclass import dataclass

ID_KEYS = ("id", "ref", "ref_id", "item_ref")
"""How an object that is a reference may name what it means, beside that thing's own id field and `uri`."""


def text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def count(value: JsonValue) -> int | None:
    """A whole number from 0 by value (`2.0` is one); None for everything else, `true` included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


def texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


@dataclass(frozen=True)
class Stray:
    """A value that stands where a record should: it is no object, or no id field says what kind it is."""

    value: JsonValue
    origin: Origin


@dataclass(frozen=True)
class Reference:
    """One entry of a reference field: who refers, where it stands, and what it names."""

    holder: Record
    path: tuple[str | int, ...]
    """From the holder to the entry: ("selected_item_refs", 2), ("ordered_blocks", 0, "item_refs", 1)."""
    value: JsonValue
    leads_to: tuple[Kind, ...]

    @property
    def name(self) -> str:
        """The field that holds it."""
        return next(part for part in reversed(self.path) if isinstance(part, str))

    @cached_property
    def id(self) -> str | None:
        if not isinstance(self.value, dict):
            return text(self.value)
        own = [OWN_ID[kind] for kind in self.leads_to or Kind]
        named = (text(self.value.get(key)) for key in (*own, *ID_KEYS, "uri"))
        within = (text(self.within.get(key)) for key in own)
        return next((found for found in (*named, *within) if found), None)

    @property
    def within(self) -> Mapping[str, JsonValue]:
        """The object that an entry such as `{"item_ref": {…}, "reason": …}` wraps."""
        value = self.members.get("item_ref")
        return value if isinstance(value, dict) else {}

    @property
    def members(self) -> Mapping[str, JsonValue]:
        return self.value if isinstance(self.value, dict) else {}

    @property
    def origin(self) -> Origin:
        return self.holder.origin(*self.path)


@dataclass(frozen=True, eq=False)
class Record:
    """One object of the draft, wherever it stands: a file of its own, a list, a line, inside an envelope."""

    kind: Kind
    value: Mapping[str, JsonValue]
    file: str
    document: JsonDocument = field(repr=False)
    inner: str
    """Where it stands in its document."""
    prefix: str = ""
    """What stands before pointers into the document: the line in a file of JSON lines, as in `/12`."""
    inside: Record | None = None
    """The record whose reference it stands in the place of."""

    @property
    def id(self) -> str | None:
        return text(self.value.get(OWN_ID[self.kind]))

    @property
    def pointer(self) -> str:
        """Where it stands in its file."""
        return self.prefix + self.inner

    def at(self, *path: str | int) -> str:
        return join(self.pointer, *path)

    def origin(self, *path: str | int) -> Origin:
        return self._place(path) if path else self._own_place

    @cached_property
    def _own_place(self) -> Origin:
        return self._place(())

    def _place(self, path: tuple[str | int, ...]) -> Origin:
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
        """The objects of a list with their indexes; what is none is left out."""
        value = self.value.get(name)
        entries = value if isinstance(value, list) else []
        return tuple((at, each) for at, each in enumerate(entries) if isinstance(each, dict))

    def refs(self, name: str) -> tuple[Reference, ...]:
        """The entries of one reference field, of whatever type they are."""
        return tuple(_entries(self, self.value, FIELDS[self.kind].get(name), (name,)))

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Every reference the record makes, also in its blocks and segments, and by bare ids."""
        return tuple(_references(self))


_REFERRING = {
    kind: {name: spec for name, spec in specs.items() if spec.type in (Type.REF, Type.REFS)}
    for kind, specs in FIELDS.items()
}
"""The fields that hold references, by kind of record."""


def _references(record: Record) -> Iterator[Reference]:
    for name, spec in _REFERRING[record.kind].items():
        if name in record.value:
            yield from _entries(record, record.value, spec, (name,))
    for name, kind in (("surface_id", Kind.SURFACE), ("assembly_id", Kind.ASSEMBLY)):
        if name != OWN_ID[record.kind] and name in FIELDS[record.kind] and name in record.value:
            yield Reference(record, (name,), record.value[name], (kind,))
    for name, parts in (("ordered_blocks", BLOCK), ("window_segments", SEGMENT)):
        for at, each in record.objects(name):
            for inner, spec in parts.items():
                yield from _entries(record, each, spec, (name, at, inner))


def _entries(
    record: Record, members: Mapping[str, JsonValue], spec: FieldSpec | None, path: tuple[str | int, ...]
) -> Iterator[Reference]:
    name = path[-1]
    if spec is None or name not in members:
        return
    value = members[str(name)]
    if spec.type is Type.REF:
        yield Reference(record, path, value, spec.leads_to)
    elif spec.type is Type.REFS and isinstance(value, list):
        for at, each in enumerate(value):
            yield Reference(record, (*path, at), each, spec.leads_to)


@dataclass(frozen=True, eq=False)
class Dossier:
    """One envelope with all records that belong to it: what the rules about a bundle look at.

    `envelope` is None when there are only loose records. `others` are envelopes of the same source,
    `later` are records of the envelope that there were not yet at the moment that is looked at.
    """

    envelope: Record | None
    records: tuple[Record, ...]
    others: tuple[Record, ...] = ()
    later: tuple[Record, ...] = ()

    def of(self, kind: Kind) -> tuple[Record, ...]:
        return self._by_kind.get(kind, ())

    def named(self, kind: Kind, id_: str | None) -> Record | None:
        """The record of that kind and id, the first when several claim it."""
        return self._by_id.get((kind, id_)) if id_ is not None else None

    def resolve(self, reference: Reference) -> Record | None:
        """What a reference leads to, be it the record in its own place; None for what lies outside."""
        for kind in reference.leads_to:
            if found := self.named(kind, reference.id):
                return found
        return None

    def targets_of(self, references: Sequence[Reference]) -> tuple[Record, ...]:
        """What the references lead to, each once, in their order."""
        found = (self.resolve(each) for each in references)
        return tuple({id(each): each for each in found if each is not None}.values())

    @cached_property
    def _by_kind(self) -> Mapping[Kind, tuple[Record, ...]]:
        kinds: dict[Kind, list[Record]] = {}
        for record in self.records:
            kinds.setdefault(record.kind, []).append(record)
        return {kind: tuple(found) for kind, found in kinds.items()}

    @cached_property
    def _by_id(self) -> Mapping[tuple[Kind, str], Record]:
        found: dict[tuple[Kind, str], Record] = {}
        for record in self.records:
            if record.id is not None:
                found.setdefault((record.kind, record.id), record)
        return found
