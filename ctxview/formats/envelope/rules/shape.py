"""The rules about the shape of a record: its kind, its fields, their types and times (ENV001 to ENV008).

Examples change a sound bundle: `ID.member = JSON` sets a member of a record and `(absent)` takes it away,
`ID += {…}` adds a copy of a record with other members, `+ JSON` adds a record as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ctxview.analysis.rfc3339 import why_no_time
from ctxview.analysis.wording import did_you_mean, listed, quoted, shown, spelled
from ctxview.files.json_values import same_value
from ctxview.findings import Hit, Severity, rule
from ctxview.formats.envelope.fields import BLOCK, FIELDS, SEGMENT, FieldSpec, Need, Type
from ctxview.formats.envelope.model import Dossier, Record, Stray, count
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookup import named
from ctxview.formats.envelope.vocabulary import KNOWN, OWN_ID, Kind, Words
from ctxview.origin import JsonValue

KNOWN_VERSIONS = ("0.1.0", "0.1.1")
"""The published versions; only the event schema differs between them."""
Path = tuple[str | int, ...]


@rule("ENV001", name="no-record", severity=Severity.ERROR)
def no_record(stray: Stray, profile: Profile) -> Iterator[Hit]:
    """A value stands where a record should, and no id field says what kind it is.

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
    Agent Context draft, core objects. That the id field decides is ours: the draft names no other way.
    """
    value = stray.value
    if not isinstance(value, dict):
        yield Hit(stray.origin, f"this is {spelled(value)}, not a record")
    else:
        fields = f"; its fields are {listed(value)}" if value else ""
        yield Hit(stray.origin, f"no id field says what kind of record this is{fields}")


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
    Write the missing fields. When the record is somebody else's, ask them: guessing is worse than a gap.
    ## Source
    Agent Context draft, the schemas. There is none for injections and summaries: theirs are our reading.
    """
    missing = [
        name
        for name, spec in FIELDS[record.kind].items()
        if spec.need is Need.REQUIRED and name not in record.value
    ]
    if missing:
        yield Hit(record.origin(), f"{named(record)} has no {' and no '.join(missing)}")
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
            where = _spelled_path((*path, *inner))
            message = f"{named(record)}: {where} is {spelled(found)}, not {wanted}"
            yield Hit(record.origin(*path, *inner), message)


@rule("ENV004", name="unknown-scope", severity=Severity.ERROR)
def unknown_scope(record: Record, profile: Profile) -> Iterator[Hit]:
    """The scope of an envelope is not one of the seven that exist.

    ## Why
    It is the only closed list of the draft: another word makes the whole envelope invalid, and nobody knows
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
    scope, known = record.text("scope"), KNOWN[Words.SCOPE]
    if record.kind is Kind.ENVELOPE and scope is not None and scope not in known:
        hint = did_you_mean(scope, known) or f"; it can be {', '.join(known)}"
        yield Hit(record.origin("scope"), f"{named(record)}: {quoted(scope)} is no scope{hint}")


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
        written = record.text(name) if spec.type is Type.TIME else None
        if written is not None and (reason := why_no_time(written)) is not None:
            message = f"{named(record)}: {name} {quoted(written)} is no date and time: {reason}"
            yield Hit(record.origin(name), message)


@rule("ENV006", name="unknown-version", severity=Severity.ERROR)
def unknown_version(record: Record, profile: Profile) -> Iterator[Hit]:
    """The schema_version is none that is known, or a record without a schema does not name one.

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
            message = f"{named(record)}: schema_version {quoted(version)} is not known; {known} are"
            yield Hit(record.origin("schema_version"), message)
    elif "schema_version" not in FIELDS[record.kind]:
        message = f"{named(record)} does not say by which schema_version it was written"
        yield Hit(record.origin(), message, Severity.WARNING)


@rule("ENV007", name="duplicate-id", severity=Severity.ERROR)
def duplicate_id(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
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
    for (kind, name), records in _by_id(dossier).items():
        first, *others = records
        for record in others:
            same = same_value(dict(record.value), dict(first.value))
            where = f"in {shown(first.file)} at {shown(first.pointer or 'its root')}"
            fate = "as a copy" if same else "with other content"
            message = f"the {kind} {shown(name)} already stands {where}, {fate}"
            severity = Severity.WARNING if same else None
            yield Hit(record.origin(OWN_ID[kind]), message, severity)


@rule("ENV008", name="unknown-fields-kept", severity=Severity.ERROR)
def unknown_fields_kept(record: Record, profile: Profile) -> Iterator[Hit]:
    """Fields that the draft does not know survive loading and saving; no file can break this rule.

    ## Why
    Every schema allows further fields, and tools keep their own facts in them. This is a promise of the
    inspector and not of a file: its tests prove that saving changes the bytes of the edited value and of
    nothing else. The rule stands here so that it can be looked up; it never speaks.
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


def _by_id(dossier: Dossier) -> Mapping[tuple[Kind, str], Sequence[Record]]:
    found: dict[tuple[Kind, str], list[Record]] = {}
    for record in dossier.records:
        if record.id is not None and record.kind is not Kind.ENVELOPE:
            found.setdefault((record.kind, record.id), []).append(record)
    return found


def _fields(record: Record) -> Iterator[tuple[Path, FieldSpec, JsonValue]]:
    """Every known field that is there, also those of blocks and segments."""
    for name, spec in FIELDS[record.kind].items():
        if name in record.value:
            yield (name,), spec, record.value[name]
    for name, inner in (("ordered_blocks", BLOCK), ("window_segments", SEGMENT)):
        for at, members in record.objects(name) if name in FIELDS[record.kind] else ():
            for field, spec in inner.items():
                if field in members:
                    yield (name, at, field), spec, members[field]


def _misfits(wanted: Type, value: JsonValue) -> Iterator[tuple[Path, JsonValue, str]]:
    """What does not fit: where below the field, what stands there, and what should."""
    entries = _ENTRIES.get(wanted)
    if entries is None:
        if not _fits(wanted, value):
            yield (), value, wanted.value
    elif not isinstance(value, list):
        yield (), value, wanted.value
    else:
        yield from (((at,), each, entries.value) for at, each in enumerate(value) if not _fits(entries, each))


_ENTRIES = {Type.TEXTS: Type.TEXT, Type.REFS: Type.REF, Type.OBJECTS: Type.OBJECT}


def _fits(wanted: Type, value: JsonValue) -> bool:
    match wanted:
        case Type.TEXT | Type.TIME:
            return isinstance(value, str)
        case Type.COUNT:
            return count(value) is not None
        case Type.NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case Type.OBJECT:
            return isinstance(value, dict)
        case Type.REF | Type.TEXT_OR_OBJECT:
            return isinstance(value, str | dict)
        case Type.SELECTOR:
            return isinstance(value, str | dict | list)
        case _:
            return True


def _spelled_path(path: Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
