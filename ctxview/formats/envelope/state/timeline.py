"""Build the revisions and the timeline: each envelope, and before it each attempt of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.rfc3339 import parse_time, time_sort_key
from ctxview.core.revision_signs import PUBLISHED, REPLY, WHOLE_STATE
from ctxview.core.state import Event
from ctxview.formats.envelope.bundle import Bundle, revision_of
from ctxview.formats.envelope.model import EnvelopeRecords, Record
from ctxview.formats.envelope.outcomes import outcome_key
from ctxview.formats.envelope.state.record_text import event_word
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.withheld import WithheldContent
from ctxview.formats.interface import Revision

FOLLOWS_A_SELECTION = (
    RecordKind.BUDGET,
    RecordKind.ASSEMBLY,
    RecordKind.INJECTION,
    RecordKind.COMPACTION,
    RecordKind.MISSING,
    RecordKind.EVENT,
)


class EnvelopeRevision(Struct, frozen=True, eq=False):
    """The records of one revision. `record` is its envelope or selection; None for loose records.

    Rules check `whole`: a record that came later is not missing.
    """

    label: str
    kind: str
    record: Record | None
    records: EnvelopeRecords
    whole: EnvelopeRecords

    @property
    def time(self) -> str | None:
        return self.record.text("created_at") if self.record is not None else None


def envelope_revisions(bundle: Bundle) -> tuple[EnvelopeRevision, ...]:
    """All revisions in order of time; never empty."""
    return tuple(revision for records in bundle.groups for revision in _revisions_of(records))


def _revisions_of(records: EnvelopeRecords) -> Iterator[EnvelopeRevision]:
    selections = sorted(
        records.of(RecordKind.SELECTION), key=lambda each: time_sort_key(each.text("created_at"))
    )
    # The last selection of each attempt.
    attempts = [*{name: each for each in selections if (name := each.text("attempt_id"))}.values()]
    for place, selection in enumerate(attempts[:-1] and attempts):
        later = attempts[place + 1 :]
        label = f"{selection.text('attempt_id')} of {_name(records)}"
        yield EnvelopeRevision(label, "attempt", selection, _as_of(records, later), records)
    envelope = records.envelope
    kind = "records" if envelope is None else "revision" if revision_of(envelope) else "envelope"
    yield EnvelopeRevision(_name(records), kind, envelope, records, records)


def _name(records: EnvelopeRecords) -> str:
    return outcome_key(records.envelope) if records.envelope is not None else "records"


def _as_of(records: EnvelopeRecords, later: Sequence[Record]) -> EnvelopeRecords:
    """The records without later attempts, and without records made after the next attempt began."""
    names = {each.text("attempt_id") for each in later}
    end = parse_time(later[0].text("created_at")) if later else None

    def was_present(record: Record) -> bool:
        if record.kind is RecordKind.SELECTION:
            return record.text("attempt_id") not in names
        if record.kind not in FOLLOWS_A_SELECTION or end is None:
            return True
        began = parse_time(record.text("created_at") or record.text("time"))
        return began is None or began < end

    present = tuple(filter(was_present, records.records))
    known = {id(each) for each in present}
    newer = tuple(each for each in records.records if id(each) not in known)
    return EnvelopeRecords(records.envelope, present, records.others, newer)


_SIGNS = {"attempt": REPLY, "revision": PUBLISHED}


def build_revisions(
    revisions: Sequence[EnvelopeRevision], path: Path, withheld: WithheldContent
) -> tuple[Revision, ...]:
    plain = [
        Revision(
            withheld.mask(each.label),
            each.kind,
            Path(each.record.file) if each.record is not None else path,
            None,
            each.time,
            sign=_SIGNS.get(each.kind, WHOLE_STATE),
        )
        for each in revisions
    ]
    uses = Counter(each.label for each in plain)
    return tuple(
        replace(each, label=f"{each.label} ({each.file.name})") if uses[each.label] > 1 else each
        for each in plain
    )


def build_timeline(revisions: Sequence[EnvelopeRevision], withheld: WithheldContent) -> tuple[Event, ...]:
    """The revisions and events by time; those without a time come last, in the order of the files."""
    found: list[Event] = []
    for number, each in enumerate(revisions):
        if each.record is not None:
            lifecycle = each.record.text("lifecycle")
            label = withheld.mask(f"{each.label} · {lifecycle}" if lifecycle else each.label)
            found.append(Event(label, each.kind, each.time, number, each.record.origin()))
    seen: set[Record] = set()
    for number, revision in enumerate(revisions):
        for event in revision.records.of(RecordKind.EVENT):
            if event not in seen:
                # An event belongs to the first revision that holds it.
                seen.add(event)
                kind = event_word(event)
                subject = event.text("subject") or outcome_key(event)
                label = withheld.mask(" · ".join(filter(None, (kind, subject))))
                found.append(Event(label, withheld.mask(kind), event.text("time"), number, event.origin()))
    return tuple(sorted(found, key=lambda each: time_sort_key(each.time)))
