"""Copies of texts are found in any spelling, and the time grows with the length."""

from __future__ import annotations

import base64
import json
import time
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxview.analysis.text_copies import LONG, CopyFinder, bare_text

SPELLINGS = {
    "plain": str,
    "capitals": str.upper,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "percent": lambda text: quote(text, safe=""),
    "json": lambda text: json.dumps(text)[1:-1],
    "wide": lambda text: " \n".join(text),
}
words = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=3, max_size=12)
texts = st.lists(words, min_size=2, max_size=20).map(" ".join).filter(lambda text: len(bare_text(text)) >= 8)


@pytest.mark.parametrize("spelling", SPELLINGS)
@given(text=texts, before=words, after=words)
@example(text="mail to Ada at 12 Orchard Row", before="abc", after="xyz")
def test_a_copy_is_found_and_covered(spelling: str, text: str, before: str, after: str) -> None:
    copy = SPELLINGS[spelling](text)
    whole = f"{before} | {copy} | {after}"
    found = CopyFinder([(text, "hidden")]).find(whole)
    start = len(before) + 3
    assert any(first <= start and last >= start + len(copy.rstrip()) for first, last, _ in found), found


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=5))
def test_copies_are_in_order_and_inside_the_text(text: str, hidden: list[str]) -> None:
    found = CopyFinder([(each, None) for each in hidden]).find(text)
    ends = [0, *(place for start, end, _ in found for place in (start, end)), len(text)]
    assert ends == sorted(ends)


@given(texts, st.integers(0, 30), st.integers(LONG * 2, 80))
def test_a_long_part_of_a_text_is_found(text: str, start: int, length: int) -> None:
    part = (text * 3)[start : start + length]
    found = CopyFinder([(text * 3, None)]).find(f"<<{part}>>")
    assert found or len(bare_text(part)) < LONG


@pytest.mark.parametrize(
    ("hidden", "text"),
    [
        ("1234", "12345 on 1234-05-06, 0.1234, x1234"),
        ("ab", "cab, ab"),
        ("the third flowerpot", "the third flower pot's neighbour"[:16]),
        ("Good day. I am well.", "good day"),
        ("", "anything"),
    ],
)
def test_a_near_miss_is_not_a_copy(hidden: str, text: str) -> None:
    assert CopyFinder([(hidden, None)]).find(text) == ()


@pytest.mark.parametrize(
    ("hidden", "text"),
    [
        ("a " * 8000 + "b", "a " * 16000),
        ("a " * 64000 + "b", "a " * 128000),
        ("ab " * 40000, "ab " * 80000 + "c"),
        ("needle in a haystack", "aa " * 60000 + "aaa"),
        ("needle in a haystack", "needle in a hay" * 10000),
        ("needle in a haystack", r"\\%41+&amp;" * 15000),
        ("needle in a haystack", " " * 100000 + "…" * 1000),
        ("needle in a haystack", "QUFB" * 40000),
    ],
)
def test_repetitive_texts_take_no_longer(hidden: str, text: str) -> None:
    start = time.process_time()
    CopyFinder([(hidden, None)]).find(text)
    # Linear search takes at most 0.4 s of processor time; comparing every place takes minutes.
    assert time.process_time() - start < 8
