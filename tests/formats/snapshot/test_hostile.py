"""No value in any place of a snapshot stops the state or a rule."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens
from ctxview.formats.snapshot.source import SnapshotSource
from ctxview.formats.snapshot.source_files import READER, Loaded, LoadedFile
from tests.formats.snapshot.builders import block, full_log_value, reply_bytes, snapshot_value, to_bytes

LENS = Lens(ESTIMATES["bytes/4"])
CURSOR = {"v": 1, "phase": "doing", "next": "todo_complete", "targetId": 2, "note": "n"}
VALUE = snapshot_value(
    core=[block("a"), block("b", content_state="tag_ref", tag_id="t", tag_summary="s", rehydrated_at=5)],
    working=[block("w", status="done", closed_at=1, task_id="x")],
    ephemeral=[block("persistent:core:a", type="persistent_recall", persistent_block_id="a")],
    cursor=CURSOR,
    active_task="t",
    active_task_meta={"id": "x", "status": "running", "retries": 0, "attempt": 1, "execution": {}},
    last_task={"id": "y"},
    task_checkpoint={"task_id": "x", "working_memory": []},
)
VALUE["runtime"] |= {
    "token_usage": {"input_tokens": 1, "total_tokens": 2, "cumulative_total_tokens": 9},
    "budget": {"input_budget": 9, "estimated_input_tokens": 8, "degrade_stage": "none"},
}
ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(
        [0, -1, 1.5, 1e308, 2**53, 2**70, "", " ", "1", "\ud800", "\x1b[2J", [], {}, [[]], [None]]
    ),
    st.text(max_size=4),
    st.just([block("a"), 3, None]),
    st.just({"core": [block("z")], "x": 1}),
).map(copy.deepcopy)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inside for place in places(item, (*path, key)))]


def damaged(value: Any, draw: st.DataObject) -> Any:
    """A copy with a few values replaced, removed or added."""
    result = copy.deepcopy(value)
    for _ in range(draw.draw(st.integers(1, 4))):
        path = draw.draw(st.sampled_from(places(result)[1:] or [()]))
        if not path:
            return draw.draw(ODD)
        parent = result
        for step in path[:-1]:
            parent = parent[step]
        match draw.draw(st.sampled_from(["replace", "remove", "add"])):
            case "replace":
                parent[path[-1]] = draw.draw(ODD)
            case "remove":
                del parent[path[-1]]
            case "add" if isinstance(parent, dict):
                parent[draw.draw(st.text(max_size=3))] = draw.draw(ODD)
            case _:
                parent.append(draw.draw(ODD))
    return result


@settings(deadline=None, max_examples=15)
@given(st.data())
def test_no_value_in_any_place_stops_the_state_or_a_rule(draw: st.DataObject) -> None:
    files = [
        LoadedFile(Path("received.json"), to_bytes(damaged(VALUE, draw)), READER),
        LoadedFile(Path("reply.txt"), reply_bytes(damaged(VALUE, draw)), READER),
        LoadedFile(Path("context.log"), to_bytes(damaged(full_log_value(VALUE), draw)), READER),
    ]
    source = SnapshotSource(Path(), Loaded(tuple(files)))
    source.findings(LENS)
    for revision in range(3):
        state = source.reading(revision, LENS).state
        assert state.counts.blocks == sum(1 for _ in state.blocks())
