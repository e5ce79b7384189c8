"""Strict JSON in any file: JSN001 to 006."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.analysis.json_rules import check_document, check_json
from ctxview.core.findings import Effect, Finding, Severity
from ctxview.files.strict_json.document import parse
from ctxview.files.visible_text import is_safe


def check(text: str | bytes) -> list[Finding]:
    return list(check_json("file.json", text.encode() if isinstance(text, str) else text))


def rules(text: str | bytes) -> list[str]:
    return [finding.rule for finding in check(text)]


@pytest.mark.parametrize(
    "text", ["{}", "[]", "1", '"x"', " null\n", '{"a": [1, 2.5, "\\u00e9", "\\ud83d\\ude00"]}']
)
def test_ordinary_json_has_no_findings(text: str):
    assert check(text) == []


@pytest.mark.parametrize(
    "text", ["", "{,}", '{"a": 1,}', "NaN", "{'a': 1}", "// c\n1", "1 2", '{"a"', "\u00a01"]
)
def test_text_that_is_not_json_is_one_error_with_its_place(text: str):
    (finding,) = check(text)
    assert (finding.rule, finding.severity, finding.effect) == ("JSN001", Severity.ERROR, Effect.REJECTED)
    assert finding.origin.line == text.count("\n") + 1 or finding.origin.line == 1


def test_a_duplicate_key_is_a_warning_at_its_second_place():
    (finding,) = check('{"a": 1,\n"b": {"x": 1, "x": 2}}')
    assert finding.rule == "JSN002"
    assert (finding.origin.pointer, finding.origin.line) == ("/b/x", 2)


@pytest.mark.parametrize(
    ("number", "found"),
    [
        ("9007199254740991", 0),
        ("-9007199254740991", 0),
        ("9007199254740992", 1),
        ("-9007199254740993", 1),
        ("1e16", 1),
        ("1e400", 1),
        ("1e-400", 0),
        ("9" * 5000, 1),
        ("0.30000000000000004", 0),
    ],
)
def test_numbers_are_judged_by_what_javascript_can_hold(number: str, found: int):
    assert rules(f'{{"n": {number}}}') == ["JSN003"] * found


def test_an_overflow_becomes_null():
    assert check("[1e400]")[0].effect is Effect.WIPED
    assert check("[9007199254740993]")[0].effect is Effect.STORED


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf{}",
        '{"a": 1}'.encode("utf-16"),
        '{"a": 1}'.encode("utf-16-be").join([b"\xfe\xff", b""]),
        b'{"a": "\xe9"}',
    ],
)
def test_another_encoding_is_one_finding_that_names_it(data: bytes):
    assert rules(data) == ["JSN004"]


def test_the_place_of_a_bad_byte_is_named():
    (finding,) = check(b'{\n"a": "\xe9"}')
    assert (finding.origin.start, finding.origin.line, finding.origin.column) == (8, 2, 7)


def test_half_a_character_is_a_warning_in_values_and_keys():
    findings = check('{"a": "x\\ud83d", "k\\udc00": ["fine \\ud83d\\ude00"]}')
    assert [finding.rule for finding in findings] == ["JSN005", "JSN005"]
    assert {finding.origin.pointer for finding in findings} >= {"/a"}
    assert all(is_safe(finding.message) for finding in findings)


@pytest.mark.parametrize(
    ("depth", "names"),
    [
        (200, None),
        (201, "pydantic gives up"),
        (1000, "Python's json give up"),
        (1025, "orjson give up"),
        (20_000, "orjson"),
    ],
)
def test_deep_nesting_names_the_parsers_that_give_up(depth: int, names: str | None):
    findings = check("[" * depth + "]" * depth)
    assert [finding.rule for finding in findings] == (["JSN006"] if names else [])
    assert all(names in finding.message for finding in findings if names)


def test_deep_objects_with_odd_leaves_are_checked():
    depth = 20_000
    text = '{"a":' * depth + "[1e400, 9007199254740993]" + "}" * depth
    assert sorted(set(rules(text))) == ["JSN003", "JSN006"]


def test_many_brackets_beside_each_other_are_not_deep():
    assert check("[" + ",".join(["[]"] * 1000) + "]") == []


def test_a_parsed_document_can_be_checked_without_reading_it_again():
    document = parse(b'  {"a": 1, "a": 2}  ')
    assert [finding.rule for finding in check_document("f.json", document)] == ["JSN002"]


def test_only_the_window_of_a_document_is_checked():
    data = b'9007199254740993 {"a": 1} \\ud800'
    assert list(check_document("f.txt", parse(data, 17, 25))) == []


@settings(deadline=None, max_examples=15)
@given(
    st.binary(max_size=40)
    | st.text('{}[]",:\\ud80e1.9-+ \ufeff', max_size=25).map(lambda text: text.encode())
)
def test_any_bytes_can_be_checked(data: bytes):
    for finding in check_json("file", data):
        assert is_safe(finding.message)
