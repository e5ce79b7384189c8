"""The moments of a source that a person may look at: each envelope, and before it each attempt of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.rfc3339 import in_time, instant
from ctxview.formats.envelope.bundle import Bundle, revision_of
from ctxview.formats.envelope.fates import key_of
from ctxview.formats.envelope.model import Dossier, Record
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.quick_dataclass import dataclass

FOLLOWS_A_SELECTION = (
    Kind.BUDGET,
    Kind.ASSEMBLY,
    Kind.INJECTION,
    Kind.COMPACTION,
    Kind.MISSING,
    Kind.EVENT,
)


@dataclass(frozen=True, eq=False)
class Moment:
    """What there was at one time. `record` is what marks it; None for loose records.

    What is wrong is asked of `whole`: that something came only later is no fault of the records.
    """

    label: str
    kind: str
    record: Record | None
    dossier: Dossier
    whole: Dossier

    @property
    def time(self) -> str | None:
        return self.record.text("created_at") if self.record is not None else None


def moments_of(bundle: Bundle) -> tuple[Moment, ...]:
    """In order of time; never empty."""
    return tuple(moment for dossier in bundle.dossiers for moment in _moments(dossier))


def _moments(dossier: Dossier) -> Iterator[Moment]:
    attempts = _attempts(dossier)
    for place, selection in enumerate(attempts[:-1] and attempts):
        later = attempts[place + 1 :]
        label = f"{selection.text('attempt_id')} of {_name(dossier)}"
        yield Moment(label, "attempt", selection, _as_of(dossier, later), dossier)
    envelope = dossier.envelope
    kind = "records" if envelope is None else "revision" if revision_of(envelope) else "envelope"
    yield Moment(_name(dossier), kind, envelope, dossier, dossier)


def _name(dossier: Dossier) -> str:
    return key_of(dossier.envelope) if dossier.envelope is not None else "records"


def _attempts(dossier: Dossier) -> Sequence[Record]:
    """The last selection of each attempt, in order of time."""
    selections = sorted(dossier.of(Kind.SELECTION), key=lambda each: in_time(each.text("created_at")))
    found = {name: each for each in selections if (name := each.text("attempt_id"))}
    return [*found.values()]


def _as_of(dossier: Dossier, later: Sequence[Record]) -> Dossier:
    """The dossier without later attempts, and without what came after the next of them had begun."""
    names = {each.text("attempt_id") for each in later}
    end = instant(later[0].text("created_at")) if later else None

    def was_there(record: Record) -> bool:
        if record.kind is Kind.SELECTION:
            return record.text("attempt_id") not in names
        if record.kind not in FOLLOWS_A_SELECTION or end is None:
            return True
        began = instant(record.text("created_at") or record.text("time"))
        return began is None or began < end

    there = tuple(filter(was_there, dossier.records))
    known = {id(each) for each in there}
    not_yet = tuple(each for each in dossier.records if id(each) not in known)
    return Dossier(dossier.envelope, there, dossier.others, not_yet)
