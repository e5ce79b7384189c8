"""The fields of every kind of record: what each holds, how much the draft asks for it, where it leads.

Data only; rules, forms and the resolver read it. Fields that are not listed survive and are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from ctxview.formats.envelope.vocabulary import Kind, Words
from ctxview.quick_dataclass import dataclass


class Type(Enum):
    """What a field holds, in the words a person is told."""

    TEXT = "a text"
    TIME = "a date and time"
    COUNT = "a whole number from 0"
    NUMBER = "a number"
    TEXTS = "a list of texts"
    REF = "a reference"
    REFS = "a list of references"
    OBJECT = "an object"
    OBJECTS = "a list of objects"
    TEXT_OR_OBJECT = "a text or an object"
    SELECTOR = "a text, an object or a list"
    ANY = "any value"


class Need(Enum):
    """How much the draft asks for a field."""

    REQUIRED = "required"
    RECOMMENDED = "recommended"
    OPTIONAL = "optional"
    """Known, but nobody misses it; or another rule knows when it is needed."""


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of a kind. `leads_to` are the kinds that a reference in it may name."""

    type: Type
    need: Need = Need.OPTIONAL
    leads_to: tuple[Kind, ...] = ()
    words: Words | None = None


def _must(type_: Type, words: Words | None = None) -> FieldSpec:
    return FieldSpec(type_, Need.REQUIRED, words=words)


def _should(type_: Type, words: Words | None = None) -> FieldSpec:
    return FieldSpec(type_, Need.RECOMMENDED, words=words)


def _may(type_: Type) -> FieldSpec:
    return FieldSpec(type_)


def _refs(*kinds: Kind, need: Need = Need.RECOMMENDED) -> FieldSpec:
    return FieldSpec(Type.REFS, need, kinds)


def _ref(*kinds: Kind, need: Need = Need.RECOMMENDED) -> FieldSpec:
    return FieldSpec(Type.REF, need, kinds)


_SHOWN = (Kind.ITEM, Kind.SUMMARY)
"""What an item reference may name: a summary stands in for the items it was made of."""
_OUTSIDE = _refs(need=Need.OPTIONAL)
"""References to what other standards describe: never part of a bundle, so never broken."""
_VERSION = {"schema_version": _must(Type.TEXT)}
_CREATED = {"created_at": _must(Type.TIME)}
_METADATA = {"metadata": _may(Type.OBJECT)}

FIELDS: Final[Mapping[Kind, Mapping[str, FieldSpec]]] = {
    Kind.ENVELOPE: {
        **_VERSION,
        "context_id": _must(Type.TEXT),
        "scope": _must(Type.TEXT, Words.SCOPE),
        "lifecycle": _must(Type.TEXT, Words.LIFECYCLE),
        **_CREATED,
        "producer": _should(Type.TEXT_OR_OBJECT),
        "actor_refs": _refs(),
        "runtime_refs": _refs(),
        "surface_refs": _refs(Kind.SURFACE),
        "item_refs": _refs(*_SHOWN),
        "selection_refs": _refs(Kind.SELECTION),
        "assembly_refs": _refs(Kind.ASSEMBLY),
        "injection_refs": _refs(Kind.INJECTION),
        "budget_ref": _ref(Kind.BUDGET),
        "compaction_refs": _refs(Kind.COMPACTION, need=Need.OPTIONAL),
        "missing_context_refs": _refs(Kind.MISSING, need=Need.OPTIONAL),
        "policy_refs": _OUTSIDE,
        "evidence_refs": _OUTSIDE,
        "telemetry_refs": _OUTSIDE,
        "artifact_refs": _OUTSIDE,
        "tool_refs": _OUTSIDE,
        **_METADATA,
    },
    Kind.SURFACE: {
        **_VERSION,
        "surface_id": _must(Type.TEXT),
        "scope": _must(Type.TEXT),
        **_CREATED,
        "surface_kind": FieldSpec(Type.TEXT, words=Words.SURFACE_KIND),
        "producer": _should(Type.TEXT_OR_OBJECT),
        "available_source_refs": _refs(Kind.SOURCE),
        "available_item_refs": _refs(*_SHOWN),
        "capability_refs": _refs(),
        "policy_refs": _refs(),
        "visibility": _should(Type.TEXTS, Words.TARGET),
        "expires_at": _should(Type.TIME),
        "metadata": _should(Type.OBJECT),
    },
    Kind.ITEM: {
        **_VERSION,
        "item_id": _must(Type.TEXT),
        "context_kind": _must(Type.TEXT, Words.CONTEXT_KIND),
        "content_mode": _must(Type.TEXT, Words.CONTENT_MODE),
        "visibility": _must(Type.TEXTS, Words.TARGET),
        "title": _should(Type.TEXT),
        "mime_type": _should(Type.TEXT),
        "language": _should(Type.TEXT),
        "trust_level": _should(Type.TEXT),
        "sensitivity": _should(Type.TEXT),
        "content": _may(Type.ANY),
        "content_ref": _ref(need=Need.OPTIONAL),
        "source_refs": _refs(Kind.SOURCE),
        "token_estimate": _should(Type.COUNT),
        "byte_size": _should(Type.COUNT),
        "freshness": _should(Type.TEXT_OR_OBJECT),
        "redaction_state": _should(Type.TEXT, Words.REDACTION),
        "priority": _should(Type.NUMBER),
        "created_at": _should(Type.TIME),
        "metadata": _should(Type.OBJECT),
        "policy_refs": _OUTSIDE,
        "redaction_method": _may(Type.TEXT),
        "redacted_by": _may(Type.TEXT_OR_OBJECT),
        "redaction_reason": _may(Type.TEXT),
        "redacted_fields": _may(Type.TEXTS),
        "original_ref": _ref(need=Need.OPTIONAL),
        "digest": _may(Type.TEXT),
        "retention_hint": _may(Type.ANY),
    },
    Kind.SOURCE: {
        **_VERSION,
        "source_id": _must(Type.TEXT),
        "uri": _must(Type.TEXT),
        "source_kind": _must(Type.TEXT),
        "selector": _should(Type.SELECTOR),
        "digest": _should(Type.TEXT),
        "authority": _should(Type.TEXT),
        "license": _should(Type.TEXT),
        "provenance_refs": _refs(),
        "external_mappings": _should(Type.OBJECTS),
        "retrieved_at": _should(Type.TIME),
        "modified_at": _should(Type.TIME),
        "metadata": _should(Type.OBJECT),
    },
    Kind.SELECTION: {
        **_VERSION,
        "selection_id": _must(Type.TEXT),
        "surface_id": _must(Type.TEXT),
        **_CREATED,
        "query": _should(Type.TEXT),
        "intent": _should(Type.TEXT),
        "rationale": _should(Type.TEXT),
        "candidate_item_refs": _refs(*_SHOWN),
        "selected_item_refs": _refs(*_SHOWN),
        "omitted_item_refs": _refs(*_SHOWN),
        "ranking_signals": _should(Type.OBJECT),
        "selection_policy": _should(Type.TEXT_OR_OBJECT),
        "budget_ref": _ref(Kind.BUDGET),
        "actor_ref": _ref(),
        "model_ref": _ref(),
        "metadata": _should(Type.OBJECT),
        "task_id": _may(Type.TEXT),
        "run_id": _may(Type.TEXT),
        "attempt_id": _may(Type.TEXT),
    },
    Kind.BUDGET: {
        **_VERSION,
        "budget_id": _must(Type.TEXT),
        "target": _must(Type.TEXT, Words.TARGET),
        **_CREATED,
        "max_tokens": _should(Type.COUNT),
        "reserved_tokens": _should(Type.COUNT),
        "max_bytes": _should(Type.COUNT),
        "max_items": _should(Type.COUNT),
        "actual_tokens": _should(Type.COUNT),
        "actual_bytes": _should(Type.COUNT),
        "actual_items": _should(Type.COUNT),
        "overflow_strategy": _should(Type.TEXT, Words.OVERFLOW),
        "truncation_records": _should(Type.OBJECTS),
        "window_segments": _should(Type.OBJECTS),
        **_METADATA,
    },
    Kind.WINDOW: {
        "window_id": _must(Type.TEXT),
        "target": _should(Type.TEXT, Words.TARGET),
        "window_segments": _should(Type.OBJECTS),
        **_METADATA,
    },
    Kind.ASSEMBLY: {
        **_VERSION,
        "assembly_id": _must(Type.TEXT),
        "target": _must(Type.TEXT, Words.TARGET),
        **_CREATED,
        "ordered_blocks": _must(Type.OBJECTS),
        "wrapping_policy": _should(Type.TEXT_OR_OBJECT),
        "separator_policy": _should(Type.TEXT_OR_OBJECT),
        "visibility": _should(Type.TEXTS, Words.TARGET),
        "budget_ref": _ref(Kind.BUDGET),
        "source_item_refs": _refs(*_SHOWN),
        "redaction_state": _should(Type.TEXT, Words.REDACTION),
        **_METADATA,
    },
    Kind.INJECTION: {
        **_VERSION,
        "injection_id": _must(Type.TEXT),
        "assembly_id": _must(Type.TEXT),
        "target": _must(Type.TEXT, Words.TARGET),
        **_CREATED,
        "injection_point": _should(Type.TEXT, Words.INJECTION_POINT),
        "native_id": _should(Type.TEXT),
        "visibility": _should(Type.TEXTS, Words.TARGET),
        "final_ref": _ref(),
        "hash": _should(Type.TEXT),
        "metadata": _should(Type.OBJECT),
    },
    Kind.COMPACTION: {
        **_VERSION,
        "compaction_id": _must(Type.TEXT),
        "scope": _must(Type.TEXT),
        "source_item_refs": _refs(*_SHOWN, need=Need.REQUIRED),
        "method": _must(Type.TEXT, Words.METHOD),
        **_CREATED,
        "summary_ref": _ref(*_SHOWN),
        "trigger": _should(Type.TEXT, Words.TRIGGER),
        "coverage": _should(Type.OBJECT),
        "loss_notes": _should(Type.TEXTS),
        "validation": _should(Type.TEXT_OR_OBJECT),
        "replacement_policy": _should(Type.TEXT),
        "metadata": _should(Type.OBJECT),
    },
    Kind.SUMMARY: {
        "summary_id": _must(Type.TEXT),
        "summary_kind": _should(Type.TEXT),
        "content": _should(Type.ANY),
        "source_item_refs": _refs(*_SHOWN),
        "coverage": _should(Type.OBJECT),
        "loss_notes": _should(Type.TEXTS),
        "open_questions": _should(Type.TEXTS),
        "freshness": _should(Type.TEXT_OR_OBJECT),
        "validation": _should(Type.TEXT_OR_OBJECT),
        "refresh_policy": _should(Type.TEXT_OR_OBJECT),
        "redaction_state": FieldSpec(Type.TEXT, words=Words.REDACTION),
        **_METADATA,
    },
    Kind.MISSING: {
        **_VERSION,
        "missing_id": _must(Type.TEXT),
        "scope": _must(Type.TEXT),
        "question": _must(Type.TEXT),
        "severity": _must(Type.TEXT, Words.SEVERITY),
        "status": _must(Type.TEXT, Words.MISSING_STATUS),
        **_CREATED,
        "needed_for": _should(Type.TEXT),
        "candidate_sources": _should(Type.OBJECTS),
        "blocked_actions": _should(Type.TEXTS),
        "requested_from": _ref(),
        "resolution_refs": _refs(need=Need.OPTIONAL),
        "metadata": _should(Type.OBJECT),
    },
    Kind.EVENT: {
        **_VERSION,
        "event_id": _must(Type.TEXT),
        "event_type": _must(Type.TEXT, Words.EVENT_TYPE),
        "source": _must(Type.TEXT),
        "time": _must(Type.TIME),
        "subject": _may(Type.TEXT),
        "context_id": _may(Type.TEXT),
        "runtime_id": _may(Type.TEXT),
        "session_id": _may(Type.TEXT),
        "thread_id": _may(Type.TEXT),
        "turn_id": _may(Type.TEXT),
        "task_id": _may(Type.TEXT),
        "run_id": _may(Type.TEXT),
        "attempt_id": _may(Type.TEXT),
        "step_id": _may(Type.TEXT),
        "tool_call_id": _may(Type.TEXT),
        "action_id": _may(Type.TEXT),
        "evidence_id": _may(Type.TEXT),
        "data": _may(Type.OBJECT),
        "policy_refs": _OUTSIDE,
        "evidence_refs": _OUTSIDE,
        "telemetry_refs": _OUTSIDE,
        **_METADATA,
    },
}

SEGMENT: Final[Mapping[str, FieldSpec]] = {
    "segment_id": _must(Type.TEXT),
    "role": _should(Type.TEXT),
    "target": _should(Type.TEXT, Words.TARGET),
    "reserved_tokens": _should(Type.COUNT),
    "actual_tokens": _should(Type.COUNT),
    "item_refs": _refs(*_SHOWN),
    "order": _should(Type.NUMBER),
    "truncation_records": _may(Type.OBJECTS),
}
"""One element of `window_segments`."""
BLOCK: Final[Mapping[str, FieldSpec]] = {
    "block_id": _must(Type.TEXT),
    "item_refs": _refs(*_SHOWN),
    "content_ref": _ref(need=Need.OPTIONAL),
    "wrapper": _should(Type.TEXT_OR_OBJECT),
    "position": _should(Type.NUMBER),
    "visibility": _should(Type.TEXTS, Words.TARGET),
    "token_estimate": _should(Type.COUNT),
    "hash": _may(Type.TEXT),
    "redaction_state": _should(Type.TEXT, Words.REDACTION),
}
"""One element of `ordered_blocks`."""
