"""Which events somebody in a session refers to by id, so that the survey can note where they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxview.formats.session.blobs import BlobFacts
from ctxview.formats.session.model import Session


def wanted_events(session: Session, blobs: Mapping[str, BlobFacts]) -> frozenset[str]:
    """The ids that swap entries and referring chunks name."""
    return frozenset(_named(session, blobs))


def _named(session: Session, blobs: Mapping[str, BlobFacts]) -> Iterator[str]:
    for record in session.swap.index.records:
        name = record.text("event")
        if name is not None:
            yield name
    for facts in blobs.values():
        if facts.reference is not None:
            yield from filter(None, (facts.reference.start, facts.reference.end))
