"""The whole turn of the acceptance scenarios: eleven available items, seven selected, two targets."""

from __future__ import annotations

from tests.formats.envelope.bundles import good, named
from tests.formats.envelope.sound_records import Json, block, item, segment

MORE = ("item-memory", "item-knowledge")
TOKENS = {"item-memory": 200, "item-knowledge": 220}


def whole_turn() -> list[Json]:
    """The sound bundle with a selected memory and knowledge item, and a page that was not selected."""
    values = good()
    surface, selection = named(values, "surface-1"), named(values, "selection-1")
    surface["available_item_refs"] += [*MORE, "item-wiki"]
    selection["candidate_item_refs"] += [*MORE, "item-wiki"]
    selection["selected_item_refs"] += MORE
    selection["omitted_item_refs"].append({"item_ref": "item-wiki", "reason": "low_relevance"})
    selection["ranking_signals"] |= {name: {"relevance": 0.9} for name in MORE}
    named(values, "ctx-1")["item_refs"] += MORE
    budget, assembly = named(values, "budget-model"), named(values, "assembly-model")
    budget |= {"actual_tokens": 540, "actual_bytes": 3200, "max_items": 6, "actual_items": 6}
    for place, name in enumerate(MORE, 3):
        tokens = TOKENS[name]
        budget["window_segments"].append(segment(f"segment-{name}", "model", place, 0, tokens, name))
        assembly["ordered_blocks"].append(block(f"block-{name}", place + 2, tokens, name, "model"))
        assembly["source_item_refs"].append(name)
    named(values, "compaction-1")["coverage"]["estimated_tokens_after"] = 140
    return [
        *values,
        item("item-memory", token_estimate=200, context_kind="durable_memory", source_refs=["source-chat"]),
        item("item-knowledge", token_estimate=220, context_kind="knowledge_pack_item"),
        item("item-wiki", token_estimate=900, context_kind="external_resource"),
    ]


def examples() -> dict[str, Json]:
    """Sparse records of the five kinds for which the draft has examples, in other words."""
    return {
        "envelope": {
            "schema_version": "0.1.0",
            "context_id": "ctx-ferry",
            "scope": "turn",
            "lifecycle": "injected",
            "created_at": "2026-05-11T10:00:00Z",
            "runtime_refs": [{"kind": "turn", "id": "turn-ferry-3"}],
            "surface_refs": ["surface-ferry"],
            "item_refs": ["item-timetable", "item-wish"],
            "injection_refs": ["injection-ferry"],
        },
        "compaction": {
            "compaction_id": "compaction-ferry",
            "scope": "thread",
            "source_item_refs": ["turn-1", "turn-2"],
            "method": "abstractive_summary",
            "trigger": "token_pressure",
            "coverage": {
                "items_covered": 2,
                "estimated_tokens_before": 1800,
                "estimated_tokens_after": 160,
            },
            "loss_notes": ["the prices of the night ferry"],
            "validation": {"status": "unchecked", "reviewer": None},
            "created_at": "2026-05-11T10:00:00Z",
        },
        "item": {
            "item_id": "item-timetable",
            "context_kind": "knowledge_pack_item",
            "content_mode": "inline",
            "title": "Departures on weekdays",
            "content": "From the pier at 06:40, 09:10 and 17:55.",
            "source_refs": [
                {"source_id": "source-pier", "uri": "https://ferry.example/times", "digest": "?"}
            ],
            "visibility": ["model"],
        },
        "selection": {
            "selection_id": "selection-ferry",
            "surface_id": "surface-ferry",
            "selected_item_refs": ["item-timetable"],
            "omitted_item_refs": [{"item_ref": "item-prices", "reason": "stale"}],
            "ranking_signals": {"item-timetable": {"relevance": 0.8}},
            "rationale": "The traveller asked when, not how much.",
            "created_at": "2026-05-11T10:00:00Z",
        },
        "missing": {
            "missing_id": "missing-ferry",
            "scope": "turn",
            "question": "On which day do you travel?",
            "severity": "blocking",
            "status": "open",
            "candidate_sources": [{"kind": "user", "hint": "ask in the chat"}],
            "blocked_actions": ["book a place"],
            "created_at": "2026-05-11T10:00:00Z",
        },
    }


EDITABLE = {
    "envelope": "policy_refs",
    "compaction": "validation",
    "item": "title",
    "selection": "rationale",
    "missing": "question",
}
"""A field of each example that a reviewer may edit."""
