"""The operations in which JavaScript and Python differ."""

from __future__ import annotations

import pytest

from ctxview.formats.snapshot.runtime.javascript import cut, finite_number, trim


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.5, 0.5),
        (3, 3),
        ("0.5", 0.5),
        (" 1e2 ", 100.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("0x10", 16.0),
        ("0b11", 3.0),
        ("-0x10", None),
        ("1_000", None),
        ("٣", None),
        ("Infinity", None),
        ("1e999", None),
        ("", None),
        (" ", None),
        (True, None),
        (None, None),
        ([], None),
        (float("inf"), None),
        (10**400, None),
    ],
)
def test_numbers_are_converted_as_javascript_does(value: object, number: float | None) -> None:
    assert finite_number(value) == number  # type: ignore[arg-type]


def test_trimming_removes_the_same_characters_as_javascript() -> None:
    assert trim("\ufeff\u00a0\u3000 x \u2028") == "x"
    assert trim("\x85x\x1f") == "\x85x\x1f"


def test_cutting_may_split_a_surrogate_pair() -> None:
    assert cut("ab😀", 3) == "ab\ud83d"
    assert cut("ab😀", 4) == "ab😀"
    assert cut("ab😀", None) == "ab😀"
