"""Children and the plan, and changes since a session was last read: ABI050 to ABI061."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.core.findings import Finding
from ctxview.formats.session import rules
from ctxview.formats.session.survey.last_look import Observation
from tests.formats.session.builders import plan, sound
from tests.formats.session.rules.tables import expect, findings_for
from tests.formats.session.sources import comparison_with, observation_of, read_facts

CHILD, PLAN = "context/child/rev-1", "context/plan.json"
CANCEL = '{"type":"agent.child.cancel","parent":"coder","child":"rev-1","reason":"parent_dead"}'

CASES = [
    (
        50,
        f"{CHILD}/handoff.md (absent) ¶ {CHILD}/artifact (absent)",
        "error",
        "lacks handoff.md, artifact/",
        CHILD,
    ),
    (50, f"{CHILD}/agent = no agent", "error", "the agent cannot be called", "agent"),
    (50, f"{CHILD}/session = a/b", "error", "the session cannot be called", "session"),
    (50, f"{CHILD}/session (empty)", "error", "the session cannot be called", "session"),
    (50, f"{CHILD}/status (empty)", "error", 'the status is ""', "status"),
    (51, f"{CHILD}/status = pending", "warning", "has a result already", "result.md"),
    (51, f"{CHILD}/status = cancelled", "warning", 'the agent "reviewer"', "result.md"),
    (52, f"{CHILD}/events.jsonl (empty)", "error", "does not belong", "events.jsonl"),
    (53, "context/child/rev-2/status = active", "info", "nothing refers to the child rev-2 yet", "rev-2"),
    (53, "context/child/rev-2/status = error", "warning", "nothing refers to it", "rev-2"),
    (54, f"{CHILD}/session = elsewhere", "warning", "no session elsewhere", "session"),
    (54, f"{CHILD}/status = active", "warning", "the child's session done", "status"),
    (55, f"{CHILD}/status = cancelled", "warning", "no event says so", "status"),
    (56, f"{PLAN} = {{", "error", "not JSON", PLAN),
    (56, f"{PLAN} = []", "error", "not an object", PLAN),
    (56, f"{PLAN}.version = 2", "error", "the version is 2", PLAN),
    (56, f'{PLAN}.mode = "dag"', "error", 'the mode is "dag"', PLAN),
    (56, f"{PLAN}.nodes = []", "error", "no nodes", PLAN),
    (56, f"{PLAN}.nodes[1] = 5", "error", "node 2 is 5", PLAN),
    (56, f'{PLAN}.nodes[1].id = "review"', "error", "occurs twice", PLAN),
    (56, f'{PLAN}.nodes[1].id = "a b"', "error", "no valid id", PLAN),
    (56, f'{PLAN}.nodes[1].kind = "magic"', "error", '"magic"', PLAN),
    (56, f"{PLAN}.nodes[0].max_steps = 65", "error", "from 1 to 64", PLAN),
    (56, f'{PLAN}.nodes[0].handoff = " "', "error", "no handoff", PLAN),
    (56, f'{PLAN}.nodes[1].session = "s"', "error", "a session, but no child", PLAN),
    (56, f'{PLAN}.nodes[0].deps = ["tell"]', "error", "wait for each other: review → tell", PLAN),
    (56, f'{PLAN}.nodes[0].agent = "other"', "warning", "the agent of review", PLAN),
    (56, f'{PLAN}.nodes[0].handoff = "Do something else."', "warning", "the handoff of review", PLAN),
    (56, f"{CHILD}/status = active", "info", "review active, tell blocked", PLAN),
]
NEAR_MISSES = [
    (50, f"{CHILD}/result.md (empty) ¶ {CHILD}/status = pending"),
    (51, f"{CHILD}/status = cancelled ¶ {CHILD}/result.md = The agent reviewer was stopped."),
    (51, f"{CHILD}/status = pending ¶ {CHILD}/result.md (empty)"),
    (52, f"{CHILD}/artifact/messages.jsonl = x"),
    (53, "context/child/rev-2/status = done ¶ context/summary.md = See rev-2."),
    (54, "../../../reviewer/session/rev-1-s/state = active"),
    (55, f"events.jsonl += {CANCEL} ¶ {CHILD}/status = cancelled"),
    (56, f"{PLAN}.nodes[0].max_steps = 64"),
    (56, f'{PLAN}.nodes[1].kind = "react" ¶ {PLAN}.nodes[1].max_steps = 1'),
]


@pytest.mark.parametrize(("rule", "changes", "severity", "words", "file"), CASES)
def test_a_fault_gives_a_finding(
    rule: int, changes: str, severity: str, words: str, file: str, tmp_path: Path
):
    expect(rule, changes, severity, words, file, tmp_path)


@pytest.mark.parametrize(("rule", "changes"), NEAR_MISSES)
def test_a_near_miss_gives_no_finding(rule: int, changes: str, tmp_path: Path):
    assert findings_for(rule, changes, tmp_path) == []


def test_a_plan_of_too_many_nodes_is_an_error(tmp_path: Path):
    nodes = [{"id": f"n{number}", "kind": "dag", "agent": "coder"} for number in range(1025)]
    root = sound(tmp_path).set(PLAN, plan(*nodes)).write()
    (found,) = (each for each in rules.check_session(read_facts(root)) if each.rule == "ABI056")
    assert "1025 nodes" in found.message


def test_an_unknown_place_of_a_child_s_session_gives_no_finding(tmp_path: Path):
    build = sound(tmp_path)
    build.root = tmp_path / "elsewhere"
    assert "ABI054" not in {each.rule for each in rules.check_session(read_facts(build.write()))}


# -- changes since the last reading --------------------------------------------------------------------------


def succession(base: Path, earlier: str, later: str, rule: int) -> list[Finding]:
    return findings_for(rule, f"{earlier} ¶ ---{f' ¶ {later}' if later else ''}", base)


@pytest.mark.parametrize(
    ("rule", "earlier", "later", "severity", "words"),
    [
        (57, 'messages.jsonl += {"role":"user","content":"x"}', "", "error", "30 bytes shorter"),
        (57, "state = done", 'messages.jsonl = {"role":"user","content":"x"}', "error", "shorter"),
        (57, "events.jsonl += (blank)", "", "warning", "1 byte shorter"),
        (57, "state = done", "context/summary.md = s", "", ""),
        (58, 'messages.jsonl += {"role":"user","content":"x"}', "", "", ""),
        (59, "state = done", "context/pack.json (absent) ¶ context/swap/chunk (absent)", "info", "pack.json"),
        (60, "created_at = 1", "", "warning", "created_at was 1"),
        (60, "updated_at = 1790000900", "", "warning", "went back"),
        (60, "updated_at = 1790000100", "", "", ""),
        (60, 'context/facts.jsonl[0].text = "The parser was right."', "", "warning", "the fact f1 says"),
        (60, 'context/facts.jsonl[0].source = "messages:4"', "", "", ""),
        (60, 'context/decisions.jsonl[0].id = "d7"', "", "info", "d7"),
        (
            60,
            "state = done",
            "context/child/rev-1/status = active",
            "warning",
            "rev-1 was done and is active",
        ),
        (60, "context/child/rev-1/status = active", "", "", ""),
        (61, 'meta.json = {"scope":"shared"}', "", "warning", "the scope was"),
        (61, "meta.json (empty)", "", "", ""),
    ],
)
def test_changes_since_the_last_reading(
    rule: int, earlier: str, later: str, severity: str, words: str, tmp_path: Path
):
    found = succession(tmp_path, earlier, later, rule)
    if not severity:
        assert found == []
    else:
        assert any(each.severity.value == severity and words in each.message for each in found), found


def test_an_edit_that_keeps_the_length_is_found_by_the_hash(tmp_path: Path):
    build = sound(tmp_path)
    before = observation_of(read_facts(build.write()))
    build.files["messages.jsonl"] = build.files["messages.jsonl"].replace(b"fails", b"works")
    facts = read_facts(build.write())
    assert "same length" in next(rules.check_succession(facts, comparison_with(facts, before))).message


def test_removing_a_referenced_blob_is_an_error(tmp_path: Path):
    build = sound(tmp_path)
    before = observation_of(read_facts(build.write()))
    facts = read_facts(build.remove("context/dedup/blob").write())
    found = {each.rule: each for each in rules.check_succession(facts, comparison_with(facts, before))}
    assert found["ABI059"].severity.value == "error"


def test_a_session_that_moved_to_another_agent_is_reported(tmp_path: Path):
    facts = read_facts(sound(tmp_path).write())
    then = observation_of(facts)
    moved = Observation(then.seen_at, then.streams, {**then.facts, "agent": "keeper"})
    (found,) = rules.check_succession(facts, comparison_with(facts, moved))
    assert 'the agent was "keeper"' in found.message


@pytest.mark.parametrize("seconds", [0, 10**18])
def test_any_time_of_the_last_reading_can_be_shown(seconds: int, tmp_path: Path):
    facts = read_facts(sound(tmp_path).write())
    then = observation_of(facts)
    before = Observation(seconds, then.streams, {**then.facts, "scope": "shared"})
    assert list(rules.check_succession(facts, comparison_with(facts, before)))
