"""The JSON after the separator: SNP002, 003, 005, 006, 008, 009."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Effect, Severity
from tests.formats.snapshot.rules.checking import of_reply, rules_of_reply


def replied(payload: str) -> str:
    return f"Done.\n<<<CONTEXT>>>\n{payload}"


@pytest.mark.parametrize(
    "payload",
    [
        '{"a": 1,}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        "{'a': 1}",
        '{"a": "line\nbreak"}',
        '{"a": 1',
        '{"a": 01}',
        '[{"a": 1},]',
        "",
        " \n ",
    ],
)
def test_a_payload_that_javascript_refuses_is_reported_once_with_its_place(payload: str):
    assert rules_of_reply(replied(payload)) == ["SNP002"]
    (finding,) = of_reply(2, replied(payload))
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.REJECTED
    assert finding.origin.line is not None


def test_the_place_is_that_of_the_parser():
    (finding,) = of_reply(2, replied('{"a": 1,\n "b": NaN}'))
    assert (finding.origin.line, finding.origin.column) == (4, 7)
    assert "NaN is not JSON" in finding.message


@pytest.mark.parametrize("payload", ["{}", " \t\r\n{} \r\n\t", '{"a": 1e400}', '{"a": "\\ud800"}'])
def test_a_payload_that_javascript_accepts_is_fine(payload: str):
    assert not {"SNP002", "SNP003"} & set(rules_of_reply(replied(payload)))


@pytest.mark.parametrize(
    ("payload", "where"),
    [
        ("{}\nThank you!", "after"),
        ("{}\u00a0", "after"),
        ("{} {}", "after"),
        ("Here it is: {}", "before"),
        ("json\n{}", "before"),
        ("\ufeff{}", "before"),
        ("the state: {} so far", "before"),
    ],
)
def test_text_around_the_json_is_reported_once(payload: str, where: str):
    assert rules_of_reply(replied(payload)) == ["SNP003"]
    assert f" {where} the JSON; the whole reply is rejected" in of_reply(3, replied(payload))[0].message


def test_invisible_text_around_the_json_is_made_visible():
    assert "<U+FEFF>" in of_reply(3, replied("\ufeff{}"))[0].message


@pytest.mark.parametrize("payload", ["[]", '"text"', "3", "null", "true"])
def test_a_payload_that_is_not_an_object_is_ignored_by_the_runtime(payload: str):
    (finding,) = of_reply(5, replied(payload))
    assert finding.effect is Effect.IGNORED
    assert finding.origin.line == 3


def test_an_empty_object_is_an_object():
    assert of_reply(5, replied("{}")) == []


@pytest.mark.parametrize(
    ("payload", "what"),
    [
        ("```json\n{}\n```", "code fence"),
        ("~~~\n{}\n~~~", "code fence"),
        ("{}\n```", "code fence"),
        ("<json>{}</json>", "tag"),
        ("{}</context>", "tag"),
        ("<!-- state -->{}", "comment"),
        ("// state\n{}", "comment"),
        ('{"a": 1 // one\n}', "comment"),
        ('{"a": /* one */ 1}', "comment"),
        ('{\n# state\n"a": 1}', "comment"),
    ],
)
def test_the_kind_of_formatting_is_named(payload: str, what: str):
    assert rules_of_reply(replied(payload)) == ["SNP006"]
    assert of_reply(6, replied(payload))[0].message.startswith(what)


def test_comment_signs_inside_strings_are_fine():
    assert rules_of_reply(replied('{"a": "// /* ``` <tag>"}')) == []


def test_a_duplicate_key_is_named_at_its_second_place():
    (finding,) = of_reply(8, replied('{"a": 1,\n "a": 2}'))
    assert finding.severity is Severity.WARNING
    assert finding.origin.line == 4


def test_the_same_key_in_two_objects_is_fine():
    assert of_reply(8, replied('{"a": {"x": 1}, "b": {"x": 1}}')) == []


def test_numbers_beyond_the_safe_integers_are_reported_with_their_literal():
    (finding,) = of_reply(9, replied('{"a": 9007199254740992}'))
    assert finding.effect is Effect.STORED
    assert finding.message.startswith("9007199254740992 is beyond 9007199254740991")


def test_an_overflow_becomes_null():
    (finding,) = of_reply(9, replied('{"a": [1e400, -1]}'))
    assert finding.effect is Effect.WIPED


@pytest.mark.parametrize("number", ["9007199254740991", "-9007199254740991", "1e15", "0.1234567890123456789"])
def test_numbers_that_fit_are_fine(number: str):
    assert of_reply(9, replied(f'{{"a": {number}}}')) == []


def test_bytes_that_are_not_utf8_are_reported_once():
    assert rules_of_reply(b'Done.\n<<<CONTEXT>>>\n{"a": "\xff"}') == ["SNP002"]
