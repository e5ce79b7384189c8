"""Untrusted text is made visible, and nothing of it is dropped."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.files.visible_text import is_safe, visible, visible_parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain é 日本 😀", "plain é 日本 😀"),
        ("\x1b[31mred", "^[[31mred"),
        ("\x00\x07\x7f", "^@^G^?"),
        ("\x9b31m", "<U+009B>31m"),
        ("a\tb\r\nc", "a^Ib^M^Jc"),
        ("abc\u202edef", "abc<U+202E>def"),
        ("zero\u200bwidth\ufeff", "zero<U+200B>width<U+FEFF>"),
        ("\u2028\u2029", "<U+2028><U+2029>"),
        ("tag\U000e0041", "tag<U+E0041>"),
        ("👩\u200d💻 ❤\ufe0f", "👩<U+200D>💻 ❤<U+FE0F>"),
        (
            "\u3164\u115f\u1160\uffa0\u2800\u034f\u17b4",
            "<U+3164><U+115F><U+1160><U+FFA0><U+2800><U+034F><U+17B4>",
        ),
        ("\ud800", "<U+D800>"),
        ("\ue000\U0010ffff\u0378", "<U+E000><U+10FFFF><U+0378>"),
        ("soft\u00adhyphen", "soft<U+00AD>hyphen"),
        ("thin\u2009space\u00a0\u3000", "thin\u2009space\u00a0\u3000"),
    ],
)
def test_unsafe_characters_are_escaped(text: str, expected: str) -> None:
    assert visible(text) == expected
    assert is_safe(text) == (text == expected)


def test_layout_is_kept_only_on_request() -> None:
    assert visible("a\tb\nc\r\n\x1b", keep_layout=True) == "a\tb\nc^M\n^["
    assert visible("a\tb\n", keep_layout=True) == "a\tb\n"


@pytest.mark.parametrize("block", range(17))
def test_no_character_of_an_unsafe_category_is_printed(block: int) -> None:
    harmful = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    expected = visible(
        "".join(map(chr, range(block * 0x10000, min(block * 0x10000 + 0x10000, sys.maxunicode + 1))))
    )

    assert not [char for char in set(expected) if unicodedata.category(char) in harmful]


@given(st.text(max_size=30), st.booleans())
@settings(max_examples=15, deadline=None)
def test_the_parts_together_are_the_visible_text(text: str, keep_layout: bool) -> None:
    parts = visible_parts(text, keep_layout)

    assert "".join(piece for piece, _ in parts) == visible(text, keep_layout)
    assert all(piece for piece, _ in parts)
    assert any(escaped for _, escaped in parts) == (visible(text, keep_layout) != text)


def test_parts_say_which_text_was_escaped() -> None:
    assert visible_parts("a\x1b\x1bb]^-\\\x05") == [
        ("a", False),
        ("^[^[", True),
        ("b]^-\\", False),
        ("^E", True),
    ]
    assert visible_parts("") == []
    assert visible_parts("a\nb", keep_layout=True) == [("a\nb", False)]
