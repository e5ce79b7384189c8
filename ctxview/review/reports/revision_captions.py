"""Captions about reviews: which revision was approved, and which later one ended the approval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ctxview.analysis.captions import Caption
from ctxview.analysis.wording import excerpt, listed
from ctxview.core.revision_signs import REPLY
from ctxview.formats.interface import Lens, Source
from ctxview.review.meaning import changes_between, part_digests
from ctxview.review.subject import records_beside
from ctxview.review.words import SignOff

if TYPE_CHECKING:
    from ctxview.review.record import ReviewPredicate

APPROVED_WEIGHT, ENDED_WEIGHT = 60, 99
"""That an approval ends is more important than the change that ends it."""


def review_captions(source: Source, revision: int, lens: Lens) -> tuple[Caption, ...]:
    """Return the captions of the records beside a source for one of its revisions."""
    if not (files := records_beside(source.path)):
        return ()
    from ctxview.review.record import read_record

    return tuple(
        caption
        for statement in (read_record(file).statement for file in files)
        if statement is not None
        for caption in _of_record(statement.predicate, source, revision, lens)
    )


def _of_record(predicate: ReviewPredicate, source: Source, revision: int, lens: Lens) -> Iterator[Caption]:
    from ctxview.review.verification import recorded_source

    own = recorded_source(predicate, source.path.resolve())
    labels = [each.label for each in source.revisions]
    if own is None or own.revision not in labels:
        return
    who, day = excerpt(predicate.reviewer), f"{predicate.time:%Y-%m-%d}"
    reviewed = labels.index(own.revision)
    if revision == reviewed:
        accepted = sum(bool(point.reason) for point in predicate.points)
        reasons = f"{accepted} points were accepted with reasons." if accepted > 1 else ""
        yield Caption(f"{who} {predicate.decision} this on {day}.", reasons, APPROVED_WEIGHT)
    later = [at for at in range(reviewed + 1, len(labels)) if source.revisions[at].sign != REPLY]
    if predicate.decision is SignOff.APPROVED and revision in later[:1]:
        changes = [*changes_between(own.parts, part_digests(source.reading(revision, lens).state))]
        if changes:
            text = f"The approval by {who} no longer holds: {listed(changes, 2)}."
            yield Caption(
                text, "It was for other content. ctxview review --verify now exits with 4.", ENDED_WEIGHT
            )
