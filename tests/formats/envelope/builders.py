"""Builders of small records and bundles, and one whole turn of an agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ctxview.core.origin import JsonValue
from ctxview.formats.envelope.bundle import Bundle
from ctxview.formats.envelope.model import EnvelopeRecords
from ctxview.formats.envelope.parser import RecordFile, parse_record_file

Members = dict[str, JsonValue]
VERSION: Members = {"schema_version": "0.1.1"}


def at(minute: int) -> str:
    return f"2026-05-11T10:{minute:02}:00Z"


def item(name: str, content: str | None = "text", **more: JsonValue) -> Members:
    return {
        **VERSION,
        "item_id": name,
        "context_kind": "session_history",
        "content_mode": "inline",
        "visibility": ["model", "ui"],
        "title": f"about {name}",
        **({"content": content} if content is not None else {}),
        "source_refs": [f"src-{name}"],
        **more,
    }


def source(name: str, **more: JsonValue) -> Members:
    return {**VERSION, "source_id": name, "uri": f"mem://{name}", "source_kind": "message", **more}


def surface(items: Sequence[str], name: str = "surf-1", **more: JsonValue) -> Members:
    return {
        **VERSION,
        "surface_id": name,
        "scope": "turn",
        "created_at": at(1),
        "available_item_refs": [*items],
        **more,
    }


def selection(
    chosen: Sequence[str], omitted: Mapping[str, str], name: str = "sel-1", **more: JsonValue
) -> Members:
    return {
        **VERSION,
        "selection_id": name,
        "surface_id": "surf-1",
        "created_at": at(2),
        "candidate_item_refs": [*chosen, *omitted],
        "selected_item_refs": [*chosen],
        "omitted_item_refs": [{"item_ref": each, "reason": why} for each, why in omitted.items()],
        **more,
    }


def budget(name: str = "bud-1", target: str = "model", **more: JsonValue) -> Members:
    return {**VERSION, "budget_id": name, "target": target, "created_at": at(3), **more}


def assembly(
    blocks: Sequence[Sequence[str]], name: str = "asm-1", target: str = "model", **more: JsonValue
) -> Members:
    return {
        **VERSION,
        "assembly_id": name,
        "target": target,
        "created_at": at(4),
        "ordered_blocks": [
            {"block_id": f"{name}-b{place}", "item_refs": [*items], "position": place}
            for place, items in enumerate(blocks)
        ],
        **more,
    }


def injection(name: str = "inj-1", of: str = "asm-1", target: str = "model", **more: JsonValue) -> Members:
    return {
        **VERSION,
        "injection_id": name,
        "assembly_id": of,
        "target": target,
        "created_at": at(5),
        "injection_point": "system_prompt",
        **more,
    }


def compaction(sources: Sequence[str], summary: str, name: str = "cmp-1", **more: JsonValue) -> Members:
    return {
        **VERSION,
        "compaction_id": name,
        "scope": "session",
        "source_item_refs": [*sources],
        "method": "rolling_summary",
        "created_at": at(2),
        "summary_ref": summary,
        **more,
    }


def missing(name: str = "gap-1", **more: JsonValue) -> Members:
    return {
        **VERSION,
        "missing_id": name,
        "scope": "turn",
        "question": "Where is the key to the lamp room?",
        "severity": "blocking",
        "status": "open",
        "created_at": at(2),
        **more,
    }


def event(name: str, type_: str, minute: int, **more: JsonValue) -> Members:
    return {
        **VERSION,
        "event_id": name,
        "event_type": type_,
        "source": "agent://keeper",
        "time": at(minute),
        **more,
    }


def envelope(name: str = "ctx-1", **more: JsonValue) -> Members:
    return {
        **VERSION,
        "context_id": name,
        "scope": "turn",
        "lifecycle": "injected",
        "created_at": at(6),
        "producer": {"id": "keeper", "version": "1"},
        **more,
    }


def turn() -> list[Members]:
    """One turn: five candidates, three chosen, one for tools only, one masked, history compacted, a gap."""
    return [
        envelope(
            surface_refs=["surf-1"],
            selection_refs=["sel-1"],
            budget_ref="bud-1",
            assembly_refs=["asm-1", "asm-2"],
            injection_refs=["inj-1", "inj-2"],
            compaction_refs=["cmp-1"],
            missing_context_refs=["gap-1"],
            item_refs=["talk", "key", "sum-1"],
            evidence_refs=["evidence://pack-7"],
        ),
        surface(["old-1", "old-2", "talk", "key", "tool", "wiki", "chart", "sum-1"]),
        item("old-1", "The storm began at nine."),
        item("old-2", "The boat was late."),
        item("talk", "Who has the key?", context_kind="user_message"),
        item(
            "key",
            "The key is under ████.",
            redaction_state="masked",
            redaction_method="mask",
            policy_refs=["policy-7"],
            redacted_fields=["metadata/hiding_place"],
            metadata={"hiding_place": "the third flowerpot"},
        ),
        item("tool", '{"tide": 4}', visibility=["tool"], context_kind="tool_result"),
        item("wiki", "A lighthouse is a tower.", token_estimate=400),
        item("chart", "The chart of the bay.", token_estimate=900),
        {
            "summary_id": "sum-1",
            "content": "A storm, and a late boat.",
            "source_item_refs": ["old-1", "old-2"],
        },
        *(source(f"src-{name}") for name in ("old-1", "old-2", "talk", "key", "tool", "wiki", "chart")),
        selection(
            ["talk", "key", "sum-1", "tool"],
            {"wiki": "low_relevance", "chart": "budget_limit", "old-1": "superseded_by_summary"},
            budget_ref="bud-1",
            ranking_signals={
                "talk": {"relevance": 0.9},
                "wiki": {"relevance": 0.2},
                "chart": {"relevance": 0.95},
            },
        ),
        compaction(
            ["old-1", "old-2"],
            "sum-1",
            coverage={"items_covered": 2, "estimated_tokens_before": 2000, "estimated_tokens_after": 140},
            loss_notes=["the wind"],
        ),
        budget(
            max_tokens=600,
            reserved_tokens=100,
            actual_tokens=480,
            overflow_strategy="truncate_tail",
            truncation_records=[{"item_ref": "talk", "removed_tokens": 12}],
            window_segments=[
                {
                    "segment_id": "seg-1",
                    "role": "system",
                    "actual_tokens": 80,
                    "item_refs": ["key"],
                    "order": 1,
                },
                {
                    "segment_id": "seg-2",
                    "role": "user",
                    "actual_tokens": 400,
                    "item_refs": ["talk"],
                    "order": 2,
                },
            ],
        ),
        assembly([["key"], ["sum-1", "talk"]], budget_ref="bud-1"),
        assembly([["tool"]], "asm-2", "tool"),
        injection(),
        injection("inj-2", "asm-2", "tool", injection_point="tool_argument"),
        missing(
            blocked_actions=["open the lamp room"],
            requested_from="user://keeper",
            candidate_sources=[{"kind": "file", "hint": "the key book"}],
        ),
        event("ev-1", "context.surface.created", 1, subject="surf-1", context_id="ctx-1"),
        event("ev-2", "context.selection.completed", 2, subject="sel-1", context_id="ctx-1"),
        event("ev-3", "context.injection.applied", 5, subject="inj-1", context_id="ctx-1"),
    ]


# -- layouts ---------------------------------------------------------------------------------------------


def as_array(records: Sequence[Members]) -> dict[str, bytes]:
    return {"bundle.json": json.dumps(records, ensure_ascii=False, indent=1).encode()}


def as_lines(records: Sequence[Members]) -> dict[str, bytes]:
    return {"bundle.jsonl": "".join(json.dumps(each) + "\n" for each in records).encode()}


def as_folder(records: Sequence[Members]) -> dict[str, bytes]:
    return {f"record-{place:02}.json": json.dumps(each).encode() for place, each in enumerate(records)}


def as_embedded(records: Sequence[Members]) -> dict[str, bytes]:
    """Embed each record in its first reference; unreferenced records are beside the envelope."""
    from ctxview.formats.envelope.parser import kind_of
    from ctxview.formats.envelope.vocabulary import OWN_ID

    copies: list[Members] = [json.loads(json.dumps(each)) for each in records]
    waiting = {(kind_of(each), each[OWN_ID[kind]]): each for each in copies if (kind := kind_of(each))}
    top: list[Members] = []
    while waiting:
        first = next(iter(waiting))
        top.append(waiting.pop(first))
        grown = [top[-1]]
        while grown:
            holder = grown.pop()
            read = parse_record_file("x.json", json.dumps(holder).encode()).records[0]
            for reference in read.references:
                place = _place(holder, reference.path)
                found = _taken(waiting, reference)
                if found is not None and place is not None:
                    _put(place, reference, found)
                    grown.append(found)
    return {"bundle.json": json.dumps(top if len(top) > 1 else top[0]).encode()}


def _taken(waiting: dict[object, Members], reference: object) -> Members | None:
    from ctxview.formats.envelope.model import RecordReference

    assert isinstance(reference, RecordReference)
    for kind in reference.leads_to:
        if reference.name not in ("surface_id", "assembly_id") and (kind, reference.id) in waiting:
            return waiting.pop((kind, reference.id))
    return None


def _place(holder: JsonValue, path: Sequence[str | int]) -> JsonValue:
    for step in path[:-1]:
        holder = holder[step]  # type: ignore[index, call-overload]
    return holder


def _put(place: JsonValue, reference: object, found: Members) -> None:
    from ctxview.formats.envelope.model import RecordReference

    assert isinstance(reference, RecordReference)
    last = reference.path[-1]
    old = place[last]  # type: ignore[index, call-overload]
    place[last] = {**old, "item_ref": found} if isinstance(old, dict) else found  # type: ignore[index, call-overload]


LAYOUTS: Mapping[str, Callable[[Sequence[Members]], dict[str, bytes]]] = {
    "array": as_array,
    "lines": as_lines,
    "folder": as_folder,
    "embedded": as_embedded,
}


def read_all(files: Mapping[str, bytes]) -> tuple[RecordFile, ...]:
    return tuple(parse_record_file(name, data) for name, data in files.items())


def bundle(records: Sequence[Members]) -> Bundle:
    return Bundle(read_all(as_array(records)))


def records(records: Sequence[Members]) -> EnvelopeRecords:
    return bundle(records).groups[0]


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write the files to disk and return the folder, or the only file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder if len(files) > 1 else folder / next(iter(files))
