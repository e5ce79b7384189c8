"""What a reviewer writes about gaps: a new question, an answer with its note, or that a gap stays open.

All of it goes through the policy of the reviewer, like any other edit. Nothing is written to disk here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from msgspec import Struct

from ctxview.core.edits import Edit, EditRefused, InsertItem, SetValue
from ctxview.core.origin import JsonValue
from ctxview.formats.envelope.bundle import Bundle
from ctxview.formats.envelope.editing.fresh_ids import FreshIds
from ctxview.formats.envelope.editing.write_rights import OWN_KEY, REVIEWER
from ctxview.formats.envelope.model import EnvelopeRecords, Record, text
from ctxview.formats.envelope.vocabulary import OWN_ID, RecordKind
from ctxview.formats.interface import GapChange


class EnvelopeGapWriter(Struct, frozen=True):
    """Writes gaps into the latest envelope of a bundle."""

    bundle: Bundle

    def gap_drafts(self, change: GapChange) -> Mapping[str, bytes]:
        """Return the changed files by name; raises `EditRefused`."""
        from ctxview.formats.envelope.editing.policy import RecordsPolicy

        records = self.bundle.groups[-1] if self.bundle.groups else None
        if records is None or records.envelope is None:
            raise EditRefused("These records belong to no envelope, so a gap has no place among them.")
        edits = _asked if change.kind == "ask" else _closed
        drafts: dict[str, bytes] = {}
        data = {file.file: file.data for file in self.bundle.files}
        for file, edit in edits(records.envelope, records, FreshIds(self.bundle.ids), change):
            drafts[file] = RecordsPolicy(file, records, REVIEWER).apply(drafts.get(file, data[file]), edit)
        return drafts


def _asked(
    envelope: Record, _records: EnvelopeRecords, fresh: FreshIds, change: GapChange
) -> Iterator[tuple[str, Edit]]:
    name, producer = fresh.numbered("gap"), text(envelope.object("producer").get("id"))
    gap: dict[str, JsonValue] = {
        "schema_version": envelope.text("schema_version") or "0.1.1",
        OWN_ID[RecordKind.MISSING]: name,
        "scope": envelope.text("scope") or "review",
        "question": change.text,
        "severity": "blocking",
        "status": "requested" if producer else "open",
        "created_at": _now(),
        "needed_for": change.needed_for or "the decision of the review",
        "blocked_actions": ["approve the handoff"],
        **({"requested_from": {"kind": "producer", "id": producer}} if producer else {}),
        "metadata": {OWN_KEY: {"asked_by": change.by}},
    }
    yield envelope.file, InsertItem("/-", gap)
    yield from _listed(envelope, "missing_context_refs", name)


def _closed(
    envelope: Record, records: EnvelopeRecords, fresh: FreshIds, change: GapChange
) -> Iterator[tuple[str, Edit]]:
    gap = next((each for each in records.of(RecordKind.MISSING) if each.id == change.gap), None)
    if gap is None:
        raise EditRefused(f"There is no record of the gap {change.gap}.")
    status = "resolved" if change.kind == "answer" else "declined"
    verb = "Answered" if change.kind == "answer" else "Waived"
    name = fresh.numbered("note")
    note: dict[str, JsonValue] = {
        "schema_version": envelope.text("schema_version") or "0.1.1",
        OWN_ID[RecordKind.ITEM]: name,
        "context_kind": "manual_note",
        "content_mode": "inline",
        "title": f"{verb} by {change.by}: {gap.id}",
        "content": change.text,
        "visibility": ["model", "reviewer"],
        "created_at": _now(),
    }
    yield envelope.file, InsertItem("/-", note)
    yield from _listed(gap, "resolution_refs", name)
    yield gap.file, SetValue(gap.at("status"), status)


def _listed(record: Record, field: str, name: str) -> Iterator[tuple[str, Edit]]:
    """Add an id at the end of a list of references, or make the list."""
    present = record.value.get(field)
    if isinstance(present, list):
        yield record.file, InsertItem(record.at(field, "-"), name)
    else:
        yield record.file, SetValue(record.at(field), [name])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
