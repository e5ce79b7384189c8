"""The right to write each field of each kind of record, with the reason that a person sees.

The draft does not define this; the table follows from its text: a snapshot is not changed, a record of what
happened is not rewritten, and every editor may tighten a protection, but only a reviewer may loosen it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from ctxview.core.fields import Owner
from ctxview.core.origin import JsonValue
from ctxview.formats.envelope.model import EnvelopeRecords, Record
from ctxview.formats.envelope.redactions import is_gone
from ctxview.formats.envelope.vocabulary import OWN_ID, RecordKind


class WriteRight(StrEnum):
    """How a field may be written."""

    LOCKED = "locked"
    DERIVED = "derived"
    EDITABLE = "editable"
    GUARDED = "guarded"
    """A model may only tighten it; a reviewer may do more. Both must give a reason."""
    APPEND_ONLY = "append-only"


class FieldOwnership(Struct, frozen=True):
    """The right to a field. `why` says why it cannot be written, or which limits apply."""

    right: WriteRight
    why: str = ""

    @property
    def owner(self) -> Owner:
        return _OWNERS[self.right]


MODEL: Final = "model"
REVIEWER: Final = "reviewer"
EDITORS: Final = (MODEL, REVIEWER)
IN_PLACE: Final = ("draft", "available")
"""The lifecycles in which an envelope is still being built, so that its files are edited in place."""
BEFORE_INJECTION: Final = (*IN_PLACE, "selected", "assembled")
OWN_KEY: Final = "ctxview"
"""The part of a record's metadata that ctxview writes."""


def field_ownership(kind: RecordKind, name: str) -> FieldOwnership:
    """The right to a field by kind and name; `why_locked` adds what the state of the record forbids."""
    if name == OWN_ID[kind]:
        return FieldOwnership(WriteRight.LOCKED, "Other records refer to this id.")
    found = _FIELDS[kind].get(name) or _EVERYWHERE.get(name)
    return found or FieldOwnership(WriteRight.LOCKED, _WHOLE.get(kind, _UNKNOWN))


_UNKNOWN: Final = "ctxview does not know this field, so it cannot be edited."
_OWNERS: Final = {
    WriteRight.LOCKED: Owner.SYSTEM,
    WriteRight.DERIVED: Owner.DERIVED,
    WriteRight.EDITABLE: Owner.MODEL,
    WriteRight.GUARDED: Owner.MODEL,
    WriteRight.APPEND_ONLY: Owner.APPEND_ONLY,
}
_WHOLE: Final = {
    RecordKind.INJECTION: "An injection records what became visible; it cannot be changed.",
    RecordKind.EVENT: "An event records what happened and cannot be changed; only new events are added.",
    RecordKind.WINDOW: "A window is measured by the program that assembled it.",
}


def _locked(why: str) -> FieldOwnership:
    return FieldOwnership(WriteRight.LOCKED, why)


def _derived(why: str) -> FieldOwnership:
    return FieldOwnership(WriteRight.DERIVED, why)


def _guarded(why: str) -> FieldOwnership:
    return FieldOwnership(WriteRight.GUARDED, why)


def _append(why: str) -> FieldOwnership:
    return FieldOwnership(WriteRight.APPEND_ONLY, why)


_EDITABLE: Final = FieldOwnership(WriteRight.EDITABLE)
_RUNTIME: Final = _locked("The runtime set this id; other records use it.")
_EVERYWHERE: Final[Mapping[str, FieldOwnership]] = {
    "schema_version": _locked("The producer set the version that it wrote."),
    "created_at": _locked("It says when the record was made."),
    "time": _locked("It says when it happened."),
    "native_id": _locked("Another system uses this name."),
    "external_mappings": _locked("Other systems use these names."),
    "telemetry_refs": _locked("Traces are written by the program that measured."),
    "hash": _locked("It was computed from the bytes that were used."),
    "metadata": _locked("Only the part named ctxview may be edited; the rest belongs to the producer."),
    **dict.fromkeys(("runtime_id", "session_id", "thread_id", "turn_id", "task_id", "run_id"), _RUNTIME),
    **dict.fromkeys(("attempt_id", "step_id", "tool_call_id", "action_id", "evidence_id"), _RUNTIME),
}
_PRODUCED: Final = _locked("It says who made the snapshot.")
_FLOW: Final = _locked("It was recorded when the context was assembled and shown.")
_NARROW: Final = _guarded("It may be narrowed; only a reviewer may widen it.")
_TIGHTEN: Final = _guarded("It may be tightened; only a reviewer may loosen it.")
_FROM_RECORDS: Final = _derived("It follows from the records.")
_LIMIT: Final = FieldOwnership(
    WriteRight.EDITABLE, "Limits may be edited only while the envelope is a draft."
)
_MEASURED: Final = _derived("It was measured.")
_COMPACTED: Final = _locked("It says what was compacted, and how.")

_FIELDS: Final[Mapping[RecordKind, Mapping[str, FieldOwnership]]] = {
    RecordKind.ENVELOPE: {
        "scope": _locked("A snapshot with another scope is another snapshot."),
        "producer": _PRODUCED,
        "actor_refs": _PRODUCED,
        "runtime_refs": _RUNTIME,
        "surface_refs": _FLOW,
        "selection_refs": _FLOW,
        "assembly_refs": _FLOW,
        "injection_refs": _FLOW,
        "budget_ref": _FLOW,
        "lifecycle": _FROM_RECORDS,
        "item_refs": _FROM_RECORDS,
        "compaction_refs": _FROM_RECORDS,
        "missing_context_refs": _append("Known gaps may be added, but not removed."),
        "policy_refs": _guarded("Only a reviewer decides which policies apply."),
        "evidence_refs": _guarded("Only a reviewer may add evidence; it is never removed."),
    },
    RecordKind.SURFACE: {
        "available_source_refs": _locked("A selection was made from it."),
        "available_item_refs": _locked("A selection was made from it."),
        "surface_kind": _EDITABLE,
        "expires_at": _guarded("It may expire earlier, not later."),
        "visibility": _NARROW,
        "scope": _locked("It says what the surface was for."),
        "producer": _PRODUCED,
        "capability_refs": _FLOW,
        "policy_refs": _guarded("Only a reviewer decides which policies apply."),
    },
    RecordKind.ITEM: {
        "source_refs": _locked("Where it comes from cannot be changed afterwards."),
        "content": FieldOwnership(
            WriteRight.EDITABLE, "Only notes and drafts may be edited: other content comes from a source."
        ),
        "content_ref": _locked("Where it comes from cannot be changed afterwards."),
        "content_mode": _locked("It says how the content is held."),
        "context_kind": _locked("It says what the item is."),
        "mime_type": _locked("It says how the content is written."),
        "trust_level": _guarded("Trust may be lowered; only a reviewer may raise it."),
        "token_estimate": _derived("It is counted from the content."),
        "byte_size": _derived("It is counted from the content."),
        "title": _EDITABLE,
        "language": _EDITABLE,
        "priority": _EDITABLE,
        "freshness": _EDITABLE,
        "sensitivity": _guarded("It may be raised; only a reviewer may lower it."),
        "visibility": _NARROW,
        "redaction_state": _TIGHTEN,
        "redaction_method": _TIGHTEN,
        "redaction_reason": _TIGHTEN,
        "redacted_by": _TIGHTEN,
        "redacted_fields": _TIGHTEN,
        "policy_refs": _guarded("Only a reviewer decides which policies apply."),
    },
    RecordKind.SOURCE: {
        "uri": _locked("It says where the content was found."),
        "source_kind": _locked("It says what was found there."),
        "digest": _locked("It was computed from the bytes that were found."),
        "retrieved_at": _locked("It says when it was found."),
        "modified_at": _locked("The source recorded when it last changed."),
        "authority": _locked("Authority cannot be claimed afterwards."),
        "license": _EDITABLE,
        "selector": FieldOwnership(
            WriteRight.EDITABLE, "The selector may be edited only while the envelope is a draft."
        ),
        "provenance_refs": _append("Provenance may be added, but not removed."),
    },
    RecordKind.SELECTION: {
        "surface_id": _FLOW,
        "candidate_item_refs": _FLOW,
        "ranking_signals": _FLOW,
        "model_ref": _FLOW,
        "actor_ref": _FLOW,
        "budget_ref": _FLOW,
        "query": _FLOW,
        "selection_policy": _FLOW,
        "rationale": _EDITABLE,
        "intent": _EDITABLE,
        "selected_item_refs": _guarded("Moving an item makes a new selection; this one is kept unchanged."),
        "omitted_item_refs": _guarded("Moving an item makes a new selection; its reason may be corrected."),
    },
    RecordKind.BUDGET: {
        "target": _locked("It says which target the budget is for."),
        **dict.fromkeys(("actual_tokens", "actual_bytes", "actual_items"), _MEASURED),
        **dict.fromkeys(("max_tokens", "max_bytes", "max_items", "reserved_tokens"), _LIMIT),
        "overflow_strategy": _LIMIT,
        "window_segments": _MEASURED,
        "truncation_records": _append("Truncations may be added, but not removed."),
    },
    RecordKind.WINDOW: {},
    RecordKind.ASSEMBLY: {
        "target": _locked("It says which target it was assembled for."),
        "source_item_refs": _FROM_RECORDS,
        "budget_ref": _FLOW,
        "ordered_blocks": FieldOwnership(
            WriteRight.EDITABLE, "Blocks may be arranged only before they are injected."
        ),
        "wrapping_policy": FieldOwnership(
            WriteRight.EDITABLE, "Blocks may be arranged only before they are injected."
        ),
        "separator_policy": FieldOwnership(
            WriteRight.EDITABLE, "Blocks may be arranged only before they are injected."
        ),
        "visibility": _NARROW,
        "redaction_state": _TIGHTEN,
    },
    RecordKind.INJECTION: {},
    RecordKind.COMPACTION: {
        "source_item_refs": _COMPACTED,
        "method": _COMPACTED,
        "trigger": _COMPACTED,
        "scope": _COMPACTED,
        "summary_ref": _COMPACTED,
        "coverage": _MEASURED,
        "loss_notes": _append("Loss notes may be added, but not removed."),
        "validation": _EDITABLE,
        "replacement_policy": _EDITABLE,
    },
    RecordKind.SUMMARY: {
        "source_item_refs": _COMPACTED,
        "summary_kind": _COMPACTED,
        "coverage": _MEASURED,
        "content": FieldOwnership(
            WriteRight.EDITABLE, "An edited summary counts as written by hand and must be validated again."
        ),
        "loss_notes": _append("Loss notes may be added, but not removed."),
        "open_questions": _EDITABLE,
        "freshness": _EDITABLE,
        "validation": _EDITABLE,
        "refresh_policy": _EDITABLE,
        "redaction_state": _TIGHTEN,
    },
    RecordKind.MISSING: {
        "scope": _locked("It says where the gap was found."),
        "question": _EDITABLE,
        "needed_for": _EDITABLE,
        "candidate_sources": _EDITABLE,
        "blocked_actions": _EDITABLE,
        "requested_from": _EDITABLE,
        "severity": _guarded("It may be raised; only a reviewer may lower it."),
        "status": _guarded("It follows the order of the states; only a reviewer may close a blocking gap."),
        "resolution_refs": _append("Resolutions may be added, but not removed."),
    },
    RecordKind.EVENT: {},
}

WRITABLE = (WriteRight.EDITABLE, WriteRight.GUARDED, WriteRight.APPEND_ONLY)


def lifecycle(records: EnvelopeRecords) -> str:
    """The lifecycle of the envelope; loose records count as a draft."""
    return (records.envelope.text("lifecycle") or "") if records.envelope is not None else IN_PLACE[0]


def in_place(records: EnvelopeRecords) -> bool:
    """Whether changes are written to the files themselves, not to a new revision."""
    return lifecycle(records) in IN_PLACE


def why_locked(record: Record, name: str, records: EnvelopeRecords) -> str | None:
    """Why the field cannot be written now, or None."""
    owned = field_ownership(record.kind, name)
    if record.kind is RecordKind.SURFACE and name in ("available_source_refs", "available_item_refs"):
        with_selection = {each.text("surface_id") for each in records.of(RecordKind.SELECTION)}
        return None if record.id not in with_selection and in_place(records) else owned.why
    if owned.right not in WRITABLE:
        return owned.why
    if owned.why and not _is_early_enough(record, name, records):
        return owned.why
    return None


def metadata_tampering(old: JsonValue, new: JsonValue) -> str | None:
    """Why metadata may not become `new`, or None; only the part of ctxview may differ."""
    if _others_part(old) == _others_part(new):
        return None
    return f"In metadata, only the part named {OWN_KEY} may be edited; the rest belongs to the producer."


def _others_part(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return value or {}
    return {name: each for name, each in value.items() if name != OWN_KEY}


def _is_early_enough(record: Record, name: str, records: EnvelopeRecords) -> bool:
    """Whether a field that is locked after some step may still be written."""
    match record.kind, name:
        case RecordKind.BUDGET, (
            "max_tokens" | "max_bytes" | "max_items" | "reserved_tokens" | "overflow_strategy"
        ):
            return in_place(records)
        case RecordKind.SOURCE, "selector":
            return in_place(records)
        case RecordKind.ASSEMBLY, ("ordered_blocks" | "wrapping_policy" | "separator_policy"):
            injected = {each.text("assembly_id") for each in records.of(RecordKind.INJECTION)}
            return lifecycle(records) in BEFORE_INJECTION and record.id not in injected
        case RecordKind.ITEM, "content":
            is_fixed = is_gone(record.redaction) or bool(record.text("digest"))
            is_note = record.text("context_kind") == "manual_note"
            return not is_fixed and (is_note or in_place(records))
    return True
