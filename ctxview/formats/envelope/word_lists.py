"""Word lists of the rules for fields where the draft lists no words. Figures are in profiles.

Data only; none of it comes from the draft. The explanation of each rule describes the words it uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FOREIGN_BODIES: Final = (
    "content",
    "payload",
    "body",
    "messages",
    "output",
    "input",
    "result",
    "rules",
    "spans",
    "events",
    "records",
    "arguments",
)
"""Members that a reference does not have: a list, an object or a long text under one of them was copied."""
FOREIGN_OBJECTS: Final = (
    "runtime_event",
    "runtime_events",
    "thread_read_model",
    "task_snapshot",
    "evidence_pack",
    "policy",
    "policy_document",
    "artifact",
    "tool_call",
    "tool_result",
    "tool_definition",
    "ui_state",
    "knowledge_pack",
    "trace",
    "telemetry",
)
"""Names in `metadata` and `data` under which the objects of other standards are copied."""
OUTCOME_EVENTS: Final = ("turn.", "task.", "tool.", "permission.")
"""Prefixes of event types that only the runtime may write."""
OUTCOME_KINDS: Final = (
    "turn",
    "task",
    "run",
    "tool_call",
    "tool_result",
    "permission",
    "policy",
    "approval",
    "authorization",
    "authorisation",
    "consent",
)
"""An object of such a kind with a member from `OUTCOME_WORDS` states an outcome."""
OUTCOME_OF: Final = (*OUTCOME_KINDS, "tool")
OUTCOME_PARTS: Final = ("result", "results", "response", "outcome")
"""Objects inside one of `OUTCOME_OF` that speak for it: `success` inside `result` inside `tool`."""
OUTCOME_WORDS: Final = (
    "status",
    "state",
    "outcome",
    "verdict",
    "decision",
    "success",
    "succeeded",
    "complete",
    "completed",
    "finished",
    "ended",
    "failed",
    "cancelled",
    "canceled",
    "aborted",
    "done",
    "ok",
    "granted",
    "denied",
    "approved",
    "allowed",
)
"""A word of `OUTCOME_OF` and one of these state an outcome: `turn_status`, or `status` inside `turn`."""

MUTABLE: Final = ("live", "mutable", "volatile", "streaming", "realtime", "real_time")
"""Words of `freshness` for content that keeps changing."""
FRESH: Final = ("fresh", "current", "live", "up_to_date", "realtime", "real_time")
"""Words of `freshness` for content that is up to date."""
STALE: Final = ("stale", "expired", "outdated", "obsolete", "superseded")
"""Words of `freshness` for content that is out of date."""
TEXT_MIMES: Final = (
    "json",
    "xml",
    "yaml",
    "toml",
    "javascript",
    "typescript",
    "x-sh",
    "sql",
    "graphql",
    "csv",
)
"""Endings of `application/…` mime types that are text; `text/…` always is."""
TRUSTED: Final = ("high", "trusted", "verified", "authoritative", "official", "system")
"""The words of `trust_level` that claim trust; the draft lists none."""
HIDDEN_LOCATORS: Final = ("redacted:", "redacted", "[redacted]", "<redacted>", "***")
"""Texts in place of an address that must not be shown."""
PROTOCOL_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "MCP": (
        "server_id",
        "mcp_session_id",
        "resource_uri",
        "resource_template",
        "prompt_name",
        "root_uri",
        "jsonrpc_request_id",
    ),
    "A2A": (
        "agent_card_url",
        "task_id",
        "context_id",
        "message_id",
        "part_id",
        "artifact_id",
        "skill_id",
    ),
    "OpenTelemetry": (
        "trace_id",
        "span_id",
        "event_name",
        "conversation_id",
        "system",
        "operation_name",
        "token_usage",
    ),
    "model API": (
        "response_id",
        "message_id",
        "prompt_cache_key",
        "tool_call_id",
        "input_tokens",
        "cached_input_tokens",
    ),
    "Web Annotation": ("target", "selector_type", "start", "end", "exact", "prefix", "suffix"),
    "PROV": ("entity", "activity", "agent", "wasDerivedFrom", "wasAttributedTo", "wasGeneratedBy"),
    "CloudEvents": ("id", "source", "type", "subject", "time", "datacontenttype"),
    "JSON Schema": ("$schema", "$id", "$ref", "$anchor", "$defs", "type", "properties", "required", "format"),
}
"""The native ids that a mapping keeps, by protocol."""
PROTOCOL_NAMES: Final[Mapping[str, str]] = {
    "mcp": "MCP",
    "a2a": "A2A",
    "otel": "OpenTelemetry",
    "opentelemetry": "OpenTelemetry",
    "modelapi": "model API",
    "webannotation": "Web Annotation",
    "prov": "PROV",
    "w3cprov": "PROV",
    "cloudevents": "CloudEvents",
    "jsonschema": "JSON Schema",
}
"""Names of protocols in mappings, in lower case and without punctuation."""
PROTOCOL_FIELDS: Final = ("protocol", "standard", "scheme", "mapping_type")
"""Members that may name the protocol of a mapping; the draft defines none."""
ABOUT_A_MAPPING: Final = ("version", "protocol_version", "metadata", "note", "label", "uri")
"""Members that every mapping may have."""

HIGH_IMPACT: Final = ("high", "critical", "blocking")
"""Words of `impact` that flag an omission as one that matters."""

CUT_MARKS: Final = ("[truncated]", "<truncated>", "(truncated)", "… truncated", "[cut]")
"""Endings of a text that was cut."""
FITTING_DIMENSION: Final[Mapping[str, str]] = {
    "model": "tokens",
    "resource": "bytes",
    "evidence_export": "bytes",
    "ui": "items",
    "tool": "items",
}
"""The unit in which the budget of a target is limited; other targets take any unit."""
SIZE_OMISSIONS: Final = ("budget_limit", "too_large")
"""The omission reasons that imply a limit."""
SIZE_KEYS: Final = ("max_tokens", "max_bytes", "max_items", "token_limit", "byte_limit", "context_window")
"""Names of limits that belong on a budget."""

POINT_TARGETS: Final[Mapping[str, tuple[str, ...]]] = {
    "system_prompt": ("model",),
    "developer_prompt": ("model",),
    "message_history": ("model", "peer_agent"),
    "user_message_appendix": ("model",),
    "tool_argument": ("tool",),
    "tool_visible_resource": ("tool",),
    "runtime_metadata": ("runtime",),
    "ui_panel": ("ui", "user", "reviewer"),
    "review_export": ("reviewer", "evidence_export"),
    "peer_agent_message": ("peer_agent",),
}
"""The targets that read an injection point; other points fit every target."""

SENSITIVE: Final = ("sensitive", "private", "personal", "pii", "confidential", "restricted", "secret", "high")
"""The words of `sensitivity` for sensitive content; the draft lists none."""
PAYLOAD_KEYS: Final = ("content", "payload", "body", "text", "raw")
"""Names of members under which evidence copies content that it should cite."""
APPROVAL_KEYS: Final = (
    "approved",
    "approval",
    "approved_by",
    "approval_granted",
    "permission",
    "permission_granted",
    "granted",
    "granted_by",
    "authorized",
    "authorised",
    "consent",
    "allowed",
    "allow",
)
"""Names of members that grant permission."""
APPROVAL_WORDS: Final = (
    "approved",
    "granted",
    "authorized",
    "authorised",
    "allowed",
    "permitted",
    "accepted",
)
"""States of a gap that grant permission."""
PERMISSION_VERBS: Final = ("allow", "approve", "grant", "permit", "deny", "denied", "reject", "rejected")
"""More words that decide about a permission, as in `"policy": "allow"`."""
STATE_KEYS: Final = ("status", "state", "decision", "outcome", "verdict")
"""Names of members that hold such a state."""
OWNER_KEYS: Final = ("owner", "owner_ref", "owned_by", "assignee", "assigned_to", "responsible")
ACTION_KEYS: Final = ("requested_action", "needed_action", "next_action", "action")
SAFE_SUMMARY_KEYS: Final = ("user_safe_summary", "safe_summary", "user_summary", "user_message", "summary")
"""Names under which a gap may state its owner, the requested action, and a summary for users."""
