"""Rules about single references: unresolved, without a name, or with a copy (ENV012, 013, 018).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxview.analysis.wording import counted, excerpt, listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.formats.envelope.model import EnvelopeRecords, Record
from ctxview.formats.envelope.parser import embedded
from ctxview.formats.envelope.profile import Limits, Profile
from ctxview.formats.envelope.references import RefResolution, resolve_reference
from ctxview.formats.envelope.rules.lookups import label
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.word_lists import FOREIGN_BODIES, FOREIGN_OBJECTS

OTHER_RULES = {
    (RecordKind.INJECTION, "assembly_id"),
    (RecordKind.COMPACTION, "source_item_refs"),
    (RecordKind.COMPACTION, "summary_ref"),
}
"""Fields whose broken references other rules report: ENV057, ENV064 and ENV065."""
_FEW = 12
NAMING_KEYS = ("id", "ref", "ref_id", "uri", "url", "href", "name", "digest")


@rule("ENV012", name="unresolved-reference", severity=Severity.WARNING)
def unresolved_reference(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A reference names a record that is not in the bundle.

    ## Why
    An envelope is an index: what it shows lies in the records it names. A record that is absent cannot
    be shown or checked, and it is unknown whether it was forgotten or kept back. A reference to what other
    standards describe, or one by an address (`https://…`, `urn:…`), is external and needs no record here.
    ## Bad
    ctx-1.surface_refs = ["surface-9"]
    ## Good
    ctx-1.surface_refs = ["surface-1", {"uri": "https://example.org/surfaces/9"}]
    ## Fix
    Put the record beside the others, or name it by an address when it lives elsewhere.
    ## Source
    Agent Context draft, the reference lists of the specification. That they resolve is our reading.
    """
    for record in records.records:
        for reference in record.references:
            if (
                (record.kind, reference.name) in OTHER_RULES
                or not (reference.id or "").strip()
                or resolve_reference(reference, records) is not RefResolution.BROKEN
            ):
                continue
            kinds = " or ".join(reference.leads_to)
            message = f"{label(record)}: {reference.name} names {quoted(reference.id or '')}"
            yield Hit(reference.origin, f"{message}, but no {kinds} of that id is in the bundle")


@rule("ENV013", name="nameless-reference", severity=Severity.WARNING)
def nameless_reference(record: Record, profile: Profile) -> Iterator[Hit]:
    """A reference names nothing that could be looked up: an object without any id, or a blank text.

    ## Why
    The draft does not say what a reference object looks like; anything with an id, an own id field or an
    address will do. Without one it leads nowhere, and it cannot even be reported as missing.
    ## Bad
    ctx-1.item_refs[0] = {"title": "the goal"}
    ## Good
    ctx-1.item_refs[0] = {"item_ref": "item-goal", "title": "the goal"}
    ## Fix
    Add `id`, or the id field of the record that is meant.
    ## Source
    Agent Context draft: references are texts or objects. That objects need an id follows.
    """
    for reference in record.references:
        value = reference.value
        if isinstance(value, dict) and not reference.id and not _names_something(value):
            fields = f" (it has {listed(value)})" if value else ""
            message = f"{label(record)}: an object in {reference.name} has no id of any kind{fields}"
            yield Hit(reference.origin, message)
        elif isinstance(value, str) and not value.strip():
            yield Hit(reference.origin, f"{label(record)}: a reference in {reference.name} is blank")


@rule("ENV018", name="embedded-object", severity=Severity.WARNING)
def embedded_object(record: Record, profile: Profile) -> Iterator[Hit]:
    """An envelope holds whole records instead of references, or a record a copy of a foreign object.

    ## Why
    An envelope that travels is an index. Whole records in it make copies that drift apart, and what was
    redacted in one place stays in the other. Policies, evidence, artifacts, tools, runtime, UI, knowledge
    and telemetry have standards of their own: they are referred to and never copied. A foreign object is
    taken for a copy when it has a body or takes more than a kilobyte.
    ## Bad
    ctx-1.evidence_refs = [{"id": "evidence-1", "payload": {"verdict": "all of it"}}]
    ## Good
    ctx-1.evidence_refs = [{"id": "evidence-1", "kind": "evidence_pack", "uri": "evidence://pack/1"}]
    ## Fix
    Store the record beside the envelope, or the object where it belongs, and leave its id here.
    ## Source
    Agent Context draft, envelope contract and compatibility notes. What counts as a copy is ours.
    """
    is_envelope = record.kind is RecordKind.ENVELOPE
    if is_envelope and (found := [each for each in record.references if embedded(each) is not None]):
        names = listed(each.id or f"one in {each.name}" for each in found)
        count = counted(len(found), "whole record")
        yield Hit(found[0].origin, f"{label(record)} holds {count} in place of references: {names}")
    for reference in record.references:
        if not reference.leads_to and isinstance(reference.value, dict):
            yield from _copied(record, reference.path, reference.value, profile.limits)
    for holder in ("metadata", "data"):
        for name, value in record.object(holder).items():
            if name in FOREIGN_OBJECTS and isinstance(value, dict):
                yield from _copied(record, (holder, name), value, profile.limits)
            elif name in FOREIGN_OBJECTS and isinstance(value, list):
                for at, each in enumerate(value):
                    if isinstance(each, dict):
                        yield from _copied(record, (holder, name, at), each, profile.limits)


def _names_something(members: Mapping[str, JsonValue]) -> bool:
    """Whether an object has an id field, also one of another standard such as `policy_id`."""
    return any(
        isinstance(value, str)
        and value.strip()
        and (key in NAMING_KEYS or key.endswith(("_id", "_ref", "Id")))
        for key, value in members.items()
    )


def _copied(
    record: Record, path: tuple[str | int, ...], members: Mapping[str, JsonValue], limits: Limits
) -> Iterator[Hit]:
    body = next((name for name in FOREIGN_BODIES if _is_body(members.get(name), limits)), None)
    if body is None and _is_small(members, limits):
        return
    origin = record.origin(*path)
    size = (origin.end or 0) - (origin.start or 0)
    field = next(part for part in reversed(path) if isinstance(part, str))
    where = f"{label(record)}: the object in {excerpt(field)}"
    if body is not None:
        yield Hit(origin, f"{where} carries its {body} ({size:,} bytes); write a reference instead")
    elif size > limits.foreign_bytes:
        yield Hit(origin, f"{where} takes {size:,} bytes; write a reference instead")


def _is_small(members: Mapping[str, JsonValue], limits: Limits) -> bool:
    """Whether an object is certainly within the limit, so that its bytes need not be measured."""
    texts = [*members, *(each for each in members.values() if isinstance(each, str))]
    has_parts = any(isinstance(each, dict | list) for each in members.values())
    return not has_parts and len(members) <= _FEW and sum(map(len, texts)) <= limits.foreign_bytes // 8


def _is_body(value: JsonValue, limits: Limits) -> bool:
    if isinstance(value, str):
        return len(value) >= limits.body_length
    return isinstance(value, dict | list) and bool(value)
