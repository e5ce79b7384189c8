"""The references of an envelope by target, and how many of them are not shown because there are too many.

That some are not shown is a row of what is missing and a finding.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from ctxview.core.origin import Origin
from ctxview.core.pauses import give_way
from ctxview.formats.envelope.model import EnvelopeRecords, Record, RecordReference
from ctxview.formats.envelope.vocabulary import RecordKind

MOST_REFS: Final = 5000
ROOTS: Final = (RecordKind.ENVELOPE, RecordKind.EVENT)
"""Kinds that need no reference to them."""


def left_out(records: EnvelopeRecords) -> Iterator[tuple[Origin, str]]:
    """Yield the place of the envelope and how many of its references are shown, if these are not all."""
    # The references are grouped only when there may be too many.
    most = 2 * len(records.records) + sum(len(record.references) for record in records.records)
    if most <= MOST_REFS:
        return
    count = len(references_by_target(records)) + len(records.of(RecordKind.SOURCE)) + len(orphans(records))
    if count > MOST_REFS:
        first = records.envelope or records.records[0]
        yield first.origin(), f"only {MOST_REFS:,} of {count:,} references are shown, problems first"


# The references, the gaps and the findings need them, one after the other.
@lru_cache(maxsize=4)
def references_by_target(
    records: EnvelopeRecords,
) -> Mapping[Hashable, tuple[Record | None, Sequence[RecordReference]]]:
    """Return each target, None for one that is not a record, with all references to it.

    References to records that are newer than this revision are not among them.
    """
    later = {(each.kind, each.id) for each in records.later}
    by_name: dict[str, Record] = {}
    for record in records.records:
        if record.id:
            by_name.setdefault(record.id, record)
    found: dict[Hashable, tuple[Record | None, list[RecordReference]]] = {}
    for reference in _references(records):
        if any((kind, reference.id) in later for kind in reference.leads_to):
            continue
        # A field for any kind finds any record.
        leads_to = reference.leads_to
        target = records.resolve(reference) if leads_to else by_name.get(reference.id or "")
        key = target if target is not None else (leads_to or reference_field(reference), reference.id)
        found.setdefault(key, (target, []))[1].append(reference)
    return found


def _references(records: EnvelopeRecords) -> Iterator[RecordReference]:
    for record in records.records:
        give_way()
        yield from record.references


def orphans(records: EnvelopeRecords) -> list[Record]:
    """Return the records without a reference to them; none without an envelope."""
    if records.envelope is None:
        return []
    return [each for each in records.records if each.kind not in ROOTS and each not in records.reached]


def reference_field(reference: RecordReference) -> str:
    """Return the name of the field without `_ref` or `_refs`."""
    return reference.name.removesuffix("_refs").removesuffix("_ref")
