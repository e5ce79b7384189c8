"""A small sound bundle with every kind of record, and the means to change and to read one.

The story: a turn in which an agent is shown a summary of the old history, the goal, a plan and a masked note,
while a tool alone sees a log; one file did not fit, and one answer is awaited from a person.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ctxview.formats.envelope.bundle import Bundle
from ctxview.formats.envelope.model import EnvelopeRecords
from ctxview.formats.envelope.parser import kind_of, parse_record_file
from ctxview.formats.envelope.vocabulary import OWN_ID
from tests.formats.envelope.sound_records import (
    Json,
    assembly,
    block,
    budget,
    compaction,
    envelope,
    event,
    injection,
    item,
    masked_note,
    missing,
    segment,
    selection,
    source,
    summary,
    surface,
)


def read(*files: Sequence[Any]) -> Bundle:
    """Parse a bundle; each argument is the array in one file."""
    numbered = enumerate(files, 1)
    return Bundle(
        tuple(parse_record_file(f"bundle-{at}.json", json.dumps(each).encode()) for at, each in numbered)
    )


def records(values: Sequence[Any]) -> EnvelopeRecords:
    return read(values).groups[0]


def named(values: Iterable[Json], id_: str) -> Json:
    """The first record with this id; it may be changed."""
    return next(each for each in values if isinstance(each, dict) and _id(each) == id_)


def changed(id_: str, **members: Any) -> list[Json]:
    """The good bundle with members of one record replaced; `...` leaves one out."""
    values = good()
    value = named(values, id_)
    for name, member in members.items():
        if member is ...:
            value.pop(name, None)
        else:
            value[name] = member
    return values


def _id(value: Json) -> Any:
    kind = kind_of(value)
    return value[OWN_ID[kind]] if kind is not None else None


def good() -> list[Json]:
    """A new copy of the bundle, every record with all recommended fields."""
    goal = "Land the strict JSON parser, with the byte spans that the inspector needs, before Friday."
    return [
        envelope(),
        surface(),
        source("source-plan"),
        source(
            "source-chat",
            source_kind="conversation",
            uri="thread:thread-1",
            selector={"type": "message_part", "part": 0},
            external_mappings=[{"protocol": "model_api", "message_id": "msg-1"}],
        ),
        item("item-goal", goal, context_kind="user_message", source_refs=["source-chat"]),
        item("item-plan", "First the scanner and its tests. Then the tree. Then the places. " * 2),
        masked_note(),
        item("item-log", "12 passed, 3 failed: see the output of the scanner tests for the places.")
        | {"context_kind": "tool_result", "visibility": ["tool"]},
        item("item-old-1", token_estimate=1000, context_kind="session_history", source_refs=["source-chat"]),
        item("item-old-2", token_estimate=1000, context_kind="session_history", source_refs=["source-chat"]),
        item("item-extra", token_estimate=1000, context_kind="file_excerpt"),
        selection(),
        budget(
            "model",
            120,
            4,
            segment("segment-1", "model", 1, 40, 30, "summary-1"),
            segment("segment-2", "model", 2, 60, 90, "item-goal", "item-plan", "item-note"),
        ),
        budget("tool", 20, 1, segment("segment-3", "tool", 1, 20, 20, "item-log")),
        {
            "schema_version": "0.1.1",
            "window_id": "window-1",
            "target": "model",
            "window_segments": [segment("segment-4", "model", 1, 40, 30, "summary-1")],
        },
        assembly(
            "model",
            block("block-1", 1, 30, "summary-1", "model"),
            block("block-2", 2, 20, "item-goal", "model"),
            block("block-3", 3, 40, "item-plan", "model"),
            block("block-4", 4, 30, "item-note", "model", redaction_state="masked"),
            redaction_state="masked",
        ),
        assembly("tool", block("block-5", 1, 20, "item-log", "tool")),
        injection("model", "message_history"),
        injection("tool", "tool_visible_resource"),
        compaction(),
        summary(),
        missing(),
        event(1, "surface.created", "surface-1", 2),
        event(2, "compaction.started", "compaction-1", 3),
        event(3, "compaction.completed", "compaction-1", 3),
        event(4, "summary.created", "summary-1", 3),
        event(5, "selection.started", "selection-1", 4),
        event(6, "selection.completed", "selection-1", 5),
        event(7, "redaction.applied", "item-note", 5),
        event(8, "missing.detected", "missing-1", 5),
        event(9, "missing.requested", "missing-1", 6),
        event(10, "budget.applied", "budget-model", 6),
        event(11, "assembly.created", "assembly-model", 7),
        event(12, "injection.applied", "injection-model", 8),
    ]
