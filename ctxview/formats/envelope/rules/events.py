"""Rules about events, and the links to the runtime and to evidence (ENV082 to ENV086).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import excerpt, listed
from ctxview.core.findings import Finding, Hit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.formats.envelope.model import EnvelopeRecords, Record, text
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.redactions import is_redacted
from ctxview.formats.envelope.rules.lookups import Path, id_of, is_blank, label, member_strings
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.withheld import normalise
from ctxview.formats.envelope.word_lists import PAYLOAD_KEYS

RUNTIME_IDS = (
    "runtime",
    "session",
    "thread",
    "turn",
    "task",
    "run",
    "attempt",
    "step",
    "tool_call",
    "action",
    "evidence",
)
"""The runtime ids of an event, each in a field `…_id`."""
ANY = ""
OF_A_TURN = ("session", "thread", "turn")
OF_AN_ATTEMPT = ("task", "run", "attempt")


@rule("ENV082", name="never-started", severity=Severity.WARNING)
def never_started(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A selection or a compaction was completed, and no event before that says that it started.

    ## Why
    Then an event is missing, or the clocks disagree. Events with the same time count as in order, and a start
    without a subject counts for any. One event by itself, without an
    envelope, is not checked.
    ## Bad
    event-5 (absent)
    ## Good
    event-1 (absent)
    ## Fix
    Look for the lost event; correct the time that is wrong.
    ## Source
    Our inference from the event types of the Agent Context draft.
    """
    if records.envelope is None and len(records.of(RecordKind.EVENT)) == 1:
        return
    for what in ("selection", "compaction"):
        first = _first_starts(_events(records, f"context.{what}.started"))
        for completed in _events(records, f"context.{what}.completed"):
            subject, when = completed.text("subject"), parse_time(completed.text("time"))
            # A start without a subject fits every end, and an end without a subject every start.
            fitting = [first[key] for key in ((subject, None) if subject else (ANY,)) if key in first]
            of = f" of {excerpt(subject)}" if subject else ""
            if not fitting:
                message = f"the {what}{of} is completed by {id_of(completed)}, but never started"
                yield Hit(completed.origin("event_type"), message)
            elif when is not None and all(begun is not None and begun > when for begun, _ in fitting):
                message = f"the {what}{of} is completed by {id_of(completed)} before"
                yield Hit(completed.origin("time"), f"{message} {id_of(fitting[0][1])} says that it started")


@rule("ENV083", name="events-disagree", severity=Severity.WARNING)
def events_disagree(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A record and the events disagree about a redaction or a resolved gap.

    ## Why
    A redaction without its event, or a gap that only one side calls resolved, was changed without a trace.
    Where a bundle has no events, and where an event does not say what it is about, nothing
    is known.
    ## Bad
    event-7 (absent)
    ## Good
    event-11 (absent)
    ## Fix
    Add the event that is missing, or set the record to what happened.
    ## Source
    Agent Context draft, event types and quick start, step 10.
    """
    if not records.of(RecordKind.EVENT):
        return
    redactions, resolutions = (
        _by_name(_events(records, f"context.{name}")) for name in ("redaction.applied", "missing.resolved")
    )
    for item in records.of(RecordKind.ITEM):
        state, about = item.redaction, redactions.get(item.id, ()) if item.id else ()
        if is_redacted(state) and not about and None not in redactions:
            yield Hit(
                item.origin("redaction_state"),
                f"{label(item)} is {excerpt(state or '')}, but no event says that it was redacted",
            )
        for event in about if not is_redacted(state) else ():
            message = f"{label(event)} says that {id_of(item)} was redacted, but its redaction_state is"
            yield Hit(event.origin("subject"), f"{message} {state or 'absent'}")
    for gap in records.of(RecordKind.MISSING):
        status, about = gap.text("status"), resolutions.get(gap.id, ()) if gap.id else ()
        if status == "resolved" and not about and None not in resolutions:
            yield Hit(gap.origin("status"), f"the gap {id_of(gap)} is resolved, but no event says so")
        for event in about if status != "resolved" else ():
            message = f"{label(event)} says that the gap {id_of(gap)} is resolved, but its status is"
            yield Hit(event.origin("subject"), f"{message} {excerpt(status or 'absent')}")


def misses_event(finding: Finding) -> bool:
    """Whether ENV083 found a changed record without its event, and not an event without its change."""
    return finding.rule == "ENV083" and not (finding.origin.pointer or "").endswith("/subject")


@rule("ENV084", name="other-runtime", severity=Severity.WARNING)
def other_runtime(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """An event belongs to another session, turn, task or attempt than its envelope.

    ## Why
    Then it is about something else, and following it into the runtime leads to the wrong place. An
    envelope may name several of a kind; kinds that it does not name are not compared.
    ## Bad
    event-6.session_id = "session-2"
    ## Good
    event-6.session_id = (absent)
    ## Fix
    Correct the id, or put the event to the envelope it belongs to.
    ## Source
    Agent Context draft, runtime profile and failure case 4.
    """
    if records.envelope is None:
        return
    runtime = runtime_ids(records.envelope)
    for event in records.of(RecordKind.EVENT):
        contexts = {event.text("context_id"), records.envelope.id}
        if len(contexts) == 2 and None not in contexts:
            continue
        for kind in RUNTIME_IDS:
            own, known = event.text(f"{kind}_id"), runtime.get(kind)
            if own is not None and known and own not in known:
                message = f"{label(event)} belongs to the {kind} {excerpt(own)}"
                other = f"its envelope {id_of(records.envelope)} to {listed(known)}"
                yield Hit(event.origin(f"{kind}_id"), f"{message}, {other}")


@rule("ENV085", name="lost-runtime-ids", severity=Severity.WARNING)
def lost_runtime_ids(record: Record, profile: Profile) -> Iterator[Hit]:
    """A turn's envelope lacks its session, thread or turn, or a task's selection its task, run or attempt.

    ## Why
    Without all three the turn cannot be found again, and two attempts look the same. A selection
    belongs to a task when it names one of the three.
    ## Bad
    ctx-1.runtime_refs = [{"kind": "turn", "id": "turn-1"}]
    ## Good
    ctx-1.runtime_refs = ["session:session-1", "thread:thread-1", {"turn_id": "turn-1"}]
    ## Fix
    Take the ids from the runtime's own record of the turn or the attempt.
    ## Source
    Agent Context draft, runtime profile ACTX-AR-ID-001 and ACTX-AR-ID-002.
    """
    if record.kind is RecordKind.ENVELOPE and record.text("scope") == "turn":
        lacks = [kind for kind in OF_A_TURN if kind not in runtime_ids(record)]
        if lacks:
            message = f"the envelope {id_of(record)} of a turn does not name its {listed(lacks)}"
            yield Hit(record.origin("runtime_refs"), message)
    if record.kind is RecordKind.SELECTION:
        homes = (record.value, record.object("metadata"))
        lacks = [kind for kind in OF_AN_ATTEMPT if all(is_blank(home.get(f"{kind}_id")) for home in homes)]
        if lacks and len(lacks) < len(OF_AN_ATTEMPT):
            message = f"the selection {id_of(record)} of a task does not name its {listed(lacks)}"
            yield Hit(record.origin(), message)


@rule("ENV086", name="copied-evidence", severity=Severity.WARNING)
def copied_evidence(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """Evidence copies what an item says instead of citing its id.

    ## Why
    A copy escapes the redaction and the expiry of the item, and it cannot be proved to be the same. Checked
    are evidence references and the data of `context.exported` events, for members such as `content` or
    `payload` and for texts of at least forty characters that an item or a summary holds.
    ## Bad
    ctx-1.evidence_refs = [{"id": "evidence-1", "payload": {"goal": "Land the strict JSON parser"}}]
    ## Good
    ctx-1.evidence_refs = [{"id": "evidence-1", "cites": ["item-goal", "summary-1"]}]
    ## Fix
    Cite the ids; let the reader fetch the content under its own rules.
    ## Source
    Agent Context draft, runtime profile ACTX-AR-EVID-001. The names and the length are ours.
    """
    length = profile.limits.copied_length
    contents = {
        normalise(found): record
        for kind in (RecordKind.ITEM, RecordKind.SUMMARY)
        for record in records.of(kind)
        for _, found in member_strings(record.value.get("content"))
        if len(normalise(found)) >= length
    }
    for record, path, value in _evidence(records):
        members = value if isinstance(value, dict) else {}
        payload = next((name for name in PAYLOAD_KEYS if _is_payload(members.get(name), length)), None)
        copied = next(
            (each for _, found in member_strings(value) if (each := _original(contents, found, length))), None
        )
        if copied is not None:
            message = (
                f"the evidence in {id_of(record)} copies the text of {id_of(copied)} instead of citing it"
            )
            yield Hit(record.origin(*path), message)
        elif payload is not None:
            message = f"the evidence in {id_of(record)} carries a {payload} instead of citing context ids"
            yield Hit(record.origin(*path, payload), message)


def runtime_ids(envelope: Record) -> Mapping[str, Sequence[str]]:
    """The runtime ids of an envelope by kind, in every known spelling."""
    found: dict[str, list[str]] = {}
    for kind in RUNTIME_IDS:
        if name := envelope.text(f"{kind}_id"):
            found.setdefault(kind, []).append(name)
    for reference in envelope.refs("runtime_refs"):
        for kind, name in _named(reference.value):
            if kind in RUNTIME_IDS and name:
                found.setdefault(kind, []).append(name)
    return found


def _named(value: JsonValue) -> Iterator[tuple[str, str]]:
    """Yield kind and id: `{"kind": "turn", "id": "t"}`, `{"turn_id": "t"}` and `"turn:t"` are equal."""
    if isinstance(value, str):
        kind, _, name = value.partition(":")
        yield kind.removesuffix("_id"), name
    if not isinstance(value, dict):
        return
    kinds, names = (
        [each for key in keys if (each := text(value.get(key)))]
        for keys in (("kind", "type"), ("id", "ref", "ref_id"))
    )
    if kinds and names:
        yield kinds[0].removesuffix("_id"), names[0]
    for key, member in value.items():
        if key.endswith("_id") and isinstance(member, str):
            yield key.removesuffix("_id"), member


def _events(records: EnvelopeRecords, type_: str) -> list[Record]:
    return [each for each in records.of(RecordKind.EVENT) if each.text("event_type") == type_]


def _first_starts(events: Sequence[Record]) -> Mapping[str | None, tuple[datetime | None, Record]]:
    """The first start of each subject with its time, and under `ANY` the first of all.

    A start without a time that can be read might be the first one.
    """
    found: dict[str | None, tuple[datetime | None, Record]] = {}
    for event in events:
        begun = parse_time(event.text("time"))
        for key in {event.text("subject"), ANY}:
            known = found.setdefault(key, (begun, event))
            if known[0] is not None and (begun is None or begun < known[0]):
                found[key] = (begun, event)
    return found


def _by_name(events: Sequence[Record]) -> Mapping[str | None, Sequence[Record]]:
    """The events by every id in their subject or data; under None those that name nothing."""
    found: dict[str | None, list[Record]] = {}
    for event in events:
        subject = event.text("subject")
        names = {*([subject] if subject else []), *(each for _, each in member_strings(event.object("data")))}
        for name in names or (None,):
            found.setdefault(name, []).append(event)
    return found


def _evidence(records: EnvelopeRecords) -> Iterator[tuple[Record, Path, JsonValue]]:
    for record in records.records:
        for reference in record.refs("evidence_refs"):
            yield record, reference.path, reference.value
    for event in _events(records, "context.exported"):
        yield event, ("data",), event.value.get("data")


def _is_payload(value: JsonValue, length: int) -> bool:
    return bool(value) and (isinstance(value, dict | list) or len(text(value) or "") >= length)


def _original(contents: Mapping[str, Record], found: str, length: int) -> Record | None:
    words = normalise(found)
    if len(words) < length:
        return None
    return next(
        (record for content, record in contents.items() if content in words or words in content), None
    )
