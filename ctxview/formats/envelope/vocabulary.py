"""The words of the Agent Context draft: the kinds of record, and the lists of known values.

Data only. Every list but an envelope's scope is open: other words survive, and a rule says that they are new.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
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


KIND_OF_ID: Final[Mapping[str, Kind]] = {
    "event_id": Kind.EVENT,
    "injection_id": Kind.INJECTION,
    "selection_id": Kind.SELECTION,
    "compaction_id": Kind.COMPACTION,
    "summary_id": Kind.SUMMARY,
    "missing_id": Kind.MISSING,
    "assembly_id": Kind.ASSEMBLY,
    "budget_id": Kind.BUDGET,
    "window_id": Kind.WINDOW,
    "item_id": Kind.ITEM,
    "source_id": Kind.SOURCE,
    "surface_id": Kind.SURFACE,
    "context_id": Kind.ENVELOPE,
}
"""In the order in which they decide what a record is: some records carry the id of another."""
OWN_ID: Final[Mapping[Kind, str]] = {kind: name for name, kind in KIND_OF_ID.items()}


class Words(StrEnum):
    """The lists of known values, by the name that a message gives them."""

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


KNOWN: Final[Mapping[Words, tuple[str, ...]]] = {
    Words.SCOPE: ("turn", "task", "session", "tool_invocation", "review", "handoff", "custom"),
    Words.LIFECYCLE: (
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
    Words.CONTEXT_KIND: (
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
    Words.CONTENT_MODE: (
        "inline",
        "ref",
        "summary",
        "embedded_resource",
        "resource_link",
        "artifact_ref",
        "tool_result_ref",
        "opaque",
    ),
    Words.TARGET: ("model", "tool", "runtime", "ui", "user", "reviewer", "peer_agent", "evidence_export"),
    Words.SURFACE_KIND: (
        "turn_surface",
        "task_surface",
        "session_surface",
        "tool_surface",
        "review_surface",
        "handoff_surface",
        "custom",
    ),
    Words.SELECTOR: (
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
    Words.SIGNAL: (
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
    Words.OMISSION: (
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
    Words.OVERFLOW: (
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
    Words.INJECTION_POINT: (
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
    Words.METHOD: (
        "extractive_summary",
        "abstractive_summary",
        "structured_digest",
        "rolling_summary",
        "semantic_memory_update",
        "human_curated_summary",
        "provider_context_editing",
        "custom",
    ),
    Words.TRIGGER: (
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
    Words.SEVERITY: ("info", "low", "medium", "high", "blocking"),
    Words.MISSING_STATUS: ("open", "requested", "waiting", "resolved", "declined", "blocked", "expired"),
    Words.REDACTION: (
        "none",
        "masked",
        "removed",
        "summarized",
        "encrypted_ref",
        "policy_blocked",
        "unknown",
    ),
    Words.EVENT_TYPE: (
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
TARGETS: Final = KNOWN[Words.TARGET]
LIFECYCLE: Final = KNOWN[Words.LIFECYCLE]
OPEN_GAP: Final = ("open", "requested", "waiting", "blocked")
"""The states in which a gap is not settled."""
