"""Secrets: SEC001 to 009, spans and masks."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.analysis.secrets import find_secrets, mask_secrets, secrets_in_bytes
from ctxview.analysis.text_rules import check_strings, check_text
from ctxview.core.findings import Effect, Severity
from ctxview.core.origin import JsonValue, Origin
from ctxview.files.visible_text import visible
from tests.analysis.made_up_secrets import CASES, TOKENS, letters

HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def rules(text: str) -> list[str]:
    return [finding.rule for finding in check_text(text, lambda start, end: Origin("f", None, start, end))]


@pytest.mark.parametrize(("rule", "token"), CASES)
def test_a_token_is_found_with_its_exact_place(rule: str, token: str):
    text = f"use {token} here"
    (secret,) = find_secrets(text)
    assert secret.rule == rule
    assert text[secret.start : secret.end] == token
    (finding,) = check_text(text, lambda start, end: Origin("f", None, start, end))
    assert (finding.severity, finding.effect) == (Severity.ERROR, Effect.LEAKED)


@pytest.mark.parametrize(("rule", "token"), CASES)
def test_a_message_never_holds_the_secret(rule: str, token: str):
    (finding,) = check_text(f'{{"key": "{token}"}}', lambda start, end: Origin("f", None, start, end))
    assert token not in finding.message
    assert token[:4] in finding.message
    assert f"…({len(token)} characters)" in finding.message


@pytest.mark.parametrize(
    ("rule", "text", "secret"),
    [
        ("SEC001", f"aws_secret_access_key = {letters(40)}", letters(40)),
        ("SEC001", f"AccountKey={letters(86)}==;", f"{letters(86)}=="),
        ("SEC004", f"https://hooks.slack.com/services/{letters(40)}", letters(40)),
        ("SEC006", "postgres://app:tr0ub4dor&3@db/x", "tr0ub4dor&3"),
        ("SEC006", "https://:s3cr3tpw@host", "s3cr3tpw"),
        ("SEC007", f'"Authorization": "Bearer {letters(20)}"', letters(20)),
        ("SEC007", f"authorization: basic {letters(20)}", letters(20)),
        ("SEC007", f"X-Api-Key: {letters(20)}", letters(20)),
        ("SEC007", f"bearer {letters(24)}", letters(24)),
        ("SEC009", f"DJANGO_SECRET_KEY={HEX}", HEX),
        ("SEC009", f'"client_secret": "{letters(32)}"', letters(32)),
    ],
)
def test_only_the_secret_part_is_the_secret(rule: str, text: str, secret: str):
    (found,) = find_secrets(text)
    assert found.rule == rule
    assert text[found.start : found.end] == secret


def test_a_private_key_is_one_secret_from_begin_to_end():
    for name in ("", "RSA ", "OPENSSH ", "EC ", "ENCRYPTED "):
        begin, end = f"-----BEGIN {name}PRIVATE KEY-----", f"-----END {name}PRIVATE KEY-----"
        text = f"key:\n{begin}\nProc-Type: 4\n{letters(64)}\n{end}\ndone"
        (found,) = find_secrets(text)
        assert found.rule == "SEC005"
        assert text[found.start : found.end].endswith(end)


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "x" * 36,
        "sk-" + "0" * 48,
        "sk-your-key-here-" + "abc" * 10,
        "postgres://user:password@host/db",
        "postgres://user:${DB_PASSWORD}@host",
        "postgres://user:****@host",
        "Authorization: Bearer $TOKEN_FROM_ENV",
        "Authorization: Bearer <token>",
        "task-" + letters(40),
        "desk-" + letters(48),
        "XAKIAQ4ZTB7RNMC2VLDWX",
        "-----BEGIN PUBLIC KEY-----",
        "https://example.org:8080/path@2x.png",
        "see https://host/a:b@c",
        "eyJhbGciOiJIUzI1NiJ9 is a header",
        "the authorization: pending",
        "the bearer internationalisation-of-everything",
        "SECRET_KEY=read_from_the_environment_of_the_server",
        "api_key: 12345678901234567890123456789012345",
        "SECRET_KEY=${DJANGO_SECRET_KEY_OF_2026_FOR_PRODUCTION}",
        "monkey_secret_keyboard=" + letters(40),
    ],
)
def test_placeholders_and_look_alikes_are_not_secrets(text: str):
    assert find_secrets(text) == []


@pytest.mark.parametrize("gap", ["\u200b", "\u2060", "\ufeff", "\u00ad", "\U000e0041"])
def test_invisible_characters_do_not_hide_a_secret(gap: str):
    token = "ghp_" + letters(36)
    broken = gap.join([token[:2], token[2:9], token[9:]])
    text = f"长 {broken}."
    (secret,) = find_secrets(text)
    assert text[secret.start : secret.end] == broken
    assert token[6:] not in mask_secrets(text)
    assert "SEC002" in rules(text)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("before", ["\n", "\t", '"', "\\", "\x1b", "\u200b", "é"])
@pytest.mark.parametrize(("rule", "token"), CASES)
def test_an_escape_before_a_secret_does_not_hide_it(rule: str, token: str, before: str, depth: int):
    text = f"env:{before}{token}"
    for _ in range(depth):
        text = json.dumps(text)
    (secret,) = find_secrets(text)
    assert (secret.rule, text[secret.start : secret.end]) == (rule, token)


def test_a_secret_that_is_spelled_with_escapes_is_masked_with_them():
    token = "ghp_" + letters(36)
    spelled = "".join(f"\\u{ord(each):04x}" if index % 3 == 0 else each for index, each in enumerate(token))
    data = f'{{"a": "é {spelled}", "b": 1}}'.encode()
    ((start, end, mark),) = secrets_in_bytes(data)
    assert (data[start:end].decode(), mark.decode()) == (spelled, "ghp_…(40 characters)")


def test_text_that_was_made_visible_is_masked_as_well():
    token = "ghp_" + letters(36)
    assert token not in mask_secrets(visible(f"env:\n{token}"))
    assert token[:20] not in mask_secrets(visible(f"env:{token[:20]}\u200b{token[20:]}"))


def test_a_mask_shows_no_control_character():
    text = visible("https://me:\x9b31mtitle@host")
    assert mask_secrets(text) == "https://me:<U+009B>3…(9 characters)@host"


def test_a_token_in_a_header_is_one_finding_of_the_more_specific_rule():
    assert rules(f"Authorization: Bearer {TOKENS['SEC008'][0]}") == ["SEC008"]


def test_a_mask_shows_at_most_a_quarter():
    assert mask_secrets("postgres://app:abcdefgh@db/x") == "postgres://app:ab…(8 characters)@db/x"


def test_masking_keeps_everything_else():
    tokens = [token for _, token in CASES]
    text = "\n".join(f"{number}: {token} ." for number, token in enumerate(tokens))
    masked = mask_secrets(text)
    assert not any(token in masked for token in tokens)
    assert masked.count("\n") == text.count("\n")
    assert find_secrets(masked) == []


def test_clean_text_is_returned_as_the_same_object():
    text = "nothing to hide"
    assert mask_secrets(text) is text


def test_hostile_text_is_searched_fast():
    for text in (
        "eyJ" * 100_000,
        "://" * 100_000,
        "-----BEGIN PRIVATE KEY-----" * 2000,
        "Authorization:" * 20_000,
    ):
        find_secrets(text)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.sampled_from([token for _, token in CASES]) | st.text(max_size=8), max_size=6))
def test_spans_are_in_order_without_overlaps_in_any_text(parts: list[str]):
    text = " ".join(parts)
    spans = [(secret.start, secret.end) for secret in find_secrets(text)]
    assert spans == sorted(spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert all(0 <= start < end <= len(text) for start, end in spans)


@pytest.mark.parametrize("before", ["_", "-", "=", "é_"])
@pytest.mark.parametrize("token", [token for _, token in CASES])
def test_a_secret_is_found_behind_any_sign(before: str, token: str) -> None:
    found = [f"{before}{token}:"[secret.start : secret.end] for secret in find_secrets(f"{before}{token}:")]
    assert any(token in each for each in found)


@settings(deadline=None, max_examples=15)
@given(
    st.sampled_from([token for _, token in CASES]),
    st.text(max_size=8).filter(lambda text: not text[-1:].isalnum()),
    st.text(max_size=8).filter(lambda text: not text[:1].isalnum() and text[:1] not in "_-+/="),
    st.booleans(),
    st.integers(1, 3),
)
def test_a_secret_in_json_is_masked_in_the_bytes(
    token: str, before: str, after: str, ascii_: bool, depth: int
):
    text = f"{before}{token}{after}"
    for _ in range(depth):
        text = json.dumps(text, ensure_ascii=ascii_)
    data = text.encode("utf-8", "surrogatepass")
    spans = [data[start:end].decode() for start, end, _ in secrets_in_bytes(data)]
    assert any(token in span for span in spans)


@pytest.mark.parametrize("name", ["api_key", "AWS_SECRET_ACCESS_KEY", "client_secret"])
def test_the_name_of_a_member_makes_its_value_a_secret(name: str):
    value: JsonValue = {"env": {name: letters(40)}}
    (finding,) = check_strings(value, lambda pointer: Origin("f", pointer))
    assert (finding.rule, finding.origin.pointer) in {("SEC009", f"/env/{name}"), ("SEC001", f"/env/{name}")}
    assert letters(40) not in finding.message
    assert list(check_strings({"env": {"note": letters(40)}}, lambda pointer: Origin("f", pointer))) == []
