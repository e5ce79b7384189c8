"""The few places where a JavaScript runtime and Python disagree about a value."""

from __future__ import annotations

import pytest

from ctxview.formats.snapshot.javascript import cut, finite_number, trim


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
def test_what_counts_as_a_number(value: object, number: float | None) -> None:
    assert finite_number(value) == number  # type: ignore[arg-type]


def test_trimming_takes_what_javascript_takes() -> None:
    assert trim("\ufeff\u00a0\u3000 x \u2028") == "x"
    assert trim("\x85x\x1f") == "\x85x\x1f"


def test_cutting_may_halve_a_character() -> None:
    assert cut("ab😀", 3) == "ab\ud83d"
    assert cut("ab😀", 4) == "ab😀"
    assert cut("ab😀", None) == "ab😀"
