"""Bundles of any number of records, the same every time.

`python -m benchmarks.envelope_data FILE --records 10000` writes one.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

Record = dict[str, Any]
VERSION = {"schema_version": "0.1.1"}
LAST = "item-last"
"""The id of the item that the assembly for the model shows last."""
BESIDE = 24
"""The records that every bundle has once."""


def write_bundle(file: Path, records: int) -> Path:
    file.write_text(json.dumps([*bundle(records)], indent=1))
    return file


def bundle(records: int) -> Iterator[Record]:
    """An envelope with items, their sources and their events: half of it is shown, the rest is left out."""
    number = max(2, (records - BESIDE) * 2 // 5)
    events = max(1, records - BESIDE - 2 * number)
    names = [*(f"item-{at:05}" for at in range(number - 1)), LAST]
    shown = [name for at, name in enumerate(names) if at % 2 or name == LAST]
    left = [name for name in names if name not in set(shown)]
    tools = shown[: len(shown) // 10]
    yield _envelope(shown)
    yield _made(
        "surface_id", "surface-1", 1, scope="turn", available_item_refs=names, visibility=["model", "tool"]
    )
    for at, name in enumerate(names):
        yield _source(at, name)
        yield _item(at, name, ["tool", "model"] if name in set(tools[:50]) else ["model", "reviewer"])
    yield _made(
        "selection_id",
        "selection-1",
        2,
        surface_id="surface-1",
        candidate_item_refs=names,
        selected_item_refs=shown,
        omitted_item_refs=[{"item_ref": name, "reason": "low_relevance"} for name in left],
        ranking_signals={name: {"relevance": 0.9 if name in set(shown[:500]) else 0.5} for name in shown},
        budget_ref="budget-1",
    )
    yield _made("budget_id", "budget-1", 3, target="model", max_tokens=900_000, actual_tokens=20 * len(shown))
    blocks = [
        {
            "block_id": f"block-{at}",
            "item_refs": [name],
            "wrapper": "none",
            "position": at,
            "visibility": ["model"],
            "token_estimate": 20,
            "hash": f"store:{at}",
            "redaction_state": "none",
        }
        for at, name in enumerate(shown)
    ]
    yield _made(
        "assembly_id",
        "assembly-1",
        4,
        target="model",
        visibility=["model"],
        budget_ref="budget-1",
        ordered_blocks=blocks,
        source_item_refs=shown,
    )
    yield _made(
        "injection_id",
        "injection-1",
        5,
        assembly_id="assembly-1",
        target="model",
        injection_point="message_history",
        visibility=["model"],
        native_id="native-1",
        hash="store:1",
    )
    for at in range(BESIDE - 6):
        yield _made(
            "missing_id",
            f"gap-{at}",
            3,
            scope="turn",
            question=f"Which version must step {at} run on?",
            severity="low",
            status="requested",
            requested_from="user-1",
        )
    for at in range(events):
        about = {"event_type": "context.item.added", "source": "assembler", "subject": names[at % number]}
        yield VERSION | {"event_id": f"event-{at}", "context_id": "ctx-1", "time": _time(at), **about}


def _envelope(shown: list[str]) -> Record:
    lists = {
        "surface_refs": ["surface-1"],
        "item_refs": shown,
        "selection_refs": ["selection-1"],
        "assembly_refs": ["assembly-1"],
        "injection_refs": ["injection-1"],
        "missing_context_refs": [f"gap-{at}" for at in range(BESIDE - 6)],
        "policy_refs": ["policy-7"],
        "budget_ref": "budget-1",
        "runtime_refs": [f"{kind}:{kind}-1" for kind in ("session", "thread", "turn")],
    }
    return _made("context_id", "ctx-1", 9, scope="turn", lifecycle="injected", **lists)


def _item(at: int, name: str, visibility: list[str]) -> Record:
    content = f"Finding {at} of the review: the parser of part {at % 97} keeps {at * 7} spans and loses none."
    item = {
        **VERSION,
        "item_id": name,
        "context_kind": "document_excerpt",
        "content_mode": "inline",
        "visibility": visibility,
        "title": f"about part {at % 97}",
        "content": content,
        "source_refs": [f"source-{at:05}"],
        "token_estimate": 20,
        "byte_size": len(content),
        "redaction_state": "none",
        "created_at": _time(at),
    }
    if at % 100 == 50:
        redaction = {
            "redaction_state": "removed",
            "redaction_method": "drop",
            "redacted_by": "policy-service",
        }
        item |= {
            "redaction_reason": "private",
            "policy_refs": ["policy-7"],
            "digest": _digest(content),
            **redaction,
        }
        item["redacted_fields"] = ["content"]
        item["metadata"] = {"raw": f"the private part of number {at} is {_digest(name)[-12:]}"}
        item.pop("content")
        item.pop("byte_size")
    return item


def _source(at: int, name: str) -> Record:
    about = {"uri": f"repo://project/docs/{name}.md", "source_kind": "file", "digest": _digest(name)}
    selector = {"type": "line_range", "start": at + 1, "end": at + 12}
    return {**VERSION, "source_id": f"source-{at:05}", **about, "selector": selector, "authority": "project"}


def _made(key: str, name: str, second: int, **members: Any) -> Record:
    return {**VERSION, key: name, "created_at": _time(second), **members}


def _time(second: int) -> str:
    return f"2026-05-11T{9 + second // 3600 % 12:02}:{second // 60 % 60:02}:{second % 60:02}Z"


def _digest(text: str) -> str:
    return f"sha256:{sha256(text.encode()).hexdigest()}"


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--records", type=int, default=10_000)
    arguments = parser.parse_args()
    write_bundle(arguments.file, arguments.records)
    sys.exit(0)
