"""No JSON value in any position makes a rule raise an error."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxview.core.findings import Finding
from ctxview.files.strict_json.document import parse
from ctxview.files.visible_text import is_safe
from ctxview.formats.snapshot import rules
from ctxview.formats.snapshot.model import REQUIRED_BLOCK_FIELDS, TIERS, Snapshot, SnapshotRole
from ctxview.formats.snapshot.parser import parse_file
from ctxview.formats.snapshot.profile import PROFILES, load_profile
from tests.formats.snapshot.rules.template import full_log, lite_log, store, template

WORDS = [
    "",
    "a",
    "core-001",
    "done",
    "open",
    "active",
    "tag_ref",
    "persistent:a",
    "3.0",
    "none",
    "todo_complete",
    "0.5",
]
NUMBERS = [0, 1, -1, 2, 3, 3.0, 0.5, 1.5, 1e308, 2**53, 1700000000000, 10**400, -0.0]
scalars = st.sampled_from([None, True, False, *NUMBERS]) | st.sampled_from(WORDS) | st.text(max_size=6)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
BLOCK_FIELDS = (
    *REQUIRED_BLOCK_FIELDS,
    *(
        "status",
        "closed_at",
        "content_state",
        "tag_id",
        "tag_summary",
        "rehydrated_at",
        "persistent_block_id",
    ),
)
blocks = anything | st.fixed_dictionaries({}, optional=dict.fromkeys(BLOCK_FIELDS, anything))


def objects(*names: str) -> st.SearchStrategy[Any]:
    return anything | st.fixed_dictionaries({}, optional=dict.fromkeys(names, anything))


tiers = st.fixed_dictionaries(
    {}, optional={name: anything | st.lists(blocks, max_size=3) for name in (*TIERS, "x")}
)
counts = objects(*TIERS, "invalid_block", "threshold_decay")
runtimes = anything | st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("round", "workspace", "datetime", "startup_at"), anything),
        "budget": objects("estimated_input_tokens", "input_budget", "degrade_stage", "safety_margin_tokens"),
        "token_usage": objects("total_tokens", "cumulative_total_tokens"),
    },
)
todos = anything | st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("summary", "total", "step"), anything),
        "cursor": objects("v", "phase", "next", "targetId", "note"),
    },
)
execution = objects("tool_calls", "model_steps", "continuations")
metas = anything | st.fixed_dictionaries(
    {},
    optional={
        "id": anything,
        "attempt": anything,
        "retries": anything,
        "status": anything,
        "execution": execution,
    },
)
snapshots = st.fixed_dictionaries(
    {},
    optional={
        "version": anything,
        "runtime": runtimes,
        "memory": anything | tiers,
        "todo": todos,
        "active_task": anything,
        "active_task_meta": metas,
        "last_task": anything,
        "task_checkpoint": objects("task_id", "working_memory"),
        "round": anything,
        "task": anything,
        "x": anything,
    },
)
debugs = st.fixed_dictionaries(
    {"round": anything},
    optional=dict.fromkeys(("rawCounts", "injectedCounts", "droppedByReason", "droppedSamples"), counts),
)
profiles = st.sampled_from([load_profile(name) for name in PROFILES])
unhurried = settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck))


def assert_safe(findings: list[Finding]) -> None:
    for finding in findings:
        assert finding.message
        assert is_safe(finding.message)
        assert finding.origin.file


@unhurried
@given(value=snapshots, role=st.sampled_from(SnapshotRole), profile=profiles)
def test_any_snapshot_can_be_checked(value, role: SnapshotRole, profile):
    assert_safe(list(rules.check_snapshot(snapshot_from(value, role), profile)))


@unhurried
@given(first=snapshots, second=snapshots, profile=profiles)
def test_any_two_snapshots_can_be_compared(first, second, profile):
    one, other = snapshot_from(first, SnapshotRole.STORED), snapshot_from(second, SnapshotRole.EMITTED)
    assert_safe(list(rules.check_exchange(one, other, profile)))
    assert_safe(list(rules.check_succession(one, other, profile)))
    assert_safe(list(rules.check_store(store(), other, profile)))


@unhurried
@given(place=st.sampled_from(["core", "working", "longterm"]), block=blocks, profile=profiles)
def test_any_block_can_replace_a_valid_one(place: str, block, profile):
    received, value = template(), template()
    value["memory"][place][0] = {**value["memory"][place][0], **block} if isinstance(block, dict) else block
    one, other = snapshot_from(received, SnapshotRole.STORED), snapshot_from(value, SnapshotRole.EMITTED)
    assert_safe(list(rules.check_exchange(one, other, profile)))
    assert_safe(list(rules.check_succession(other, one, profile)))


@unhurried
@given(debug=debugs, meta=objects("rawContextBytes", "modelContextBytes"), shown=snapshots, profile=profiles)
def test_any_log_can_be_checked(debug, meta, shown, profile):
    full, lite = (
        {**full_log(), "projectionDebug": debug, "injectedContext": shown},
        {**lite_log(), "meta": meta},
    )
    for envelope in (full, {**lite, "modelContext": shown}):
        log = parse_file("x.log", json.dumps(envelope).encode()).log
        if log is not None:
            assert_safe(list(rules.check_log(log, profile)))


MARKERS = ["<<<CONTEXT>>>", "<<CONTEXT>>", "```", "//", "/*", "<a>", "json", "\ufeff", "\n", " "]
FRAGMENTS = [*MARKERS, "{}", "{", "}", '"', "[", "]", ","]


@unhurried
@given(parts=st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=12), enabled=st.booleans())
def test_any_text_can_be_checked_as_a_reply_with_at_most_one_error(parts: list[str], enabled: bool):
    reply = parse_file("reply.txt", "".join(["Hi", *parts]).encode("utf-8", "surrogatepass"), enabled).reply
    if reply is None:
        return
    findings = list(rules.check_reply(reply, load_profile()))
    assert_safe(findings)
    errors = [finding.rule for finding in findings if finding.severity == "error"]
    assert len(errors) <= 1


def snapshot_from(value: Any, role: SnapshotRole) -> Snapshot:
    document = parse(json.dumps(value).encode())
    assert isinstance(document.value, dict)
    return Snapshot("snapshot.json", document, "", document.value, role)
