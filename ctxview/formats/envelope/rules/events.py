"""The rules about events, and the links to the runtime and to evidence (ENV082 to ENV086).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ctxview.analysis.rfc3339 import instant
from ctxview.analysis.wording import listed, shown
from ctxview.findings import Hit, Severity, rule
from ctxview.formats.envelope.fates import is_redacted
from ctxview.formats.envelope.model import Dossier, Record, text
from ctxview.formats.envelope.our_words import PAYLOAD_KEYS
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookup import Path, called, is_blank, named, strings
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.formats.envelope.withheld import compared
from ctxview.origin import JsonValue

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
"""What an event names of the runtime, each as `…_id`."""
OF_A_TURN = ("session", "thread", "turn")
OF_AN_ATTEMPT = ("task", "run", "attempt")


@rule("ENV082", name="never-started", severity=Severity.WARNING)
def never_started(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """A selection or a compaction was completed, and no event before that says that it started.

    ## Why
    Then the record of what happened has a hole, or its clocks disagree. Events that say the same moment are
    taken in their favour, and a start that does not say of what may be meant. One event by itself, without an
    envelope, is not judged.
    ## Bad
    event-5 (absent)
    ## Good
    event-1 (absent)
    ## Fix
    Look for the lost event; correct the time that is wrong.
    ## Source
    Our inference from the event types of the Agent Context draft.
    """
    if dossier.envelope is None and len(dossier.of(Kind.EVENT)) == 1:
        return
    for what in ("selection", "compaction"):
        started = _by_subject(_events(dossier, f"context.{what}.started"))
        for completed in _events(dossier, f"context.{what}.completed"):
            subject, when = completed.text("subject"), instant(completed.text("time"))
            every = [each for events in started.values() for each in events] if subject is None else ()
            fitting = [*started.get(subject, ()), *started.get(None, ()), *every]
            begun = [instant(each.text("time")) for each in fitting]
            of = f" of {shown(subject)}" if subject else ""
            if not fitting:
                message = f"the {what}{of} is completed by {called(completed)}, but never started"
                yield Hit(completed.origin("event_type"), message)
            elif when is not None and all(each is not None and each > when for each in begun):
                message = f"the {what}{of} is completed by {called(completed)} before"
                yield Hit(completed.origin("time"), f"{message} {called(fitting[0])} says that it started")


@rule("ENV083", name="events-disagree", severity=Severity.WARNING)
def events_disagree(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """A record and the events tell different things about a redaction or a resolved gap.

    ## Why
    A redaction without its event, or a gap that only one side calls resolved, was changed by somebody who
    left no trace. Where a bundle has no events, and where an event does not say what it is about, nothing
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
    if not dossier.of(Kind.EVENT):
        return
    redactions, resolutions = (
        _by_name(_events(dossier, f"context.{name}")) for name in ("redaction.applied", "missing.resolved")
    )
    for item in dossier.of(Kind.ITEM):
        state, about = item.text("redaction_state"), redactions.get(item.id, ()) if item.id else ()
        if is_redacted(state) and not about and None not in redactions:
            yield Hit(
                item.origin("redaction_state"),
                f"{named(item)} is {shown(state or '')}, but no event says that it was redacted",
            )
        for event in about if state == "none" else ():
            message = f"{named(event)} says that {called(item)} was redacted, but its redaction_state is none"
            yield Hit(event.origin("subject"), message)
    for gap in dossier.of(Kind.MISSING):
        status, about = gap.text("status"), resolutions.get(gap.id, ()) if gap.id else ()
        if status == "resolved" and not about and None not in resolutions:
            yield Hit(gap.origin("status"), f"the gap {called(gap)} is resolved, but no event says so")
        for event in about if status not in (None, "resolved") else ():
            message = f"{named(event)} says that the gap {called(gap)} is resolved, but its status is"
            yield Hit(event.origin("subject"), f"{message} {shown(status or '')}")


@rule("ENV084", name="other-runtime", severity=Severity.WARNING)
def other_runtime(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """An event belongs to another session, turn, task or attempt than its envelope.

    ## Why
    Then it tells about something else, and whoever follows it into the runtime lands in the wrong place. An
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
    if dossier.envelope is None:
        return
    runtime = runtime_ids(dossier.envelope)
    for event in dossier.of(Kind.EVENT):
        if not _same(event.text("context_id"), dossier.envelope.id):
            continue
        for kind in RUNTIME_IDS:
            own, known = event.text(f"{kind}_id"), runtime.get(kind)
            if own is not None and known and own not in known:
                message = (
                    f"{named(event)} is of the {kind} {shown(own)}, its envelope {called(dossier.envelope)}"
                )
                yield Hit(event.origin(f"{kind}_id"), f"{message} of {listed(known)}")


@rule("ENV085", name="lost-runtime-ids", severity=Severity.WARNING)
def lost_runtime_ids(record: Record, profile: Profile) -> Iterator[Hit]:
    """A turn's envelope lacks its session, thread or turn, or a task's selection its task, run or attempt.

    ## Why
    Without all three nobody finds the turn again, and two attempts cannot be told apart. A selection is
    one of a task when it names one of the three.
    ## Bad
    ctx-1.runtime_refs = [{"kind": "turn", "id": "turn-1"}]
    ## Good
    ctx-1.runtime_refs = ["session:session-1", "thread:thread-1", {"turn_id": "turn-1"}]
    ## Fix
    Take the ids from the runtime's own record of the turn or the attempt.
    ## Source
    Agent Context draft, runtime profile ACTX-AR-ID-001 and ACTX-AR-ID-002.
    """
    if record.kind is Kind.ENVELOPE and record.text("scope") == "turn":
        lacks = [kind for kind in OF_A_TURN if kind not in runtime_ids(record)]
        if lacks:
            message = f"the envelope {called(record)} of a turn does not name its {listed(lacks)}"
            yield Hit(record.origin("runtime_refs"), message)
    if record.kind is Kind.SELECTION:
        homes = (record.value, record.object("metadata"))
        lacks = [kind for kind in OF_AN_ATTEMPT if all(is_blank(home.get(f"{kind}_id")) for home in homes)]
        if lacks and len(lacks) < len(OF_AN_ATTEMPT):
            message = f"the selection {called(record)} of a task does not name its {listed(lacks)}"
            yield Hit(record.origin(), message)


@rule("ENV086", name="copied-evidence", severity=Severity.WARNING)
def copied_evidence(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """Evidence copies what an item says instead of citing its id.

    ## Why
    A copy escapes the redaction and the expiry of the item, and nobody can prove that it is the same. Looked
    at are evidence references and the data of `context.exported` events, for members such as `content` or
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
        compared(found): record
        for kind in (Kind.ITEM, Kind.SUMMARY)
        for record in dossier.of(kind)
        for _, found in strings(record.value.get("content"))
        if len(compared(found)) >= length
    }
    for record, path, value in _evidence(dossier):
        members = value if isinstance(value, dict) else {}
        payload = next((name for name in PAYLOAD_KEYS if _is_payload(members.get(name), length)), None)
        copied = next(
            (each for _, found in strings(value) if (each := _original(contents, found, length))), None
        )
        if copied is not None:
            message = (
                f"the evidence in {called(record)} copies the text of {called(copied)} instead of citing it"
            )
            yield Hit(record.origin(*path), message)
        elif payload is not None:
            message = f"the evidence in {called(record)} carries a {payload} instead of citing context ids"
            yield Hit(record.origin(*path, payload), message)


def runtime_ids(envelope: Record) -> Mapping[str, Sequence[str]]:
    """What an envelope names of the runtime, by kind, in every way of writing it that is known."""
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
    """`{"kind": "turn", "id": "t"}`, `{"turn_id": "t"}` and `"turn:t"` mean the same."""
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


def _events(dossier: Dossier, type_: str) -> list[Record]:
    return [each for each in dossier.of(Kind.EVENT) if each.text("event_type") == type_]


def _same(one: str | None, other: str | None) -> bool:
    """Whether two ids may mean one thing: an absent one may mean anything."""
    return one is None or other is None or one == other


def _by_subject(events: Sequence[Record]) -> Mapping[str | None, Sequence[Record]]:
    found: dict[str | None, list[Record]] = {}
    for event in events:
        found.setdefault(event.text("subject"), []).append(event)
    return found


def _by_name(events: Sequence[Record]) -> Mapping[str | None, Sequence[Record]]:
    """The events by all that they name, as their subject or in their data; None when that is nothing."""
    found: dict[str | None, list[Record]] = {}
    for event in events:
        subject = event.text("subject")
        names = {*([subject] if subject else []), *(each for _, each in strings(event.object("data")))}
        for name in names or (None,):
            found.setdefault(name, []).append(event)
    return found


def _evidence(dossier: Dossier) -> Iterator[tuple[Record, Path, JsonValue]]:
    for record in dossier.records:
        for reference in record.refs("evidence_refs"):
            yield record, reference.path, reference.value
    for event in _events(dossier, "context.exported"):
        yield event, ("data",), event.value.get("data")


def _is_payload(value: JsonValue, length: int) -> bool:
    return bool(value) and (isinstance(value, dict | list) or len(text(value) or "") >= length)


def _original(contents: Mapping[str, Record], found: str, length: int) -> Record | None:
    words = compared(found)
    if len(words) < length:
        return None
    return next(
        (record for content, record in contents.items() if content in words or words in content), None
    )
