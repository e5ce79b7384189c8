"""Rules about the shape of a record: its kind, its fields, their types and times (ENV001 to ENV008).

Examples change a sound bundle: `ID.member = JSON` sets a member of a record and `(absent)` removes it,
`ID += {…}` adds a copy of a record with other members, `+ JSON` adds a record unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.rfc3339 import time_problem
from ctxview.analysis.wording import did_you_mean, excerpt, json_excerpt, listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import same_value
from ctxview.formats.envelope.field_specs import BLOCK, FIELDS, SEGMENT, FieldNeed, FieldSpec, FieldType
from ctxview.formats.envelope.model import EnvelopeRecords, Record, StrayValue, count
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookups import label
from ctxview.formats.envelope.vocabulary import KNOWN, OWN_ID, RecordKind, WordList

KNOWN_VERSIONS = ("0.1.0", "0.1.1")
"""The published versions; only the event schema differs between them."""
Path = tuple[str | int, ...]


@rule("ENV001", name="no-record", severity=Severity.ERROR)
def no_record(stray: StrayValue, profile: Profile) -> Iterator[Hit]:
    """A value is in the place of a record, but has no id field that says what kind it is.

    ## Why
    The draft has no field for the kind of a record: its id field is all that tells an item from a selection.
    A value without one belongs to nothing; no reference can lead to it, and it is not shown as context.
    ## Bad
    + {"title": "the plan", "content": "first the tests"}
    ## Good
    + {"surface_id": "surface-2", "scope": "turn"}
    ## Fix
    Give the record the id field of its kind, such as `item_id` or `selection_id`.
    ## Source
    Agent Context draft, core objects. That the id field decides is our reading: the draft names no other way.
    """
    value = stray.value
    if not isinstance(value, dict):
        yield Hit(stray.origin, f"this is {json_excerpt(value)}, not a record")
    else:
        fields = f"; its fields are {listed(value)}" if value else ""
        message = f"no id field says what kind of record this is{fields}"
        if OWN_ID[RecordKind.ENVELOPE] in value:
            message = f"this names a context, but has no lifecycle and no index of an envelope{fields}"
        yield Hit(stray.origin, message)


@rule("ENV002", name="required-field-missing", severity=Severity.ERROR)
def required_field_missing(record: Record, profile: Profile) -> Iterator[Hit]:
    """A field that every record of the kind must have is absent, or its id is blank.

    ## Why
    Other tools may refuse the whole record, and what the field would say is unknown here: a selection
    without `surface_id` chose from nowhere. A blank id (a warning) passes the schemas, but nothing can
    refer to it. Most published examples lack `schema_version` themselves; they are read all the same.
    ## Bad
    item-plan.context_kind = (absent)
    ## Good
    item-plan.title = (absent)
    ## Fix
    Write the missing fields. When the record is not yours, ask its owner: guessing is worse than a gap.
    ## Source
    Agent Context draft, the schemas. There is none for injections and summaries: theirs are our reading.
    """
    missing = [
        name
        for name, spec in FIELDS[record.kind].items()
        if spec.need is FieldNeed.REQUIRED and name not in record.value
    ]
    if missing:
        yield Hit(record.origin(), f"{label(record)} has no {' and no '.join(missing)}")
    own = OWN_ID[record.kind]
    if record.id is not None and not record.id.strip():
        message = f"the {own} of this {record.kind} is blank: nothing can refer to it"
        yield Hit(record.origin(own), message, Severity.WARNING)


@rule("ENV003", name="wrong-type", severity=Severity.ERROR)
def wrong_type(record: Record, profile: Profile) -> Iterator[Hit]:
    """A field holds something of another type than it should.

    ## Why
    A count in quotes is not counted, a single text where a list belongs is read as no entry. Counts are
    whole numbers from 0; an entry of a list of references is a text or an object.
    ## Bad
    item-plan.token_estimate = "40"
    ## Good
    item-plan.token_estimate = 40
    ## Fix
    Write the value in the type that the message names.
    ## Source
    Agent Context draft, the schemas; the field lists of segments and blocks.
    """
    for path, spec, value in _fields(record):
        for inner, found, wanted in _misfits(spec.type, value):
            parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in (*path, *inner))
            where = "".join(parts).removeprefix(".")
            message = f"{label(record)}: {where} is {json_excerpt(found)}, not {wanted}"
            yield Hit(record.origin(*path, *inner), message)


@rule("ENV004", name="unknown-scope", severity=Severity.ERROR)
def unknown_scope(record: Record, profile: Profile) -> Iterator[Hit]:
    """The scope of an envelope is not one of the seven that exist.

    ## Why
    It is the only closed list of the draft: another word makes the whole envelope invalid, and it is unknown
    whether the snapshot is that of a turn or of a session.
    ## Bad
    ctx-1.scope = "conversation"
    ## Good
    ctx-1.scope = "custom"
    ## Fix
    Take one of turn, task, session, tool_invocation, review, handoff or custom.
    ## Source
    Agent Context draft, schema of the envelope.
    """
    scope, known = record.text("scope"), KNOWN[WordList.SCOPE]
    if record.kind is RecordKind.ENVELOPE and scope is not None and scope not in known:
        hint = did_you_mean(scope, known) or f"; it can be {', '.join(known)}"
        yield Hit(record.origin("scope"), f"{label(record)}: {quoted(scope)} is not a scope{hint}")


@rule("ENV005", name="bad-time", severity=Severity.ERROR)
def bad_time(record: Record, profile: Profile) -> Iterator[Hit]:
    """A date and time is not written as RFC 3339 wants it.

    ## Why
    The order of a lifecycle is read from its times. One without an offset means another moment in every
    time zone, and one that does not exist means none.
    ## Bad
    surface-1.created_at = "2026-05-11 09:00:02"
    ## Good
    surface-1.created_at = "2026-05-11t11:00:02.5+02:00"
    ## Fix
    Write it as 2026-05-11T09:00:02Z, or with the offset of its place.
    ## Source
    Agent Context draft, the schemas (format date-time); RFC 3339, section 5.6.
    """
    for name, spec in FIELDS[record.kind].items():
        written = record.text(name) if spec.type is FieldType.TIME else None
        if written is not None and (reason := time_problem(written)) is not None:
            message = f"{label(record)}: {name} {quoted(written)} is not a date and time: {reason}"
            yield Hit(record.origin(name), message)


@rule("ENV006", name="unknown-version", severity=Severity.ERROR)
def unknown_version(record: Record, profile: Profile) -> Iterator[Hit]:
    """The schema_version is not known, or a record without a schema does not name one.

    ## Why
    What a field means may change with the version. Known are 0.1.0 and 0.1.1. Summaries and windows have no
    schema that would demand a version; theirs being absent is a warning.
    ## Bad
    item-plan.schema_version = "1.0"
    ## Good
    item-plan.schema_version = "0.1.0"
    ## Fix
    Name the version by which the record was written.
    ## Source
    Agent Context draft, the schemas; which versions are known is ours.
    """
    version = record.value.get("schema_version")
    if isinstance(version, str):
        if version not in KNOWN_VERSIONS:
            known = " and ".join(KNOWN_VERSIONS)
            message = f"{label(record)}: schema_version {quoted(version)} is not known; {known} are"
            yield Hit(record.origin("schema_version"), message)
    elif "schema_version" not in FIELDS[record.kind]:
        message = f"{label(record)} does not name its schema_version"
        yield Hit(record.origin(), message, Severity.WARNING)


@rule("ENV007", name="duplicate-id", severity=Severity.ERROR)
def duplicate_id(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """Two records of one kind have the same id: an error when they differ, a warning for a mere copy.

    ## Why
    References lead to an id. When two records share one, the first is taken, and what the other says about
    the same thing is never seen.
    ## Bad
    item-plan += {"title": "another plan"}
    ## Good
    item-plan += {"item_id": "item-plan-2"}
    ## Fix
    Give the later record its own id, or take the copy away.
    ## Source
    Agent Context draft: ids are stable. That they are unique among the records of an envelope follows.
    """
    by_id: dict[tuple[RecordKind, str], list[Record]] = {}
    for record in records.records:
        if record.id is not None and record.kind is not RecordKind.ENVELOPE:
            by_id.setdefault((record.kind, record.id), []).append(record)
    for (kind, name), (first, *others) in by_id.items():
        for record in others:
            same = same_value(dict(record.value), dict(first.value))
            where = f"in {excerpt(first.file)} at {excerpt(first.pointer or 'its root')}"
            outcome = "as a copy" if same else "with other content"
            message = f"the {kind} {excerpt(name)} already exists {where}, {outcome}"
            severity = Severity.WARNING if same else None
            yield Hit(record.origin(OWN_ID[kind]), message, severity)


@rule("ENV008", name="unknown-fields-kept", severity=Severity.ERROR)
def unknown_fields_kept(record: Record, profile: Profile) -> Iterator[Hit]:
    """Fields that the draft does not know survive loading and saving; no file can break this rule.

    ## Why
    Every schema allows further fields, and tools keep their own facts in them. This is a promise of the
    inspector and not of a file: its tests prove that saving changes the bytes of the edited value and of
    nothing else. The rule is listed so that it can be looked up; it never has a finding.
    ## Bad
    (a tool that drops `x_vendor` when it saves)
    ## Good
    (an editor that leaves `x_vendor` as it was, in its place)
    ## Fix
    Nothing is to be done in a file.
    ## Source
    Agent Context draft, the schemas (additional properties) and the compatibility notes.
    """
    return iter(())


def _fields(record: Record) -> Iterator[tuple[Path, FieldSpec, JsonValue]]:
    """Yield every known field that is present, also those of blocks and segments."""
    for name, spec in FIELDS[record.kind].items():
        if name in record.value:
            yield (name,), spec, record.value[name]
    for name, inner in (("ordered_blocks", BLOCK), ("window_segments", SEGMENT)):
        for at, members in record.objects(name) if name in FIELDS[record.kind] else ():
            for field, spec in inner.items():
                if field in members:
                    yield (name, at, field), spec, members[field]


def _misfits(wanted: FieldType, value: JsonValue) -> Iterator[tuple[Path, JsonValue, str]]:
    """Yield the path below the field, the value, and the wanted type of each value that does not fit."""
    entries = _ENTRIES.get(wanted)
    if entries is None:
        if not _fits(wanted, value):
            yield (), value, wanted.value
    elif not isinstance(value, list):
        yield (), value, wanted.value
    else:
        yield from (((at,), each, entries.value) for at, each in enumerate(value) if not _fits(entries, each))


_ENTRIES = {
    FieldType.TEXTS: FieldType.TEXT,
    FieldType.REFS: FieldType.REF,
    FieldType.OBJECTS: FieldType.OBJECT,
}


def _fits(wanted: FieldType, value: JsonValue) -> bool:
    match wanted:
        case FieldType.TEXT | FieldType.TIME:
            return isinstance(value, str)
        case FieldType.COUNT:
            return count(value) is not None
        case FieldType.NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case FieldType.OBJECT:
            return isinstance(value, dict)
        case FieldType.REF | FieldType.TEXT_OR_OBJECT:
            return isinstance(value, str | dict)
        case FieldType.SELECTOR:
            return isinstance(value, str | dict | list)
        case _:
            return True
