"""Any bytes, any JSON and any tree can be opened: bad input gets a finding, not a crash."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxview.analysis.tokens import ESTIMATES
from ctxview.files.line_file import never_cancelled
from ctxview.files.visible_text import is_safe
from ctxview.formats.interface import Lens
from ctxview.formats.session.profile import PROFILES
from ctxview.formats.session.source import SessionSource
from tests.formats.session.builders import Build, lines, sound

WORDS = [
    "",
    "a",
    "f1",
    "default",
    "done",
    "messages.jsonl",
    "events.jsonl",
    "messages:1-2",
    "messages:5-1",
    "user:latest",
    "tail:3",
    "context/summary.md",
    "context/child/rev-1/result.md",
    "context/swap/chunk/sha256-abc",
    "../x",
    "/etc",
    "sha256-abc",
    "sha256-" + "a" * 64,
    "dag-react",
    "rev-1",
    "1-2",
    "call-1",
    "tool_result",
    "\u202e",
    "\x1b[2J",
]
NUMBERS = [0, 1, -1, 2, 1.5, 2**63, 10**30, 1e308]
scalars = st.sampled_from([None, True, False, *NUMBERS]) | st.sampled_from(WORDS) | st.text(max_size=5)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


def objects(*names: str) -> st.SearchStrategy[Any]:
    return anything | st.fixed_dictionaries({}, optional=dict.fromkeys(names, anything))


parts = objects("type", "text", "path", "tool_call_id", "content")
messages = anything | st.fixed_dictionaries(
    {},
    optional={
        "role": anything,
        "run": anything,
        "name": anything,
        "content": anything | st.lists(parts, max_size=2),
    },
)
events = objects(
    *("type", "run", "id", "client_id", "scope", "cwd", "text", "role", "content", "name", "code", "message"),
    *("status", "input_tokens", "output_tokens", "decision", "args", "parent", "child", "reason", "agent"),
)
records = objects(
    *(
        "id",
        "text",
        "decision",
        "source",
        "path",
        "kind",
        "summary",
        "tokens",
        "hash",
        "refs",
        "bytes",
        "range",
        "event",
    )
)
items = objects("kind", "source", "tokens", "range", "hash")
packs = anything | st.fixed_dictionaries(
    {},
    optional={
        "session": anything,
        "agent": anything,
        "budget_tokens": anything,
        "items": anything | st.lists(items, max_size=3),
    },
)
nodes = objects("id", "kind", "agent", "child", "session", "handoff", "deps", "max_steps")
plans = anything | st.fixed_dictionaries(
    {}, optional={"version": anything, "mode": anything, "nodes": anything | st.lists(nodes, max_size=4)}
)
blobs = anything | objects("source", "start_event", "end_event", "hash", "range")
words = st.sampled_from([*WORDS, "active", "pending", "1790000000", " 5", "5\n6"])

JSON_LINES = {
    "messages.jsonl": messages,
    "events.jsonl": events,
    "context/facts.jsonl": records,
    "context/decisions.jsonl": records,
    "context/refs.jsonl": records,
    "context/swap/index.jsonl": records,
    "context/dedup/index.jsonl": records,
    "context/child/rev-1/refs.jsonl": records,
}
without_deadline = settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck))


def read_everything(build: Build, profile: str | None = None) -> None:
    """Read all findings, revisions and rows of the session."""
    source = SessionSource(build.write())
    lens = Lens(ESTIMATES["words"], profile)
    for finding in source.findings(lens):
        assert finding.message
        assert is_safe(finding.message), finding
        assert finding.origin.file
    for revision in range(len(source.revisions)):
        state = source.reading(revision, lens).state
        assert state.transcript is not None
        for row in range(len(state.transcript)):
            assert state.transcript.row(row).index == row
        state.transcript.find("a", 0, False, never_cancelled)


class Folder:
    """A separate folder for every example, because hypothesis and pytest's fixtures do not mix."""

    def __enter__(self) -> Build:
        self._path = Path(tempfile.mkdtemp())
        return sound(self._path)

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._path)


@without_deadline
@given(
    changes=st.fixed_dictionaries(
        {}, optional={name: st.lists(each, max_size=3) for name, each in JSON_LINES.items()}
    )
)
def test_any_records_can_be_read(changes: dict[str, list[Any]]):
    with Folder() as build:
        for name, values in changes.items():
            build.set(name, lines(json.dumps(value) for value in values))
        read_everything(build)


@without_deadline
@given(
    pack=packs,
    plan=plans,
    meta=anything,
    state=anything,
    blob=blobs,
    profile=st.sampled_from([None, *PROFILES]),
)
def test_any_json_can_be_read_as_pack_plan_and_meta(pack, plan, meta, state, blob, profile):
    with Folder() as build:
        for name, value in (("context/pack.json", pack), ("context/plan.json", plan), ("meta.json", meta)):
            build.set(name, json.dumps(value))
        build.set("state.json", json.dumps(state)).set("context/swap/chunk/sha256-abc", json.dumps(blob))
        read_everything(build, profile)


@without_deadline
@given(
    name=st.sampled_from(
        [
            *JSON_LINES,
            "context/pack.json",
            "context/pack.md",
            "context/plan.json",
            "meta.json",
            "context/gc.policy",
        ]
    ),
    data=st.binary(max_size=60) | st.text(max_size=30).map(str.encode),
    at_the_end=st.booleans(),
)
def test_any_bytes_can_be_read_in_any_file(name: str, data: bytes, at_the_end: bool):
    with Folder() as build:
        build.set(name, build.files[name] + data if at_the_end else data)
        read_everything(build)


@without_deadline
@given(
    changes=st.dictionaries(
        st.sampled_from(["state", "cwd", "created_at", "updated_at", "current_run", "context/budget"]),
        words,
        max_size=4,
    ),
    statuses=st.lists(words, max_size=2),
)
def test_any_words_can_be_read_in_controls_and_channels(changes: dict[str, str], statuses: list[str]):
    with Folder() as build:
        for name, word in changes.items():
            build.set(name, f"{word}\n")
        for place, word in enumerate(statuses):
            build.child(f"rev-{place + 1}", word, agent=f"{word}\n", session=f"{word}\n")
        read_everything(build)
