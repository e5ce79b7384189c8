"""Why a text is not JSON, in words for the person who has to mend it; it judges nothing, the scanner does."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(rb"-?[A-Za-z_$][A-Za-z0-9_$]{0,30}")
_CUT_ESCAPE: Final = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?")
_DIGITS: Final = b"0123456789"
_SPACES: Final = b" \t\n\r"
_CONTAINERS: Final = {ord("{"): ("object", "member", "}"), ord("["): ("array", "element", "]")}
_NOT_JSON: Final = {"True": "true", "False": "false", "None": "null", "nil": "null", "undefined": "null"}
_NUMBER_WORDS: Final = ("NaN", "Infinity", "-Infinity", "-NaN", "inf", "-inf", "nan", "-nan")


class Malformed(ValueError):
    """The text stops being JSON at a byte offset, for a reason."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason


def not_utf8(byte: int) -> str:
    return f"the byte 0x{byte:02X} does not belong to any UTF-8 character"


def unclosed_string(quote: int) -> Malformed:
    return Malformed(quote, "the string that starts here is never closed")


def in_string(data: bytes, position: int, end: int, quote: int) -> Malformed:
    """The string that opens at `quote` holds something at `position` that may not stand there as it is."""
    byte = data[position]
    if byte == ord("\\"):
        if _CUT_ESCAPE.fullmatch(data, position, end):
            return unclosed_string(quote)
        if data[position + 1] == ord("u"):
            return Malformed(position, "\\u needs four hexadecimal digits behind it")
        return Malformed(position, f"\\{_found(data, position + 1, end)} is not an escape that JSON knows")
    if byte in b"\r\n":
        return Malformed(
            position, 'a string may not go over the end of a line: write \\n, or close it with "'
        )
    return Malformed(
        position, f"the control character U+{byte:04X} inside a string must be written \\u{byte:04x}"
    )


def never_closed(data: bytes, opener: int) -> Malformed:
    return Malformed(opener, f"the {_CONTAINERS[data[opener]][0]} that starts here is never closed")


def wrong_closer(data: bytes, position: int, opener: int) -> Malformed:
    return Malformed(position, f"{chr(data[position])} cannot close what {chr(data[opener])} opened")


def no_key(data: bytes, position: int, end: int, opener: int) -> Malformed:
    """In an object, where a key should stand."""
    if position == end:
        return never_closed(data, opener)
    before = _back(data, position, opener)
    byte = data[position]
    if byte in b"}]" and data[before] == ord(","):
        return Malformed(before, f"trailing comma before {chr(byte)}")
    if byte == ord("]"):
        return wrong_closer(data, position, opener)
    if byte == ord(","):
        return Malformed(position, "a member is missing before this comma")
    if byte == ord("'"):
        return Malformed(position, "a key needs double quotes, not single ones")
    if name := _NAME.match(data, position, end):
        return Malformed(position, f"the key {name[0].decode()} needs double quotes around it")
    return _comment(data, position) or Malformed(
        position, f"a key in double quotes is expected here, not {_found(data, position, end)}"
    )


def no_colon(data: bytes, position: int, end: int, opener: int) -> Malformed:
    if position == end:
        return never_closed(data, opener)
    found = _found(data, position, end)
    return Malformed(position, f"a colon is missing between the key and its value: found {found}")


def no_value(data: bytes, position: int, end: int, floor: int) -> Malformed:
    """Where a value should stand. `floor` is the container around it, or the start of the text."""
    byte = data[position]
    before = _back(data, position, floor)
    if byte in b",]}":
        return _missing_value(data, position, before)
    if byte == ord("'"):
        return Malformed(position, "a string needs double quotes, not single ones")
    if byte in b"+.-" + _DIGITS:
        return Malformed(position, _bad_number(data, position, end))
    if name := _NAME.match(data, position, end):
        return Malformed(position, _bad_word(name[0].decode()))
    if data.startswith(b"\xef\xbb\xbf", position):
        return Malformed(position, "a byte order mark (U+FEFF) stands before the value: remove it")
    return _comment(data, position) or Malformed(
        position, f"a value is expected here, not {_found(data, position, end)}"
    )


def after_value(data: bytes, position: int, end: int, opener: int) -> Malformed:
    """Behind a member or element that is over at `position`, where only a comma or the closer may stand."""
    kind, part, closer = _CONTAINERS[data[opener]]
    place = position
    while place < end and data[place] in _SPACES:
        place += 1
    if place == end:
        return never_closed(data, opener)
    if place == position and (reason := _run_on(data, position, end)):
        return Malformed(position, reason)
    if data[place] in b'"{[-tfn' + _DIGITS:
        return Malformed(place, f"a comma is missing between two {part}s")
    if data[place] == ord(":") and kind == "array":
        return Malformed(place, "a colon cannot stand in an array: only objects have keys")
    return _comment(data, place) or Malformed(
        place, f"a comma or {closer} is expected here, not {_found(data, place, end)}"
    )


def after_root(data: bytes, position: int, end: int, *, touching: bool) -> Malformed:
    """Behind the one value, where nothing may stand."""
    if touching and (reason := _run_on(data, position, end)):
        return Malformed(position, reason)
    if data[position] in b"]}":
        return Malformed(position, f"this {chr(data[position])} closes nothing")
    return _comment(data, position) or Malformed(
        position, f"the JSON value is over, but {_found(data, position, end)} follows"
    )


def _back(data: bytes, position: int, floor: int) -> int:
    """Where the last byte before `position` that is not whitespace stands, but not before `floor`."""
    position -= 1
    while position > floor and data[position] in _SPACES:
        position -= 1
    return max(position, floor)


def _missing_value(data: bytes, position: int, before: int) -> Malformed:
    closer = chr(data[position])
    if before < position and data[before] == ord(":"):
        return Malformed(position, "a value is missing after the colon")
    if data[position] == ord(","):
        return Malformed(position, "a value is missing before this comma")
    if before < position and data[before] == ord(","):
        return Malformed(before, f"trailing comma before {closer}")
    if before < position and data[before] == ord("["):
        return wrong_closer(data, position, before)
    return Malformed(position, f"this {closer} closes nothing")


def _bad_word(word: str) -> str:
    if word in _NUMBER_WORDS:
        return f"{word} is not JSON"
    if word in _NOT_JSON:
        return f"{word} is not JSON: write {_NOT_JSON[word]}"
    if word.lower() in ("true", "false", "null"):
        return f"{word} is not JSON: write {word.lower()}"
    return f"{word} is not a JSON value: text needs double quotes around it"


def _bad_number(data: bytes, position: int, end: int) -> str:
    """Why what starts at `position` with a sign, a dot or a digit is no number at all."""
    if data[position] == ord("+"):
        return "a number cannot start with +"
    if data[position] == ord("."):
        return "a number needs a digit before the dot"
    if name := _NAME.match(data, position, end):
        return _bad_word(name[0].decode())
    return "a minus sign needs a digit behind it"


def _run_on(data: bytes, position: int, end: int) -> str | None:
    """Why the number or word that ends at `position` cannot go on as it does."""
    previous, byte = data[position - 1], data[position]
    if previous in _DIGITS:
        if byte in _DIGITS:
            return "a number cannot have a leading zero"
        if byte == ord(".") and not data[position + 1 : min(position + 2, end)].isdigit():
            return "a number needs a digit after the dot"
        if byte in b"eE":
            return "a number needs a digit in its exponent"
        if byte in b"xX" and previous == ord("0"):
            return "hexadecimal numbers are not JSON"
    if previous in b'"]}' or not _NAME.match(data, position, end):
        return None
    return f"the value runs on with {_found(data, position, end)}"


def _comment(data: bytes, position: int) -> Malformed | None:
    if data.startswith((b"//", b"/*", b"#"), position):
        return Malformed(position, "comments are not JSON")
    return None


def _found(data: bytes, position: int, end: int) -> str:
    """The character at `position`, safe to print."""
    if position >= end:
        return "the end"
    char = data[position : min(position + 4, end)].decode("utf-8", "ignore")[:1]
    if char == "":
        return f"the byte 0x{data[position]:02X}"
    if char.isascii() and char.isprintable() and char != " ":
        return char
    return f"U+{ord(char):04X}"
