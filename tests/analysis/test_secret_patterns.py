"""A search at the hints finds the same secrets as every pattern on the whole text."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxview.analysis import secrets
from ctxview.analysis.characters import INVISIBLE, TAGS
from ctxview.analysis.secret_patterns import (
    REACH,
    RUN,
    SECRET_PATTERNS,
    SecretPattern,
    could_hold_secret,
    is_example_secret,
    secret_starts,
)
from ctxview.analysis.secrets import find_secrets
from tests.analysis.made_up_secrets import CASES, letters

HINTS = [hint.decode() for pattern in SECRET_PATTERNS for hint in pattern.hints]
WORDS = [
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "AGE-SECRET-KEY-1" + "Q4ZTB7RN" * 5,
    "aws_secret_access_key = " + letters(40),
    "AccountKey=" + "/+" * 43 + "==",
    "hooks.slack.com/services/" + "T1/" * 9,
    "discordapp.com/api/webhooks/" + "12345678901234567890/" + letters(60),
    "whsec_" + "+/=" * 9,
    "https://me:pass@host",
    "AUTHORIZATION: bearer " + "a.b~c+d/",
    "bearer " + "a.1~c+d/" * 3,
    "SECRET_KEY: " + letters(32),
    "X-Api-Key: " + "a.b~c+d/e=f-g.h.",
    "xoxb-" + letters(10),
    "ya29." + letters(20),
    "SG." + letters(16) + "." + letters(32),
    "eyJ" + letters(8) + ".eyJ" + letters(4) + "." + letters(16),
]
SHORTEST = [token[: -1 - cut] for token in WORDS for cut in range(2)]
ROWS = st.text(alphabet=string.ascii_letters + string.digits + "_-./+:", max_size=70)
PARTS = (
    st.sampled_from([*HINTS, *WORDS, *SHORTEST, *(token for _, token in CASES)]) | ROWS | st.text(max_size=4)
)
UNESCAPED = PARTS.filter(lambda part: not set("\\^<") & set(part))
BETWEEN = st.sampled_from(["", "", " ", "\n", "é", "\u200b", "会", "\U000e0041", "-", "1"])


def secrets_by_full_search(text: str) -> list[tuple[int, int, str, str]]:
    """The definition: every pattern on the whole text, in order; the first match of a span keeps it."""
    indexes = [at for at, char in enumerate(text) if not INVISIBLE.match(char) and not TAGS.match(char)]
    seen = "".join(text[at] for at in indexes)
    taken: list[tuple[int, int]] = []
    found = []
    for pattern in SECRET_PATTERNS:
        group: str | int = "secret" if "secret" in pattern.pattern.groupindex else 0
        for match in pattern.pattern.finditer(seen):
            before = seen[match.start() - 1 : match.start() + 1] if match.start() else ""
            start, end = match.span(group)
            if (before.isascii() and before.isalnum()) or any(a < end and start < b for a, b in taken):
                continue
            taken.append((start, end))
            if not is_example_secret(match[group]):
                found.append((indexes[start], indexes[end - 1] + 1, pattern.rule, pattern.kind))
    return sorted(found)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(UNESCAPED, BETWEEN), max_size=8))
@example([("sk-ant-" + letters(255), ""), ("sk-ant-" + letters(30), " ")])
@example([("12345678901:AA" + letters(33), " "), ("1234567890:AA" + letters(33), "")])
def test_the_search_at_hints_finds_every_secret(parts: list[tuple[str, str]]) -> None:
    text = "".join(word + gap for word, gap in parts)

    found = [(secret.start, secret.end, secret.rule, secret.kind) for secret in find_secrets(text)]

    assert found == secrets_by_full_search(text)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(PARTS, BETWEEN), max_size=4))
def test_json_without_a_hint_has_no_secret(parts: list[tuple[str, str]]) -> None:
    text = "".join(word + gap for word, gap in parts)
    encoded = json.dumps(text)

    assert could_hold_secret(encoded.encode()) or not find_secrets(text)
    assert could_hold_secret(text.encode("utf-8", "surrogatepass")) or not find_secrets(text)


SPELLINGS = (
    lambda text: text,
    lambda text: text.replace("/", "\\/"),
    lambda text: text.replace("/", "\\\\\\/"),
    lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    lambda text: "".join(f"<U+{ord(char):04X}>" for char in text),
    lambda text: "\u200b".join(text),
    lambda text: "\\u200B".join(text),
    lambda text: f"é {text}",
    lambda text: f"\\n{text}\\t",
)


@pytest.mark.parametrize(("rule", "token"), CASES)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_of_a_secret_is_passed_over(rule: str, token: str, spelling) -> None:
    text = spelling(token)

    assert could_hold_secret(text.encode()) or not find_secrets(text)


ESCAPES = st.text(st.sampled_from("\\\\\\nt\"'/u0041bfr^@<U+>x é\u200b"), max_size=24)


@given(ESCAPES)
@example("\\" * 130 + "n")
@example("^\\n^^\\u0041\\u005cn")
def test_escapes_are_decoded_quickly_as_they_are_decoded_one_by_one(text: str) -> None:
    one_by_one = secrets._ESCAPED.sub(lambda match: secrets._character(match[0]), text)

    assert secrets._SpelledText(text, secrets._ESCAPED).text == one_by_one


def test_a_url_without_a_password_is_not_worth_a_search() -> None:
    assert not could_hold_secret(b"see https://example.org/a and ask bob@example.org")
    assert could_hold_secret(b"https://bob:hunter2@example.org/a")


@pytest.mark.parametrize("pattern", SECRET_PATTERNS, ids=lambda pattern: pattern.kind)
def test_the_hints_of_a_pattern_lead_to_its_secrets(pattern: SecretPattern) -> None:
    texts = [word for word in (*WORDS, *(token for _, token in CASES)) if pattern.pattern.search(word)]

    assert texts, "an example of every kind"
    for text in texts:
        found = [
            place
            for each, places in secret_starts(f"é {text}".encode("latin-1"))
            if each is pattern
            for place in places
        ]
        match = pattern.pattern.search(f"é {text}")
        assert match is not None
        assert match.start() in found


def test_a_row_begins_within_reach_of_its_match() -> None:
    longest = "discordapp.com/api/webhooks/" + "1" * 20 + "/"

    assert len(longest) <= REACH
    assert len("AKIA" + "Q" * 16) == RUN


def test_a_token_among_many_long_rows_is_found() -> None:
    text = " ".join([letters(64)] * 5000 + ["npm_" + letters(36)])

    assert [secret.kind for secret in find_secrets(text)] == ["npm token"]
