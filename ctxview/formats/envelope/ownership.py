"""Who may write which field of which record, and the sentence that says so to a person who tries.

The draft itself is silent on this; the table follows from its text: a snapshot is not changed, a record of
what happened is not rewritten, and what protects somebody may be tightened by anybody and loosened by few.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from ctxview.formats.envelope.vocabulary import OWN_ID, Kind
from ctxview.quick_dataclass import dataclass
from ctxview.state import Owner


class Right(StrEnum):
    """What may happen to a field."""

    LOCKED = "locked"
    DERIVED = "derived"
    EDITABLE = "editable"
    GUARDED = "guarded"
    """A model may only tighten it; a reviewer may do more. Both say why."""
    APPEND_ONLY = "append-only"


@dataclass(frozen=True, slots=True)
class Ownership:
    """`why` says why a field cannot be written, or what limits apply to writing it."""

    right: Right
    why: str = ""

    @property
    def owner(self) -> Owner:
        return _OWNERS[self.right]


MODEL: Final = "model"
REVIEWER: Final = "reviewer"
EDITORS: Final = (MODEL, REVIEWER)
IN_PLACE: Final = ("draft", "available")
"""The lifecycles in which an envelope is still being built: it is edited where it stands."""
BEFORE_INJECTION: Final = (*IN_PLACE, "selected", "assembled")
OWN_KEY: Final = "ctxview"
"""The part of a record's metadata that is ours."""


def ownership(kind: Kind, name: str) -> Ownership:
    """The right to a field as such; `allowed` knows what the record's own state adds to it."""
    if name == OWN_ID[kind]:
        return Ownership(Right.LOCKED, "Other records know this one by its id.")
    found = _FIELDS[kind].get(name) or _EVERYWHERE.get(name)
    return found or Ownership(Right.LOCKED, _WHOLE.get(kind, _UNKNOWN))


_UNKNOWN: Final = "Nobody here knows what this field means, so it is kept as it is."
_OWNERS: Final = {
    Right.LOCKED: Owner.SYSTEM,
    Right.DERIVED: Owner.DERIVED,
    Right.EDITABLE: Owner.MODEL,
    Right.GUARDED: Owner.MODEL,
    Right.APPEND_ONLY: Owner.APPEND_ONLY,
}
_WHOLE: Final = {
    Kind.INJECTION: "An injection tells what became visible where; that has happened.",
    Kind.EVENT: "An event has happened; only new ones are added.",
    Kind.WINDOW: "A window is measured by whoever assembled it.",
}


def _locked(why: str) -> Ownership:
    return Ownership(Right.LOCKED, why)


def _derived(why: str) -> Ownership:
    return Ownership(Right.DERIVED, why)


def _guarded(why: str) -> Ownership:
    return Ownership(Right.GUARDED, why)


def _append(why: str) -> Ownership:
    return Ownership(Right.APPEND_ONLY, why)


_EDITABLE: Final = Ownership(Right.EDITABLE)
_RUNTIME: Final = _locked("The runtime gave this name; records elsewhere use it.")
_EVERYWHERE: Final[Mapping[str, Ownership]] = {
    "schema_version": _locked("The producer says by which version it wrote."),
    "created_at": _locked("It says when the record was made."),
    "time": _locked("It says when it happened."),
    "native_id": _locked("Another system knows it by this name."),
    "external_mappings": _locked("Other systems know it by these names."),
    "telemetry_refs": _locked("Traces are written by whoever measured."),
    "hash": _locked("It was computed from the very bytes that were used."),
    "metadata": _locked("Only the part named ctxview is ours; the rest is its producer's."),
    **dict.fromkeys(("runtime_id", "session_id", "thread_id", "turn_id", "task_id", "run_id"), _RUNTIME),
    **dict.fromkeys(("attempt_id", "step_id", "tool_call_id", "action_id", "evidence_id"), _RUNTIME),
}
_PRODUCED: Final = _locked("It says who made the snapshot.")
_FLOW: Final = _locked("It was recorded while context was put together and shown.")
_NARROW: Final = _guarded("It may be narrowed; only a reviewer may widen it.")
_TIGHTEN: Final = _guarded("It may be tightened; only a reviewer may loosen it.")
_FROM_RECORDS: Final = _derived("It follows from the records.")
_LIMIT: Final = Ownership(Right.EDITABLE, "Limits are set while the envelope is a draft.")
_MEASURED: Final = _derived("It was measured.")
_COMPACTED: Final = _locked("It says what was compacted, and how.")

_FIELDS: Final[Mapping[Kind, Mapping[str, Ownership]]] = {
    Kind.ENVELOPE: {
        "scope": _locked("A snapshot of something else would be another snapshot."),
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
        "missing_context_refs": _append("Known gaps are added; none is taken away."),
        "policy_refs": _guarded("Which policies apply is for a reviewer to say."),
        "evidence_refs": _guarded("Evidence is for a reviewer to add; none is taken away."),
    },
    Kind.SURFACE: {
        "available_source_refs": _locked("A selection was made from it."),
        "available_item_refs": _locked("A selection was made from it."),
        "surface_kind": _EDITABLE,
        "expires_at": _guarded("It may expire earlier, not later."),
        "visibility": _NARROW,
        "scope": _locked("It says what the surface was for."),
        "producer": _PRODUCED,
        "capability_refs": _FLOW,
        "policy_refs": _guarded("Which policies apply is for a reviewer to say."),
    },
    Kind.ITEM: {
        "source_refs": _locked("Where it comes from cannot be made up afterwards."),
        "content": Ownership(Right.EDITABLE, "Notes and drafts only: other content is what a source said."),
        "content_ref": _locked("Where it comes from cannot be made up afterwards."),
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
        "policy_refs": _guarded("Which policies apply is for a reviewer to say."),
    },
    Kind.SOURCE: {
        "uri": _locked("It says where the content was found."),
        "source_kind": _locked("It says what was found there."),
        "digest": _locked("It was computed from the very bytes that were found."),
        "retrieved_at": _locked("It says when it was found."),
        "modified_at": _locked("The source says when it last changed."),
        "authority": _locked("Authority is not claimed afterwards."),
        "license": _EDITABLE,
        "selector": Ownership(
            Right.EDITABLE, "Which part is meant is settled while the envelope is a draft."
        ),
        "provenance_refs": _append("Provenance is added; none is taken away."),
    },
    Kind.SELECTION: {
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
        "selected_item_refs": _guarded("Moving an item makes a new selection; this one stays as it was."),
        "omitted_item_refs": _guarded("Moving an item makes a new selection; its reason may be put right."),
    },
    Kind.BUDGET: {
        "target": _locked("It says for whom the budget is."),
        **dict.fromkeys(("actual_tokens", "actual_bytes", "actual_items"), _MEASURED),
        **dict.fromkeys(("max_tokens", "max_bytes", "max_items", "reserved_tokens"), _LIMIT),
        "overflow_strategy": _LIMIT,
        "window_segments": _MEASURED,
        "truncation_records": _append("What was cut is added; none is taken away."),
    },
    Kind.WINDOW: {},
    Kind.ASSEMBLY: {
        "target": _locked("It says for whom it was put together."),
        "source_item_refs": _FROM_RECORDS,
        "budget_ref": _FLOW,
        "ordered_blocks": Ownership(Right.EDITABLE, "Blocks are arranged before they are injected."),
        "wrapping_policy": Ownership(Right.EDITABLE, "Blocks are arranged before they are injected."),
        "separator_policy": Ownership(Right.EDITABLE, "Blocks are arranged before they are injected."),
        "visibility": _NARROW,
        "redaction_state": _TIGHTEN,
    },
    Kind.INJECTION: {},
    Kind.COMPACTION: {
        "source_item_refs": _COMPACTED,
        "method": _COMPACTED,
        "trigger": _COMPACTED,
        "scope": _COMPACTED,
        "summary_ref": _COMPACTED,
        "coverage": _MEASURED,
        "loss_notes": _append("What was lost is added; none is taken away."),
        "validation": _EDITABLE,
        "replacement_policy": _EDITABLE,
    },
    Kind.SUMMARY: {
        "source_item_refs": _COMPACTED,
        "summary_kind": _COMPACTED,
        "coverage": _MEASURED,
        "content": Ownership(
            Right.EDITABLE, "It then counts as written by hand, and is to be validated anew."
        ),
        "loss_notes": _append("What was lost is added; none is taken away."),
        "open_questions": _EDITABLE,
        "freshness": _EDITABLE,
        "validation": _EDITABLE,
        "refresh_policy": _EDITABLE,
        "redaction_state": _TIGHTEN,
    },
    Kind.MISSING: {
        "scope": _locked("It says where the gap was met."),
        "question": _EDITABLE,
        "needed_for": _EDITABLE,
        "candidate_sources": _EDITABLE,
        "blocked_actions": _EDITABLE,
        "requested_from": _EDITABLE,
        "severity": _guarded("It may be raised; only a reviewer may lower it."),
        "status": _guarded("It moves on from state to state; only a reviewer ends a blocking gap."),
        "resolution_refs": _append("What settles the gap is added; none is taken away."),
    },
    Kind.EVENT: {},
}
