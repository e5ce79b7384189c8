"""Envelopes, attempts and events on a timeline, and the revisions that go with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ctxview.analysis.rfc3339 import in_time
from ctxview.formats.envelope.fates import key_of
from ctxview.formats.envelope.model import Record
from ctxview.formats.envelope.moments import Moment
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.formats.envelope.withheld import Withheld
from ctxview.formats.interface import Revision
from ctxview.state import Event


def build_revisions(moments: Sequence[Moment], path: Path, withheld: Withheld) -> tuple[Revision, ...]:
    plain = [
        Revision(
            withheld.mask(each.label),
            each.kind,
            Path(each.record.file) if each.record is not None else path,
            None,
            each.time,
        )
        for each in moments
    ]
    uses = Counter(each.label for each in plain)
    return tuple(
        replace(each, label=f"{each.label} ({each.file.name})") if uses[each.label] > 1 else each
        for each in plain
    )


def build_timeline(moments: Sequence[Moment], withheld: Withheld) -> tuple[Event, ...]:
    """By time; what has none comes last, in the order of the files."""
    found = [*_marks(moments, withheld), *_events(moments, withheld)]
    return tuple(sorted(found, key=lambda each: in_time(each.time)))


def _marks(moments: Sequence[Moment], withheld: Withheld) -> Iterator[Event]:
    for place, moment in enumerate(moments):
        if moment.record is not None:
            lifecycle = moment.record.text("lifecycle")
            label = f"{moment.label} · {lifecycle}" if lifecycle else moment.label
            yield Event(withheld.mask(label), moment.kind, moment.time, place, moment.record.origin())


def _events(moments: Sequence[Moment], withheld: Withheld) -> Iterator[Event]:
    """Each event once, with the first moment that knows of it."""
    seen: set[Record] = set()
    for place, moment in enumerate(moments):
        for event in moment.dossier.of(Kind.EVENT):
            if event not in seen:
                seen.add(event)
                kind = (event.text("event_type") or "event").removeprefix("context.")
                told = " · ".join(filter(None, (kind, event.text("subject") or key_of(event))))
                yield Event(
                    withheld.mask(told), withheld.mask(kind), event.text("time"), place, event.origin()
                )
