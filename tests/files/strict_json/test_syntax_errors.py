"""The messages about broken JSON."""

from __future__ import annotations

import pytest

from ctxview.files.strict_json.document import JsonError, parse

CASES = {
    '{\n "a": 1\n "b": 2\n}': (3, 2, "a comma is missing between two members"),
    "[1\n 2]": (2, 2, "a comma is missing between two elements"),
    '["abc, 1]': (1, 2, "the string that starts here is never closed"),
    '["abc\\': (1, 2, "the string that starts here is never closed"),
    '["abc\\u00': (1, 2, "the string that starts here is never closed"),
    '{"a": 1,\n}': (1, 8, "trailing comma before }"),
    "[1, 2,\n]": (1, 6, "trailing comma before ]"),
    "[1,}": (1, 3, "trailing comma before }"),
    "[NaN]": (1, 2, "NaN is not JSON"),
    "[-Infinity]": (1, 2, "-Infinity is not JSON"),
    "[True]": (1, 2, "True is not JSON: write true"),
    "[NULL]": (1, 2, "NULL is not JSON: write null"),
    "[None]": (1, 2, "None is not JSON: write null"),
    "[abc]": (1, 2, "abc is not a JSON value: text needs double quotes around it"),
    "[truely]": (1, 6, "unexpected l directly after the value"),
    "{a: 1}": (1, 2, "the key a needs double quotes around it"),
    "{'a': 1}": (1, 2, "a key needs double quotes, not single ones"),
    "{1: 1}": (1, 2, "a key in double quotes is expected here, not 1"),
    "['a']": (1, 2, "a string needs double quotes, not single ones"),
    '{"a" 1}': (1, 6, "a colon is missing between the key and its value: found 1"),
    '{"a"}': (1, 5, "a colon is missing between the key and its value: found }"),
    '{"a":}': (1, 6, "a value is missing after the colon"),
    '{"a":,': (1, 6, "a value is missing after the colon"),
    "[,1]": (1, 2, "a value is missing before this comma"),
    "[1,,2]": (1, 4, "a value is missing before this comma"),
    "{,}": (1, 2, "a member is missing before this comma"),
    '["a": 1]': (1, 5, "a colon is not allowed in an array: only objects have keys"),
    '{"a": 1: 2}': (1, 8, "a comma or } is expected here, not :"),
    "[1}": (1, 3, "} cannot close ["),
    '{"a": [1}': (1, 9, "} cannot close ["),
    "[}": (1, 2, "} cannot close ["),
    "{]": (1, 2, "] cannot close {"),
    '{"a": {\n"b": 1': (1, 7, "the object that starts here is never closed"),
    "[1, [2": (1, 5, "the array that starts here is never closed"),
    '{"a"': (1, 1, "the object that starts here is never closed"),
    '{"a":': (1, 1, "the object that starts here is never closed"),
    "[1]]": (1, 4, "this ] closes nothing"),
    "}": (1, 1, "this } closes nothing"),
    "1 2": (1, 3, "unexpected 2 after the end of the JSON value"),
    "[01]": (1, 3, "a number cannot have a leading zero"),
    "[1.]": (1, 3, "a number needs a digit after the dot"),
    "[1.5.2]": (1, 5, "a comma or ] is expected here, not ."),
    "[.5]": (1, 2, "a number needs a digit before the dot"),
    "[1e]": (1, 3, "a number needs a digit in its exponent"),
    "[+1]": (1, 2, "a number cannot start with +"),
    "[-]": (1, 2, "a minus sign needs a digit behind it"),
    "[0x1F]": (1, 3, "hexadecimal numbers are not JSON"),
    "[1] // done": (1, 5, "comments are not JSON"),
    "{/* c */}": (1, 2, "comments are not JSON"),
    "# c": (1, 1, "comments are not JSON"),
    '"\\x41"': (1, 2, "\\x is not a JSON escape"),
    '"\\\x1b"': (1, 2, "\\U+001B is not a JSON escape"),
    '"\\u12 "': (1, 2, "\\u needs four hexadecimal digits behind it"),
    '"a\nb"': (1, 3, 'a string may not contain a line end: write \\n, or close it with "'),
    '"a\x01"': (1, 3, "the control character U+0001 inside a string must be written \\u0001"),
    "\ufeff{}": (1, 1, "a byte order mark (U+FEFF) comes before the value: remove it"),
    "[\u201ca\u201d]": (1, 2, "a value is expected here, not U+201C"),
    "[1,\u00a02]": (1, 4, "a value is expected here, not U+00A0"),
    "[1 \x1b]": (1, 4, "a comma or ] is expected here, not U+001B"),
    '["é"\n, "日本" x]': (2, 8, "a comma or ] is expected here, not x"),
    "": (1, 1, "the text is empty: a JSON value is expected"),
}


@pytest.mark.parametrize(("text", "expected"), CASES.items(), ids=[repr(text) for text in CASES])
def test_an_error_names_the_line_the_column_and_the_reason(text: str, expected: tuple[int, int, str]) -> None:
    with pytest.raises(JsonError) as caught:
        parse(text.encode())

    assert (caught.value.place.line, caught.value.place.column, caught.value.reason) == expected


def test_a_byte_that_is_not_utf8_is_named() -> None:
    with pytest.raises(
        JsonError, match="line 1 column 3: the byte 0xFF does not belong to any UTF-8 character"
    ):
        parse(b'["\xff"]')


def test_reasons_never_contain_control_characters() -> None:
    for text in CASES:
        with pytest.raises(JsonError) as caught:
            parse(text.encode())
        assert caught.value.reason.isprintable()
