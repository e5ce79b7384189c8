"""The rules about requests: every example is true, and near misses give no finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.core.findings import REGISTRY, Finding
from ctxview.formats.registry import open_source
from tests.formats.transcript.builders import LENS
from tests.formats.transcript.request_builders import write_requests
from tests.rule_examples import assert_examples_are_true, rules_of


def findings(folder: Path, notation: str) -> list[Finding]:
    return list(open_source(write_requests(folder, notation)).findings(LENS))


def messages(folder: Path, notation: str, rule: str) -> list[str]:
    return [each.message for each in findings(folder, notation) if each.rule == rule]


@pytest.mark.parametrize("name", rules_of("REQ"))
def test_the_examples_of_a_rule_are_true(name: str, tmp_path: Path) -> None:
    numbers = iter(range(9))

    def of(example: str) -> list[Finding]:
        return findings(tmp_path / str(next(numbers)), example)

    assert_examples_are_true(REGISTRY[name], of)


BREAKING = {
    "text before the results": ("REQ001", "user: Go\nassistant: call t1 shell\nuser: Now | result t1 ok"),
    "a result of an earlier call": (
        "REQ001",
        "user: Go\nassistant: call t1 shell\nuser: result t1 ok\nassistant: Good\nuser: result t1 again",
    ),
    "a result without call, chat": ("REQ001", "chat\nuser: Go\nuser: result t1 ok\nassistant: Done"),
    "a result without call, responses": ("REQ001", "responses\nuser: Go\nuser: result t1 ok"),
    "a call without result, chat": ("REQ002", "chat\nuser: Go\nassistant: call t1 shell\nuser: And?"),
    "a call without result, responses": (
        "REQ002",
        "responses\nuser: Go\nassistant: call t1 shell\nuser: And?\nassistant: Done",
    ),
    "no messages": ("REQ003", "anthropic\nsystem: You are a helper"),
    "an hour behind five minutes": (
        "REQ005",
        "system: word*9000 | cached\nuser: Hi | cached1h",
    ),
    "a uuid in a tool": ("REQ007", "tool a: session 0b9f8a4e-53fd-4c3e-9d6b-2f2f0a7d9d11\nuser: Hi"),
    "the present time before a mark": (
        "REQ007",
        "system: word*9000\nuser: Current time: 2026-08-01 12:00:31 | cached",
    ),
    "two tools with one name": ("REQ010", "tool a: one\ntool a: two\nuser: Hi"),
    "a file of the provider": ("REQ012", "responses\nprevious resp_1\nuser: Go on"),
    "a blank text, chat": ("REQ013", "chat\nuser: text\nassistant: What?"),
    "thinking without signature": (
        "REQ014",
        "user: Go\nassistant: thinking no First | call t1 shell\nuser: result t1 ok",
    ),
    "tools in another order": (
        "REQ015",
        "tool a: one\ntool b: two\nsystem: word*9000 | cached\nuser: Hi\n---\n"
        "tool b: two\ntool a: one\nsystem: word*9000 | cached\nuser: Hi",
    ),
    "another system prompt, chat": (
        "REQ015",
        "chat\nsystem: one\nuser: Hi\n---\nchat\nsystem: two\nuser: Hi\nassistant: Yes\nuser: Go",
    ),
    "a numbered copy": (
        "REQ016",
        "system: a line of a file that is long enough~*60\nuser: Read\nassistant: call t1 read\n"
        "user: result t1    12→a line of a file that is long enough~*60",
    ),
}

NEAR_MISSES = {
    "results before text": ("REQ001", "user: Go\nassistant: call t1 shell\nuser: result t1 ok | Now"),
    "two results, chat": (
        "REQ001",
        "chat\nuser: Go\nassistant: call t1 shell\nuser: result t1 ok\nassistant: call t2 shell\n"
        "user: result t2 ok",
    ),
    "parallel calls, responses": (
        "REQ001",
        "responses\nuser: Go\nassistant: call t1 shell | call t2 shell\nuser: result t2 ok | result t1 ok",
    ),
    "parallel calls answered, responses": (
        "REQ002",
        "responses\nuser: Go\nassistant: call t1 shell | call t2 shell\nuser: result t2 ok | result t1 ok",
    ),
    "a developer first, chat": ("REQ003", "chat\nsystem: Help\nuser: Hi"),
    "one role twice, chat": ("REQ004", "chat\nuser: Hi\nuser: There"),
    "five minutes behind an hour": (
        "REQ005",
        "system: word*9000 | cached1h\nuser: Hi | cached",
    ),
    "a time in a result": (
        "REQ007",
        "user: Go\nassistant: call t1 shell\nuser: result t1 2026-08-01 12:00:31 started | cached",
    ),
    "small tools of a small request": ("REQ008", "tool a: one\ntool b: two\ntool c: three\nuser: Hi"),
    "an unknown model": ("REQ011", "model house-7b\nlimit 300000\nuser: Hi"),
    "a call only, chat": ("REQ013", "chat\nuser: Go\nassistant: call t1 shell\nuser: result t1 ok"),
    "no thinking asked for": ("REQ014", "user: Go\nassistant: call t1 shell\nuser: result t1 ok"),
    "thinking of an earlier turn removed": (
        "REQ014",
        "thinking\nuser: Go\nassistant: call t1 shell\nuser: result t1 ok\nassistant: Done\nuser: More",
    ),
    "only new messages": (
        "REQ015",
        "chat\nsystem: one\nuser: Hi\n---\nchat\nsystem: one\nuser: Hi\nassistant: Yes\nuser: Go",
    ),
    "a change behind the last mark": (
        "REQ015",
        "system: word*9000 | cached\nuser: Hi\nassistant: a\nuser: b\n---\n"
        "system: word*9000 | cached\nuser: Hi\nassistant: c\nuser: d",
    ),
}


@pytest.mark.parametrize("name", BREAKING)
def test_a_case_that_breaks_a_rule(name: str, tmp_path: Path) -> None:
    rule, notation = BREAKING[name]
    assert messages(tmp_path, notation, rule)


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_a_near_miss(name: str, tmp_path: Path) -> None:
    rule, notation = NEAR_MISSES[name]
    assert not messages(tmp_path, notation, rule)


def test_the_first_changed_character_is_named(tmp_path: Path) -> None:
    notation = "chat\nsystem: You are 1\nuser: Hi\n---\nchat\nsystem: You are 2\nuser: Hi"
    (text,) = messages(tmp_path, notation, "REQ015")
    assert "messages/0 differs from the request before at character 8" in text


def test_a_request_that_the_provider_refused_as_too_long_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "pair.json"
    path.write_text(
        '{"request": {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "x", "messages": '
        '[{"role": "user", "content": "Hi"}]}, "response": {"type": "error", "error": '
        '{"type": "invalid_request_error", "message": "prompt is too long: 213462 tokens > 200000 maximum"}}}'
    )
    (found,) = [each for each in open_source(path).findings(LENS) if each.rule == "REQ011"]
    assert found.severity == "error"
    assert "213462" in found.message


def test_messages_without_tools_and_model_are_a_history(tmp_path: Path) -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Find it"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t1", "content": "found"},
    ]
    path = tmp_path / "history.json"
    path.write_text(json.dumps({"messages": messages}))
    assert "REQ010" not in {each.rule for each in open_source(path).findings(LENS)}
    path.write_text(json.dumps({"model": "gpt-4o", "messages": messages}))
    assert "REQ010" in {each.rule for each in open_source(path).findings(LENS)}
