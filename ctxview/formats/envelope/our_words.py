"""Where the draft names a thing and lists no words for it: those that the rules use. Figures are in profiles.

Data only, all of it ours. Each name says what it decides; the rule's explanation says the same in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# -- records and references ----------------------------------------------------------------------------------

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
"""Members that only the thing itself has: a list, an object or a long text under one of them was copied."""
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
"""How the types of events begin that are not for context records to state."""
OUTCOME_KINDS: Final = ("turn", "task", "tool_call", "permission", "approval")
"""An object of such a kind with one of the words below as a member states an outcome."""
OUTCOME_OF: Final = ("turn", "task", "tool", "tool_call", "permission", "policy", "approval")
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
    "done",
    "granted",
    "denied",
    "approved",
    "allowed",
)
"""A member such as `turn_status` or `toolSucceeded`, one of these behind one of those, states an outcome."""

# -- surfaces, items and sources -----------------------------------------------------------------------------

MUTABLE: Final = ("live", "mutable", "volatile", "streaming", "realtime", "real_time")
"""Words of `freshness` that say that the content changes under the reader."""
FRESH: Final = ("fresh", "current", "live", "up_to_date", "realtime", "real_time")
"""Words of `freshness` that say that there is nothing wrong with it."""
STALE: Final = ("stale", "expired", "outdated", "obsolete", "superseded")
"""Words of `freshness` that say that the content is not true any more."""
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
"""What a mime type of `application/…` ends in when it is a text; `text/…` always is."""
TRUSTED: Final = ("high", "trusted", "verified", "authoritative", "official", "system")
"""The words of `trust_level` that claim something; the draft has none of its own."""
HIDDEN_LOCATORS: Final = ("redacted:", "redacted", "[redacted]", "<redacted>", "***")
"""How an address that must not be told is written."""
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
"""How a mapping names its protocol, in small letters and without signs."""
PROTOCOL_FIELDS: Final = ("protocol", "standard", "scheme", "mapping_type")
"""The draft has no member that says which protocol a mapping is of: these are looked at."""
ABOUT_A_MAPPING: Final = ("version", "protocol_version", "metadata", "note", "label", "uri")
"""What may stand in any mapping."""

# -- selections ----------------------------------------------------------------------------------------------

HIGH_IMPACT: Final = ("high", "critical", "blocking")
"""Words of `impact` that flag an omission as one that matters."""

# -- budgets -------------------------------------------------------------------------------------------------

CUT_MARKS: Final = ("[truncated]", "<truncated>", "(truncated)", "… truncated", "[cut]")
"""How a text that was cut ends."""
FITTING_DIMENSION: Final[Mapping[str, str]] = {
    "model": "tokens",
    "resource": "bytes",
    "evidence_export": "bytes",
    "ui": "items",
    "tool": "items",
}
"""What the limit of a budget is measured in, by its target; other targets take any."""
SIZE_OMISSIONS: Final = ("budget_limit", "too_large")
"""The reasons for leaving an item out that say that there was a limit."""
SIZE_KEYS: Final = ("max_tokens", "max_bytes", "max_items", "token_limit", "byte_limit", "context_window")
"""Names of limits that belong on a budget, wherever else they stand."""

# -- injections ----------------------------------------------------------------------------------------------

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
"""Who reads what is put at a point; the other points fit every target."""

# -- redaction, gaps, evidence -------------------------------------------------------------------------------

SENSITIVE: Final = ("sensitive", "private", "personal", "pii", "confidential", "restricted", "secret", "high")
"""The words of `sensitivity` that ask for care; the draft has none of its own."""
PAYLOAD_KEYS: Final = ("content", "payload", "body", "text", "raw")
"""Names of members under which evidence carries what it should cite."""
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
"""Names of members that say that something may be done."""
APPROVAL_WORDS: Final = (
    "approved",
    "granted",
    "authorized",
    "authorised",
    "allowed",
    "permitted",
    "accepted",
)
"""States of a gap that say the same."""
STATE_KEYS: Final = ("status", "state", "decision", "outcome", "verdict")
"""Names of members that hold such a state."""
OWNER_KEYS: Final = ("owner", "owner_ref", "owned_by", "assignee", "assigned_to", "responsible")
ACTION_KEYS: Final = ("requested_action", "needed_action", "next_action", "action")
SAFE_SUMMARY_KEYS: Final = ("user_safe_summary", "safe_summary", "user_summary", "user_message", "summary")
"""Under which names a gap may say who answers it, what is asked of them, and what users are told."""
