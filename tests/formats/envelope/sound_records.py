"""Single records of the sound bundle, each with all recommended fields."""

from __future__ import annotations

import hashlib
from typing import Any

Json = dict[str, Any]
IDS = {"session_id": "session-1", "thread_id": "thread-1", "turn_id": "turn-1"}
ATTEMPT = {"task_id": "task-1", "run_id": "run-1", "attempt_id": "attempt-1"}


def digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def at(second: int) -> str:
    return f"2026-05-11T09:00:{second:02}Z"


def envelope(id_: str = "ctx-1", **members: Any) -> Json:
    runtime = {**IDS, **ATTEMPT}
    return {
        "schema_version": "0.1.1",
        "context_id": id_,
        "scope": "turn",
        "lifecycle": "injected",
        "created_at": at(9),
        "producer": {"id": "assembler", "version": "2.1"},
        "actor_refs": [{"kind": "agent", "id": "coder"}],
        "runtime_refs": [{"kind": name.removesuffix("_id"), "id": value} for name, value in runtime.items()],
        "surface_refs": ["surface-1"],
        "item_refs": ["item-goal", "item-plan", "item-note", "item-log", "summary-1"],
        "selection_refs": ["selection-1"],
        "assembly_refs": ["assembly-model", "assembly-tool"],
        "injection_refs": ["injection-model", "injection-tool"],
        "budget_ref": "budget-model",
        "compaction_refs": ["compaction-1"],
        "missing_context_refs": ["missing-1"],
        "policy_refs": ["policy-7"],
        "metadata": {},
        **members,
    }


def item(id_: str, content: str | None = None, **members: Any) -> Json:
    """An item with all recommended fields: inline if it has content, else by reference."""
    inline: Json = {"content_mode": "ref", "content_ref": f"store:{id_}", "byte_size": 4000}
    if content is not None:
        inline = {"content_mode": "inline", "content": content, "byte_size": len(content.encode())}
    return {
        "schema_version": "0.1.1",
        "item_id": id_,
        "context_kind": "document_excerpt",
        "visibility": ["model", "reviewer"],
        "title": f"about {id_}",
        "mime_type": "text/plain",
        "language": "en",
        "trust_level": "medium",
        "sensitivity": "internal",
        "source_refs": ["source-plan"],
        "token_estimate": 20,
        "freshness": "fresh",
        "redaction_state": "none",
        "priority": 1,
        "created_at": at(1),
        "metadata": {},
        **inline,
        **members,
    }


def source(id_: str, **members: Any) -> Json:
    return {
        "schema_version": "0.1.1",
        "source_id": id_,
        "uri": f"repo://project/docs/{id_}.md",
        "source_kind": "file",
        "selector": {"type": "line_range", "start": 1, "end": 12},
        "digest": digest(id_),
        "authority": "project",
        "license": "Apache-2.0",
        "provenance_refs": [{"kind": "commit", "id": "4f2a"}],
        "external_mappings": [{"protocol": "mcp", "server_id": "files", "resource_uri": f"file:///{id_}.md"}],
        "retrieved_at": at(1),
        "modified_at": at(0),
        "metadata": {},
        **members,
    }


def selection(id_: str = "selection-1", **members: Any) -> Json:
    chosen = ["item-goal", "item-plan", "item-note", "item-log", "summary-1"]
    left = {"item-old-1": "superseded_by_summary", "item-old-2": "superseded_by_summary"}
    left["item-extra"] = "budget_limit"
    scores = {**dict.fromkeys(chosen, 0.9), **dict.fromkeys(left, 0.2)}
    return {
        "schema_version": "0.1.1",
        "selection_id": id_,
        "surface_id": "surface-1",
        "created_at": at(5),
        "query": "how to land the parser",
        "intent": "implement",
        "rationale": "the goal and the plan first",
        "candidate_item_refs": [*chosen, *left],
        "selected_item_refs": chosen,
        "omitted_item_refs": [{"item_ref": name, "reason": reason} for name, reason in left.items()],
        "ranking_signals": {name: {"relevance": score} for name, score in scores.items()},
        "selection_policy": "by-relevance",
        "budget_ref": "budget-model",
        "actor_ref": {"kind": "agent", "id": "coder"},
        "model_ref": {"kind": "model", "id": "model-1"},
        "metadata": {},
        **ATTEMPT,
        **members,
    }


def segment(id_: str, target: str, order: int, reserved: int, actual: int, *items: str) -> Json:
    sizes = {"reserved_tokens": reserved, "actual_tokens": actual}
    return {
        "segment_id": id_,
        "role": "context",
        "target": target,
        **sizes,
        "item_refs": list(items),
        "order": order,
    }


def budget(target: str, tokens: int, items: int, *segments: Json, **members: Any) -> Json:
    return {
        "schema_version": "0.1.1",
        "budget_id": f"budget-{target}",
        "target": target,
        "created_at": at(6),
        "max_tokens": 600,
        "reserved_tokens": sum(each["reserved_tokens"] for each in segments),
        "max_bytes": 4000,
        "max_items": 4,
        "actual_tokens": tokens,
        "actual_bytes": tokens * 4,
        "actual_items": items,
        "overflow_strategy": "summarize_oldest",
        "truncation_records": [],
        "window_segments": list(segments),
        **members,
    }


def block(id_: str, position: int, tokens: int, item_: str, target: str, **members: Any) -> Json:
    return {
        "block_id": id_,
        "item_refs": [item_],
        "wrapper": "none",
        "position": position,
        "visibility": [target],
        "token_estimate": tokens,
        "hash": f"store:{id_}",
        "redaction_state": "none",
        **members,
    }


def assembly(target: str, *blocks: Json, **members: Any) -> Json:
    return {
        "schema_version": "0.1.1",
        "assembly_id": f"assembly-{target}",
        "target": target,
        "created_at": at(7),
        "ordered_blocks": list(blocks),
        "wrapping_policy": "xml",
        "separator_policy": "blank line",
        "visibility": [target],
        "budget_ref": f"budget-{target}",
        "source_item_refs": [name for each in blocks for name in each["item_refs"]],
        "redaction_state": "none",
        **members,
    }


def injection(target: str, point: str, **members: Any) -> Json:
    return {
        "schema_version": "0.1.1",
        "injection_id": f"injection-{target}",
        "assembly_id": f"assembly-{target}",
        "target": target,
        "created_at": at(8),
        "injection_point": point,
        "native_id": f"native-{target}",
        "visibility": [target],
        "final_ref": {"kind": "prompt", "id": f"prompt-{target}"},
        "hash": digest(target),
        "metadata": {},
        **members,
    }


def event(number: int, type_: str, subject: str, second: int) -> Json:
    return {
        "schema_version": "0.1.1",
        "event_id": f"event-{number}",
        "event_type": f"context.{type_}",
        "source": "assembler",
        "time": at(second),
        "subject": subject,
        "context_id": "ctx-1",
        **IDS,
        **ATTEMPT,
    }


def surface() -> Json:
    items = ["item-goal", "item-plan", "item-note", "item-log", "item-old-1", "item-old-2", "item-extra"]
    return {
        "schema_version": "0.1.1",
        "surface_id": "surface-1",
        "scope": "turn",
        "created_at": at(2),
        "surface_kind": "turn_surface",
        "producer": "assembler",
        "available_source_refs": ["source-plan", "source-chat"],
        "available_item_refs": [*items, "summary-1"],
        "capability_refs": [{"kind": "tool", "id": "pytest"}],
        "policy_refs": ["policy-7"],
        "visibility": ["model", "tool", "reviewer"],
        "expires_at": "2026-05-11T10:00:00Z",
        "metadata": {},
    }


def masked_note() -> Json:
    redaction = {
        "redaction_state": "masked",
        "redaction_method": "pattern_mask",
        "redacted_by": "policy-service",
        "redaction_reason": "a private address",
        "redacted_fields": ["content"],
        "policy_refs": ["policy-7"],
        "original_ref": {"kind": "vault", "id": "vault-1"},
        "digest": digest("the whole note"),
    }
    text = "The customer (name masked) asked for the report; write to (address masked) when it is done."
    about = {"context_kind": "durable_memory", "sensitivity": "private", "source_refs": ["source-chat"]}
    return item("item-note", text) | about | redaction


def compaction() -> Json:
    return {
        "schema_version": "0.1.1",
        "compaction_id": "compaction-1",
        "scope": "session",
        "source_item_refs": ["item-old-1", "item-old-2"],
        "method": "abstractive_summary",
        "created_at": at(3),
        "summary_ref": "summary-1",
        "trigger": "token_pressure",
        "coverage": {"items_covered": 2, "estimated_tokens_before": 2000, "estimated_tokens_after": 30},
        "loss_notes": ["the wording of the first proposal"],
        "validation": {"status": "checked", "reviewer": "coder"},
        "replacement_policy": "replace_in_model_window",
        "metadata": {},
    }


def summary() -> Json:
    return {
        "schema_version": "0.1.1",
        "summary_id": "summary-1",
        "summary_kind": "thread",
        "content": "They agreed on a strict parser that keeps byte spans, and on tests before speed.",
        "source_item_refs": ["item-old-1", "item-old-2"],
        "coverage": {"items_covered": 2},
        "loss_notes": ["the wording of the first proposal"],
        "open_questions": ["which Python versions"],
        "freshness": "fresh",
        "validation": {"status": "checked"},
        "refresh_policy": "when the thread grows",
        "redaction_state": "none",
    }


def missing() -> Json:
    return {
        "schema_version": "0.1.1",
        "missing_id": "missing-1",
        "scope": "turn",
        "question": "Which Python versions must the parser run on?",
        "severity": "high",
        "status": "requested",
        "created_at": at(5),
        "needed_for": "choosing the syntax",
        "candidate_sources": [{"kind": "file", "hint": "pyproject.toml"}],
        "blocked_actions": ["publish the package"],
        "requested_from": {"kind": "user", "id": "user-1"},
        "owner": "user-1",
        "requested_action": "name the versions",
        "user_summary": "The versions to support are not known yet.",
        "metadata": {},
    }
