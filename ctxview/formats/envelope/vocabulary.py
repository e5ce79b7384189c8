"""The vocabulary of the Agent Context draft: the kinds of record, and the lists of known values.

Data only. Every list except the scope of an envelope is open: other words are kept, and a rule mentions them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class RecordKind(StrEnum):
    """The thirteen objects of the draft."""

    ENVELOPE = "context_envelope"
    SURFACE = "context_surface"
    ITEM = "context_item"
    SOURCE = "context_source_ref"
    SELECTION = "context_selection"
    BUDGET = "context_budget"
    WINDOW = "context_window"
    ASSEMBLY = "context_assembly"
    INJECTION = "context_injection"
    COMPACTION = "context_compaction"
    SUMMARY = "context_summary"
    MISSING = "missing_context"
    EVENT = "context_event"


KIND_OF_ID: Final[Mapping[str, RecordKind]] = {
    "event_id": RecordKind.EVENT,
    "injection_id": RecordKind.INJECTION,
    "selection_id": RecordKind.SELECTION,
    "compaction_id": RecordKind.COMPACTION,
    "summary_id": RecordKind.SUMMARY,
    "missing_id": RecordKind.MISSING,
    "assembly_id": RecordKind.ASSEMBLY,
    "budget_id": RecordKind.BUDGET,
    "window_id": RecordKind.WINDOW,
    "item_id": RecordKind.ITEM,
    "source_id": RecordKind.SOURCE,
    "surface_id": RecordKind.SURFACE,
    "context_id": RecordKind.ENVELOPE,
}
"""The kind by id field, in order of precedence: some records also carry the id of another."""
ID_KEYS: Final = ("id", "ref", "ref_id", "item_ref")
"""The keys by which a reference object may name its record, beside the record's own id field and `uri`."""
OWN_ID: Final[Mapping[RecordKind, str]] = {kind: name for name, kind in KIND_OF_ID.items()}


class WordList(StrEnum):
    """The lists of known values; the value is the name in messages."""

    SCOPE = "scope"
    LIFECYCLE = "lifecycle"
    CONTEXT_KIND = "context_kind"
    CONTENT_MODE = "content_mode"
    TARGET = "target"
    SURFACE_KIND = "surface_kind"
    SELECTOR = "selector type"
    SIGNAL = "ranking signal"
    OMISSION = "omission reason"
    OVERFLOW = "overflow_strategy"
    INJECTION_POINT = "injection_point"
    METHOD = "compaction method"
    TRIGGER = "compaction trigger"
    SEVERITY = "severity"
    MISSING_STATUS = "missing status"
    REDACTION = "redaction_state"
    EVENT_TYPE = "event_type"


KNOWN: Final[Mapping[WordList, tuple[str, ...]]] = {
    WordList.SCOPE: ("turn", "task", "session", "tool_invocation", "review", "handoff", "custom"),
    WordList.LIFECYCLE: (
        "draft",
        "available",
        "selected",
        "assembled",
        "injected",
        "compacted",
        "redacted",
        "expired",
        "archived",
    ),
    WordList.CONTEXT_KIND: (
        "user_message",
        "system_prompt",
        "developer_instruction",
        "session_history",
        "thread_summary",
        "working_memory",
        "durable_memory",
        "knowledge_pack_item",
        "document_excerpt",
        "file_excerpt",
        "artifact_ref",
        "tool_result",
        "browser_state",
        "runtime_state",
        "team_memory",
        "policy_note",
        "external_resource",
        "manual_note",
        "computed_summary",
        "peer_agent_message",
        "retrieval_result",
        "custom",
    ),
    WordList.CONTENT_MODE: (
        "inline",
        "ref",
        "summary",
        "embedded_resource",
        "resource_link",
        "artifact_ref",
        "tool_result_ref",
        "opaque",
    ),
    WordList.TARGET: ("model", "tool", "runtime", "ui", "user", "reviewer", "peer_agent", "evidence_export"),
    WordList.SURFACE_KIND: (
        "turn_surface",
        "task_surface",
        "session_surface",
        "tool_surface",
        "review_surface",
        "handoff_surface",
        "custom",
    ),
    WordList.SELECTOR: (
        "text_quote",
        "text_position",
        "byte_range",
        "line_range",
        "json_pointer",
        "css_selector",
        "xpath",
        "page_region",
        "media_time_range",
        "artifact_part",
        "message_part",
        "custom",
    ),
    WordList.SIGNAL: (
        "relevance",
        "recency",
        "authority",
        "user_pin",
        "policy_allow",
        "freshness",
        "coverage",
        "dedupe_score",
        "token_cost",
        "sensitivity",
        "tool_visibility",
        "runtime_need",
    ),
    WordList.OMISSION: (
        "budget_limit",
        "low_relevance",
        "duplicate",
        "stale",
        "policy_blocked",
        "permission_missing",
        "unsupported_media",
        "too_large",
        "sensitive",
        "superseded_by_summary",
        "not_visible_to_target",
        "custom",
    ),
    WordList.OVERFLOW: (
        "reject",
        "truncate_tail",
        "truncate_middle",
        "summarize_oldest",
        "summarize_low_priority",
        "defer_to_retrieval",
        "ask_for_choice",
        "policy_block",
        "custom",
    ),
    WordList.INJECTION_POINT: (
        "system_prompt",
        "developer_prompt",
        "message_history",
        "user_message_appendix",
        "tool_argument",
        "tool_visible_resource",
        "runtime_metadata",
        "ui_panel",
        "review_export",
        "peer_agent_message",
        "artifact_input",
        "custom",
    ),
    WordList.METHOD: (
        "extractive_summary",
        "abstractive_summary",
        "structured_digest",
        "rolling_summary",
        "semantic_memory_update",
        "human_curated_summary",
        "provider_context_editing",
        "custom",
    ),
    WordList.TRIGGER: (
        "manual",
        "token_pressure",
        "session_length",
        "task_boundary",
        "handoff",
        "retention",
        "privacy",
        "provider_context_editing",
        "custom",
    ),
    WordList.SEVERITY: ("info", "low", "medium", "high", "blocking"),
    WordList.MISSING_STATUS: ("open", "requested", "waiting", "resolved", "declined", "blocked", "expired"),
    WordList.REDACTION: (
        "none",
        "masked",
        "removed",
        "summarized",
        "encrypted_ref",
        "policy_blocked",
        "unknown",
    ),
    WordList.EVENT_TYPE: (
        "context.surface.created",
        "context.surface.updated",
        "context.item.added",
        "context.item.updated",
        "context.item.removed",
        "context.selection.started",
        "context.selection.completed",
        "context.budget.applied",
        "context.assembly.created",
        "context.injection.applied",
        "context.compaction.started",
        "context.compaction.completed",
        "context.summary.created",
        "context.missing.detected",
        "context.missing.requested",
        "context.missing.resolved",
        "context.redaction.applied",
        "context.exported",
    ),
}
TARGETS: Final = KNOWN[WordList.TARGET]
LIFECYCLE: Final = KNOWN[WordList.LIFECYCLE]
CLOSED_GAP: Final = ("resolved", "declined", "expired")
"""The states in which a gap is closed; in any other state, also an absent or unknown one, it is open."""
