"""Every rule belongs to a group, its examples are true, and its near misses are silent."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import mkdtemp

import pytest

from ctxview.core.findings import REGISTRY, Severity
from ctxview.formats.memory import rules
from tests.formats.memory.bundles import findings_of, rules_of
from tests.rule_examples import assert_examples_are_true
from tests.rule_examples import rules_of as rules_of_family

GROUPS = (
    rules.ENTRY_RULES,
    rules.SNAPSHOT_RULES,
    rules.HISTORY_RULES,
    rules.BUNDLE_RULES,
    rules.SESSION_RULES,
)
ENTRY = '"rawEntry": "The launch moved to May", "tags": {"role": "user"}'
SUMMARY = '"summary": "The user moved the launch to May."'
CALL = 'add_entry {"raw_entry": "The launch moved", "summary": "The user moved the launch."}'


def test_every_rule_is_in_one_of_the_groups() -> None:
    assert sorted(each.id for group in GROUPS for each in group) == rules_of_family("MCX", "MEN", "MTR")


@pytest.mark.parametrize("rule", rules_of_family("MCX", "MEN", "MTR"))
def test_the_examples_are_true(rule: str, tmp_path: Path) -> None:
    assert_examples_are_true(
        REGISTRY[rule], lambda example: findings_of(Path(mkdtemp(dir=tmp_path)), example)
    )


NEAR_MISSES = (
    ("MCX001", 'context: "<5000 characters>"'),
    ("MCX002", 'context: "<4700 characters>"\ncontext: "<2000 characters>"'),
    ("MCX003", 'context: "Facts\\tin\\r\\ntwo lines"'),
    ("MCX004", "context: PLACEHOLDER"),
    ("MCX005", 'context: "{ this is not JSON }"'),
    ("MCX006", 'context: "Sam leads the launch, without any heading"'),
    ("MCX006", 'context: "# Facts\\nSam leads\\n# Entities (subjects, objects)\\nSam → launch"'),
    ("MCX007", 'context: "# Timeline\\n2026-05-01 – a\\n2026-05-01 – b"'),
    (
        "MCX008",
        'context: "```mermaid\\nflowchart TD\\n%% a-->b\\nStore?{Store?} -- Yes --> Add[add a-->b]\\n```"',
    ),
    ("MCX009", 'context: "The user group meets in May"'),
    ("MCX010", 'context: "Lamp 1 hangs over the north wall\\nLamp 2 hangs over the north wall"'),
    ("MCX011", 'context: "I am a helpful customer-support agent."'),
    ("MCX012", 'context: "The control room is in hall 3"'),
    ("MCX013", 'context: "# Facts\\nQuarterly revenue doubled in Norway"'),
    ("MCX014", f'entry: {{{ENTRY}, {SUMMARY}}}\ncontext: "The launch moved to May"'),
    ("MCX015", 'context: "# Notes\\nSam is away today"\ncontext: "# Notes\\nThe hall is open"'),
    ("MCX016", 'context: "Sam leads"\ncontext: "Ada leads"\ncontext: "Sam leads"'),
    ("MEN001", f'entry: {{{ENTRY}, "summary": "The launch moved to May"}}'),
    ("MEN002", f'entry: {{{ENTRY}, "summary": "<320 characters>"}}'),
    ("MEN003", f'entry: {{{ENTRY}, "summary": "The user moved <470 characters>…"}}'),
    ("MEN004", f'entry: {{{ENTRY}, "summary": "[plan] Ada, head of the harbour, chose May."}}'),
    ("MEN005", f'entry: {{{ENTRY}, "summary": "Ada said that the launch moved to us-east-1."}}'),
    ("MEN006", f'entry: {{{ENTRY}, "summary": "[ERROR] The build of main failed."}}'),
    ("MEN007", 'entry: {"rawEntry": "It costs 1,950 euros", "summary": "Ada paid 1,950 euros."}'),
    ("MEN008", f'entry: {{{ENTRY}, "summary": "Ada read Yesterday-Today, released on 2026-05-12."}}'),
    ("MEN009", f'entry: {{{ENTRY}, "summary": "Ada said hello to the * of the show."}}'),
    ("MEN010", 'entry: {"rawEntry": "The users asked nothing", "summary": "Ada said nothing."}'),
    ("MEN011", f"entry: {{{ENTRY}, {SUMMARY}}}\n" + "user: hm\n" * 20 + f"entry: {{{ENTRY}, {SUMMARY}}}"),
    ("MEN012", f'entry: {{"rawEntry": "a", {SUMMARY}, "tags": {{"role": "user", "seen": true}}}}'),
    ("MEN013", f"{CALL} ! the disk is full\nentry: {{{ENTRY}, {SUMMARY}}}"),
    ("MEN013", CALL),
    ("MEN014", f'entry: {{{ENTRY}, {SUMMARY}, "correction_time": null}}'),
    ("MTR001", "get_user\nget_context -> Sam leads"),
    ("MTR002", 'get_context -> PLACEHOLDER\nlist_entries {"limit": 10}\nput_context {"content": "new"}'),
    ("MTR003", 'get_context -> Sam\nuser: Hello\nlist_entries {"limit": 10}\nassistant: Hello'),
    ("MTR004", 'list_entries {"limit": "10"} -> {"applied_limit": 10}'),
    ("MTR005", f'{CALL} x8\nawait_consistency\nput_context {{"content": "The launch moved"}}'),
    ("MTR005", f'{CALL}\nawait_consistency\nput_context {{"content": "The launch moved"}}'),
    ("MTR006", 'get_context -> PLACEHOLDER\nput_context {"content": "new"}'),
    ("MTR006", f'{CALL}\nawait_consistency\nget_context -> Sam\nput_context {{"content": "moved"}}'),
    ("MTR007", 'get_context -> Sam leads\nsearch_memories {"query": "launch"}\nuser: <END_SESSION>'),
    ("MTR008", f"user: Is anything stored?\n{CALL}"),
    ("MTR009", 'get_context {"vault_id": "v"}'),
    ("MTR010", 'list_entries {"after": "2026-05-11T09:00:00Z"}'),
    ("MTR011", f"{CALL} ! full\n{CALL} ! full\n{CALL} ! full\n{CALL} -> stored"),
    ("MTR012", 'search_memories {"query": "launch", "top_k": 50} x2'),
    ("MTR013", "get_context -> Sam\nlist_entries\nget_context -> Sam"),
    ("MTR014", "get_context @2026-05-11T09:00:01Z\nlist_entries @2026-05-11T09:00:01Z"),
    ("MTR015", 'put_context {"content": "moved"} -> {"status": "stored"}'),
)


@pytest.mark.parametrize(("rule", "script"), NEAR_MISSES)
def test_a_near_miss_is_silent(rule: str, script: str, tmp_path: Path) -> None:
    assert rule not in rules_of(tmp_path, script)


@pytest.mark.parametrize(
    ("rule", "severity", "script"),
    [
        (
            "MCX004",
            Severity.WARNING,
            "context: \"Sam. This is default context that's created with the memory. "
            "Instructions for AI Agent: Provide relevant context as soon as it's available.\"",
        ),
        (
            "MCX009",
            Severity.WARNING,
            'entry: {"rawEntry": "we will meet at the old harbour gate on Monday at nine with Ada", '
            '"summary": "Ada planned a meeting."}\n'
            'context: "Plan: we will meet at the old harbour gate on Monday at nine with Ada"',
        ),
        ("MCX014", Severity.ERROR, 'context: "[decide] use Postgres"'),
        (
            "MEN001",
            Severity.WARNING,
            'entry: {"rawEntry": "<90 characters>", "summary": "<90 characters>"}',
        ),
        ("MEN002", Severity.WARNING, f'entry: {{{ENTRY}, "summary": "<400 characters>"}}'),
        ("MEN002", Severity.ERROR, f'entry: {{{ENTRY}, "summary": "<513 characters>"}}'),
        ("MEN003", Severity.WARNING, f'entry: {{{ENTRY}, "summary": "The user moved it…"}}'),
        ("MEN005", Severity.INFO, f'entry: {{{ENTRY}, "summary": "Ada noted it was decided."}}'),
        ("MEN013", Severity.WARNING, 'outbox: {"id": 7, "attempt_count": 4, "status": "pending"}'),
        ("MTR005", Severity.ERROR, f'{CALL} x13\nawait_consistency\nput_context {{"content": "moved"}}'),
        ("MTR007", Severity.WARNING, f"get_context -> Sam\n{CALL}"),
        ("MTR003", Severity.WARNING, 'get_context -> Sam\nlist_entries {"limit": 25}'),
        ("MTR009", Severity.WARNING, "list_vaults"),
        ("MTR011", Severity.WARNING, f"{CALL} ! full\n" * 5 + f"{CALL} -> stored"),
    ],
)
def test_the_severity_depends_on_the_case(rule: str, severity: Severity, script: str, tmp_path: Path) -> None:
    found = [each for each in findings_of(tmp_path, script) if each.rule == rule]
    assert severity in {each.severity for each in found}


def test_a_trace_passes_one_profile_and_fails_the_other(tmp_path: Path) -> None:
    script = (
        "get_context -> PLACEHOLDER\n"
        'put_context {"content": "A new conversation"} -> {"status": "stored"}\n'
        'list_entries {"limit": 10} -> {"applied_limit": 10}\n'
        "user: When is the launch?\n"
    )
    assert "MTR001" not in rules_of(tmp_path / "one", script, "v1")
    assert {"MTR001", "MTR008"} <= rules_of(tmp_path / "two", script, "v2")
    messages = [
        each.message for each in findings_of(tmp_path / "three", script, "v2") if each.rule == "MTR001"
    ]
    assert messages == ["the session begins with get_context and there is nothing to resume (profile v2)"]


def test_the_texts_of_a_trace_are_checked_at_their_place(tmp_path: Path) -> None:
    stored = 'add_entry {"raw_entry": "Hello", "summary": "She said so"}'
    script = f'{stored}\nput_context {{"content": "<5001 characters>"}}'
    found = {each.rule: each.origin for each in findings_of(tmp_path, script)}
    assert found["MEN005"].pointer == "/0/params/arguments/summary"
    assert found["MCX001"].pointer == "/1/params/arguments/content"


def test_a_second_message_of_the_same_words_may_be_stored_twice(tmp_path: Path) -> None:
    script = "user: Yes\nuser: Yes\n" + 'add_entry {"raw_entry": "Yes", "summary": "The user agreed."} x2'
    assert "MTR008" not in rules_of(tmp_path, script, "v2")


def test_each_repeated_line_is_reported_with_the_first_one(tmp_path: Path) -> None:
    script = "context: " + json.dumps("# Facts\n" + "The lamp hangs over the north wall\n" * 4)
    found = [each.message for each in findings_of(tmp_path, script) if each.rule == "MCX010"]
    assert [each.partition(" state")[0] for each in found] == [
        "lines 2 and 3",
        "lines 2 and 4",
        "lines 2 and 5",
    ]
