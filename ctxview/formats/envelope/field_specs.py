"""The fields of every kind of record: type, need, word list, and the kinds a reference may lead to.

Data only; rules, forms and the resolver read it. Fields that are not listed are kept and shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec import Struct

from ctxview.core.origin import JsonValue
from ctxview.formats.envelope.vocabulary import KIND_OF_ID, RecordKind, WordList


class FieldType(Enum):
    """The type of a field; the value is its name in messages."""

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


class FieldNeed(Enum):
    """Whether the draft requires or recommends a field."""

    REQUIRED = "required"
    RECOMMENDED = "recommended"
    OPTIONAL = "optional"
    """Known and never missed, or another rule decides when it is needed."""


class FieldSpec(Struct, frozen=True):
    """One field of a kind of record. `leads_to` are the kinds that a reference in it may name."""

    type: FieldType
    need: FieldNeed = FieldNeed.OPTIONAL
    leads_to: tuple[RecordKind, ...] = ()
    words: WordList | None = None


def _must(type_: FieldType, words: WordList | None = None) -> FieldSpec:
    return FieldSpec(type_, FieldNeed.REQUIRED, words=words)


def _should(type_: FieldType, words: WordList | None = None) -> FieldSpec:
    return FieldSpec(type_, FieldNeed.RECOMMENDED, words=words)


def _may(type_: FieldType) -> FieldSpec:
    return FieldSpec(type_)


def _refs(*kinds: RecordKind, need: FieldNeed = FieldNeed.RECOMMENDED) -> FieldSpec:
    return FieldSpec(FieldType.REFS, need, kinds)


def _ref(*kinds: RecordKind, need: FieldNeed = FieldNeed.RECOMMENDED) -> FieldSpec:
    return FieldSpec(FieldType.REF, need, kinds)


_ITEM_KINDS = (RecordKind.ITEM, RecordKind.SUMMARY)
"""The kinds that an item reference may name: a summary may replace the items it was made of."""
_EXTERNAL_REFS = _refs(need=FieldNeed.OPTIONAL)
"""References to objects of other standards: never part of a bundle, so never broken."""
_VERSION = {"schema_version": _must(FieldType.TEXT)}
_CREATED = {"created_at": _must(FieldType.TIME)}
_METADATA = {"metadata": _may(FieldType.OBJECT)}

FIELDS: Final[Mapping[RecordKind, Mapping[str, FieldSpec]]] = {
    RecordKind.ENVELOPE: {
        **_VERSION,
        "context_id": _must(FieldType.TEXT),
        "scope": _must(FieldType.TEXT, WordList.SCOPE),
        "lifecycle": _must(FieldType.TEXT, WordList.LIFECYCLE),
        **_CREATED,
        "producer": _should(FieldType.TEXT_OR_OBJECT),
        "actor_refs": _refs(),
        "runtime_refs": _refs(),
        "surface_refs": _refs(RecordKind.SURFACE),
        "item_refs": _refs(*_ITEM_KINDS),
        "selection_refs": _refs(RecordKind.SELECTION),
        "assembly_refs": _refs(RecordKind.ASSEMBLY),
        "injection_refs": _refs(RecordKind.INJECTION),
        "budget_ref": _ref(RecordKind.BUDGET),
        "compaction_refs": _refs(RecordKind.COMPACTION, need=FieldNeed.OPTIONAL),
        "missing_context_refs": _refs(RecordKind.MISSING, need=FieldNeed.OPTIONAL),
        "policy_refs": _EXTERNAL_REFS,
        "evidence_refs": _EXTERNAL_REFS,
        "telemetry_refs": _EXTERNAL_REFS,
        "artifact_refs": _EXTERNAL_REFS,
        "tool_refs": _EXTERNAL_REFS,
        **_METADATA,
    },
    RecordKind.SURFACE: {
        **_VERSION,
        "surface_id": _must(FieldType.TEXT),
        "scope": _must(FieldType.TEXT),
        **_CREATED,
        "surface_kind": FieldSpec(FieldType.TEXT, words=WordList.SURFACE_KIND),
        "producer": _should(FieldType.TEXT_OR_OBJECT),
        "available_source_refs": _refs(RecordKind.SOURCE),
        "available_item_refs": _refs(*_ITEM_KINDS),
        "capability_refs": _refs(),
        "policy_refs": _refs(),
        "visibility": _should(FieldType.TEXTS, WordList.TARGET),
        "expires_at": _should(FieldType.TIME),
        "metadata": _should(FieldType.OBJECT),
    },
    RecordKind.ITEM: {
        **_VERSION,
        "item_id": _must(FieldType.TEXT),
        "context_kind": _must(FieldType.TEXT, WordList.CONTEXT_KIND),
        "content_mode": _must(FieldType.TEXT, WordList.CONTENT_MODE),
        "visibility": _must(FieldType.TEXTS, WordList.TARGET),
        "title": _should(FieldType.TEXT),
        "mime_type": _should(FieldType.TEXT),
        "language": _should(FieldType.TEXT),
        "trust_level": _should(FieldType.TEXT),
        "sensitivity": _should(FieldType.TEXT),
        "content": _may(FieldType.ANY),
        "content_ref": _ref(need=FieldNeed.OPTIONAL),
        "source_refs": _refs(RecordKind.SOURCE),
        "token_estimate": _should(FieldType.COUNT),
        "byte_size": _should(FieldType.COUNT),
        "freshness": _should(FieldType.TEXT_OR_OBJECT),
        "redaction_state": _should(FieldType.TEXT, WordList.REDACTION),
        "priority": _should(FieldType.NUMBER),
        "created_at": _should(FieldType.TIME),
        "metadata": _should(FieldType.OBJECT),
        "policy_refs": _EXTERNAL_REFS,
        "redaction_method": _may(FieldType.TEXT),
        "redacted_by": _may(FieldType.TEXT_OR_OBJECT),
        "redaction_reason": _may(FieldType.TEXT),
        "redacted_fields": _may(FieldType.TEXTS),
        "original_ref": _ref(need=FieldNeed.OPTIONAL),
        "digest": _may(FieldType.TEXT),
        "retention_hint": _may(FieldType.ANY),
    },
    RecordKind.SOURCE: {
        **_VERSION,
        "source_id": _must(FieldType.TEXT),
        "uri": _must(FieldType.TEXT),
        "source_kind": _must(FieldType.TEXT),
        "selector": _should(FieldType.SELECTOR),
        "digest": _should(FieldType.TEXT),
        "authority": _should(FieldType.TEXT),
        "license": _should(FieldType.TEXT),
        "provenance_refs": _refs(),
        "external_mappings": _should(FieldType.OBJECTS),
        "retrieved_at": _should(FieldType.TIME),
        "modified_at": _should(FieldType.TIME),
        "metadata": _should(FieldType.OBJECT),
    },
    RecordKind.SELECTION: {
        **_VERSION,
        "selection_id": _must(FieldType.TEXT),
        "surface_id": _must(FieldType.TEXT),
        **_CREATED,
        "query": _should(FieldType.TEXT),
        "intent": _should(FieldType.TEXT),
        "rationale": _should(FieldType.TEXT),
        "candidate_item_refs": _refs(*_ITEM_KINDS),
        "selected_item_refs": _refs(*_ITEM_KINDS),
        "omitted_item_refs": _refs(*_ITEM_KINDS),
        "ranking_signals": _should(FieldType.OBJECT),
        "selection_policy": _should(FieldType.TEXT_OR_OBJECT),
        "budget_ref": _ref(RecordKind.BUDGET),
        "actor_ref": _ref(),
        "model_ref": _ref(),
        "metadata": _should(FieldType.OBJECT),
        "task_id": _may(FieldType.TEXT),
        "run_id": _may(FieldType.TEXT),
        "attempt_id": _may(FieldType.TEXT),
    },
    RecordKind.BUDGET: {
        **_VERSION,
        "budget_id": _must(FieldType.TEXT),
        "target": _must(FieldType.TEXT, WordList.TARGET),
        **_CREATED,
        "max_tokens": _should(FieldType.COUNT),
        "reserved_tokens": _should(FieldType.COUNT),
        "max_bytes": _should(FieldType.COUNT),
        "max_items": _should(FieldType.COUNT),
        "actual_tokens": _should(FieldType.COUNT),
        "actual_bytes": _should(FieldType.COUNT),
        "actual_items": _should(FieldType.COUNT),
        "overflow_strategy": _should(FieldType.TEXT, WordList.OVERFLOW),
        "truncation_records": _should(FieldType.OBJECTS),
        "window_segments": _should(FieldType.OBJECTS),
        **_METADATA,
    },
    RecordKind.WINDOW: {
        "window_id": _must(FieldType.TEXT),
        "target": _should(FieldType.TEXT, WordList.TARGET),
        "window_segments": _should(FieldType.OBJECTS),
        **_METADATA,
    },
    RecordKind.ASSEMBLY: {
        **_VERSION,
        "assembly_id": _must(FieldType.TEXT),
        "target": _must(FieldType.TEXT, WordList.TARGET),
        **_CREATED,
        "ordered_blocks": _must(FieldType.OBJECTS),
        "wrapping_policy": _should(FieldType.TEXT_OR_OBJECT),
        "separator_policy": _should(FieldType.TEXT_OR_OBJECT),
        "visibility": _should(FieldType.TEXTS, WordList.TARGET),
        "budget_ref": _ref(RecordKind.BUDGET),
        "source_item_refs": _refs(*_ITEM_KINDS),
        "redaction_state": _should(FieldType.TEXT, WordList.REDACTION),
        **_METADATA,
    },
    RecordKind.INJECTION: {
        **_VERSION,
        "injection_id": _must(FieldType.TEXT),
        "assembly_id": _must(FieldType.TEXT),
        "target": _must(FieldType.TEXT, WordList.TARGET),
        **_CREATED,
        "injection_point": _should(FieldType.TEXT, WordList.INJECTION_POINT),
        "native_id": _should(FieldType.TEXT),
        "visibility": _should(FieldType.TEXTS, WordList.TARGET),
        "final_ref": _ref(),
        "hash": _should(FieldType.TEXT),
        "metadata": _should(FieldType.OBJECT),
    },
    RecordKind.COMPACTION: {
        **_VERSION,
        "compaction_id": _must(FieldType.TEXT),
        "scope": _must(FieldType.TEXT),
        "source_item_refs": _refs(*_ITEM_KINDS, need=FieldNeed.REQUIRED),
        "method": _must(FieldType.TEXT, WordList.METHOD),
        **_CREATED,
        "summary_ref": _ref(*_ITEM_KINDS),
        "trigger": _should(FieldType.TEXT, WordList.TRIGGER),
        "coverage": _should(FieldType.OBJECT),
        "loss_notes": _should(FieldType.TEXTS),
        "validation": _should(FieldType.TEXT_OR_OBJECT),
        "replacement_policy": _should(FieldType.TEXT),
        "metadata": _should(FieldType.OBJECT),
    },
    RecordKind.SUMMARY: {
        "summary_id": _must(FieldType.TEXT),
        "summary_kind": _should(FieldType.TEXT),
        "content": _should(FieldType.ANY),
        "source_item_refs": _refs(*_ITEM_KINDS),
        "coverage": _should(FieldType.OBJECT),
        "loss_notes": _should(FieldType.TEXTS),
        "open_questions": _should(FieldType.TEXTS),
        "freshness": _should(FieldType.TEXT_OR_OBJECT),
        "validation": _should(FieldType.TEXT_OR_OBJECT),
        "refresh_policy": _should(FieldType.TEXT_OR_OBJECT),
        "redaction_state": FieldSpec(FieldType.TEXT, words=WordList.REDACTION),
        **_METADATA,
    },
    RecordKind.MISSING: {
        **_VERSION,
        "missing_id": _must(FieldType.TEXT),
        "scope": _must(FieldType.TEXT),
        "question": _must(FieldType.TEXT),
        "severity": _must(FieldType.TEXT, WordList.SEVERITY),
        "status": _must(FieldType.TEXT, WordList.MISSING_STATUS),
        **_CREATED,
        "needed_for": _should(FieldType.TEXT),
        "candidate_sources": _should(FieldType.OBJECTS),
        "blocked_actions": _should(FieldType.TEXTS),
        "requested_from": _ref(),
        "resolution_refs": _refs(need=FieldNeed.OPTIONAL),
        "metadata": _should(FieldType.OBJECT),
    },
    RecordKind.EVENT: {
        **_VERSION,
        "event_id": _must(FieldType.TEXT),
        "event_type": _must(FieldType.TEXT, WordList.EVENT_TYPE),
        "source": _must(FieldType.TEXT),
        "time": _must(FieldType.TIME),
        "subject": _may(FieldType.TEXT),
        "context_id": _may(FieldType.TEXT),
        "runtime_id": _may(FieldType.TEXT),
        "session_id": _may(FieldType.TEXT),
        "thread_id": _may(FieldType.TEXT),
        "turn_id": _may(FieldType.TEXT),
        "task_id": _may(FieldType.TEXT),
        "run_id": _may(FieldType.TEXT),
        "attempt_id": _may(FieldType.TEXT),
        "step_id": _may(FieldType.TEXT),
        "tool_call_id": _may(FieldType.TEXT),
        "action_id": _may(FieldType.TEXT),
        "evidence_id": _may(FieldType.TEXT),
        "data": _may(FieldType.OBJECT),
        "policy_refs": _EXTERNAL_REFS,
        "evidence_refs": _EXTERNAL_REFS,
        "telemetry_refs": _EXTERNAL_REFS,
        **_METADATA,
    },
}

SEGMENT: Final[Mapping[str, FieldSpec]] = {
    "segment_id": _must(FieldType.TEXT),
    "role": _should(FieldType.TEXT),
    "target": _should(FieldType.TEXT, WordList.TARGET),
    "reserved_tokens": _should(FieldType.COUNT),
    "actual_tokens": _should(FieldType.COUNT),
    "item_refs": _refs(*_ITEM_KINDS),
    "order": _should(FieldType.NUMBER),
    "truncation_records": _may(FieldType.OBJECTS),
}
"""One element of `window_segments`."""
BLOCK: Final[Mapping[str, FieldSpec]] = {
    "block_id": _must(FieldType.TEXT),
    "item_refs": _refs(*_ITEM_KINDS),
    "content_ref": _ref(need=FieldNeed.OPTIONAL),
    "wrapper": _should(FieldType.TEXT_OR_OBJECT),
    "position": _should(FieldType.NUMBER),
    "visibility": _should(FieldType.TEXTS, WordList.TARGET),
    "token_estimate": _should(FieldType.COUNT),
    "hash": _should(FieldType.TEXT),
    "redaction_state": _should(FieldType.TEXT, WordList.REDACTION),
}
"""One element of `ordered_blocks`."""

INDEX_FIELDS = frozenset(
    ("scope", *(name for name, spec in FIELDS[RecordKind.ENVELOPE].items() if spec.leads_to))
)
"""The fields by which an envelope without a lifecycle is recognised."""
REVIEW_FIELDS = frozenset(("review_id", "reviewer", "reviewed_by", "reviewed_at", "verdict", "signed_by"))
"""Fields of a review of a context, which is not itself an envelope."""


def kind_of(value: JsonValue) -> RecordKind | None:
    """The kind of an object by its first id field; None when it is not a record.

    Other things also name the context they are about: a review, or a message of another protocol. Only an
    object that says where the context stands, or that is an index, is an envelope.
    """
    if not isinstance(value, dict):
        return None
    kind = next((kind for name, kind in KIND_OF_ID.items() if name in value), None)
    if kind is RecordKind.ENVELOPE and "lifecycle" not in value:
        return kind if value.keys() & INDEX_FIELDS and not value.keys() & REVIEW_FIELDS else None
    return kind
