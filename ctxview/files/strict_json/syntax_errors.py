"""The reasons why a text is not JSON, in words for the person who repairs it; the scanner decides."""

from __future__ import annotations

from typing import Final

from ctxview.core.lazy import lazy_pattern

_NAME: Final = lazy_pattern(rb"-?[A-Za-z_$][A-Za-z0-9_$]{0,30}")
_CUT_ESCAPE: Final = lazy_pattern(rb"\\(?:u[0-9a-fA-F]{0,3})?")
_DIGITS: Final = b"0123456789"
_SPACES: Final = b" \t\n\r"
_CONTAINERS: Final = {ord("{"): ("object", "member", "}"), ord("["): ("array", "element", "]")}
_NOT_JSON: Final = {"True": "true", "False": "false", "None": "null", "nil": "null", "undefined": "null"}
_NUMBER_WORDS: Final = ("NaN", "Infinity", "-Infinity", "-NaN", "inf", "-inf", "nan", "-nan")


class SyntaxFault(ValueError):
    """The text stops being JSON at a byte offset, for a reason."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason


def bad_utf8(byte: int) -> str:
    return f"the byte 0x{byte:02X} does not belong to any UTF-8 character"


def unclosed_string(quote: int) -> SyntaxFault:
    return SyntaxFault(quote, "the string that starts here is never closed")


def in_string(data: bytes, position: int, end: int, quote: int) -> SyntaxFault:
    """Return the fault of an invalid character or escape at `position` in the string from `quote`."""
    byte = data[position]
    if byte == ord("\\"):
        if _CUT_ESCAPE.fullmatch(data, position, end):
            return unclosed_string(quote)
        if data[position + 1] == ord("u"):
            return SyntaxFault(position, "\\u needs four hexadecimal digits behind it")
        return SyntaxFault(position, f"\\{_found(data, position + 1, end)} is not a JSON escape")
    if byte in b"\r\n":
        return SyntaxFault(position, 'a string may not contain a line end: write \\n, or close it with "')
    return SyntaxFault(
        position, f"the control character U+{byte:04X} inside a string must be written \\u{byte:04x}"
    )


def never_closed(data: bytes, opener: int) -> SyntaxFault:
    return SyntaxFault(opener, f"the {_CONTAINERS[data[opener]][0]} that starts here is never closed")


def wrong_closer(data: bytes, position: int, opener: int) -> SyntaxFault:
    return SyntaxFault(position, f"{chr(data[position])} cannot close {chr(data[opener])}")


def no_key(data: bytes, position: int, end: int, opener: int) -> SyntaxFault:
    """Return the fault where a key of an object is expected."""
    if position == end:
        return never_closed(data, opener)
    before = _previous_byte(data, position, opener)
    byte = data[position]
    if byte in b"}]" and data[before] == ord(","):
        return SyntaxFault(before, f"trailing comma before {chr(byte)}")
    if byte == ord("]"):
        return wrong_closer(data, position, opener)
    if byte == ord(","):
        return SyntaxFault(position, "a member is missing before this comma")
    if byte == ord("'"):
        return SyntaxFault(position, "a key needs double quotes, not single ones")
    if name := _NAME.match(data, position, end):
        return SyntaxFault(position, f"the key {name[0].decode()} needs double quotes around it")
    return _comment(data, position) or SyntaxFault(
        position, f"a key in double quotes is expected here, not {_found(data, position, end)}"
    )


def no_colon(data: bytes, position: int, end: int, opener: int) -> SyntaxFault:
    if position == end:
        return never_closed(data, opener)
    found = _found(data, position, end)
    return SyntaxFault(position, f"a colon is missing between the key and its value: found {found}")


def no_value(data: bytes, position: int, end: int, floor: int) -> SyntaxFault:
    """Return the fault where a value is expected; `floor` is its container, or the start of the text."""
    byte = data[position]
    before = _previous_byte(data, position, floor)
    if byte in b",]}":
        return _missing_value(data, position, before)
    if byte == ord("'"):
        return SyntaxFault(position, "a string needs double quotes, not single ones")
    if byte in b"+.-" + _DIGITS:
        return SyntaxFault(position, _bad_number(data, position, end))
    if name := _NAME.match(data, position, end):
        return SyntaxFault(position, _bad_word(name[0].decode()))
    if data.startswith(b"\xef\xbb\xbf", position):
        return SyntaxFault(position, "a byte order mark (U+FEFF) comes before the value: remove it")
    return _comment(data, position) or SyntaxFault(
        position, f"a value is expected here, not {_found(data, position, end)}"
    )


def after_value(data: bytes, position: int, end: int, opener: int) -> SyntaxFault:
    """Return the fault behind an item that ends at `position`, where only a comma or closer may follow."""
    kind, part, closer = _CONTAINERS[data[opener]]
    place = position
    while place < end and data[place] in _SPACES:
        place += 1
    if place == end:
        return never_closed(data, opener)
    if place == position and (reason := _bad_continuation(data, position, end)):
        return SyntaxFault(position, reason)
    if data[place] in b'"{[-tfn' + _DIGITS:
        return SyntaxFault(place, f"a comma is missing between two {part}s")
    if data[place] == ord(":") and kind == "array":
        return SyntaxFault(place, "a colon is not allowed in an array: only objects have keys")
    return _comment(data, place) or SyntaxFault(
        place, f"a comma or {closer} is expected here, not {_found(data, place, end)}"
    )


def after_root(data: bytes, position: int, end: int, *, touching: bool) -> SyntaxFault:
    """Return the fault behind the only value, where nothing may follow."""
    if touching and (reason := _bad_continuation(data, position, end)):
        return SyntaxFault(position, reason)
    if data[position] in b"]}":
        return SyntaxFault(position, f"this {chr(data[position])} closes nothing")
    return _comment(data, position) or SyntaxFault(
        position, f"unexpected {_found(data, position, end)} after the end of the JSON value"
    )


def _previous_byte(data: bytes, position: int, floor: int) -> int:
    """Return the offset of the last byte before `position` that is not whitespace, at least `floor`."""
    position -= 1
    while position > floor and data[position] in _SPACES:
        position -= 1
    return max(position, floor)


def _missing_value(data: bytes, position: int, before: int) -> SyntaxFault:
    closer = chr(data[position])
    if before < position and data[before] == ord(":"):
        return SyntaxFault(position, "a value is missing after the colon")
    if data[position] == ord(","):
        return SyntaxFault(position, "a value is missing before this comma")
    if before < position and data[before] == ord(","):
        return SyntaxFault(before, f"trailing comma before {closer}")
    if before < position and data[before] == ord("["):
        return wrong_closer(data, position, before)
    return SyntaxFault(position, f"this {closer} closes nothing")


def _bad_word(word: str) -> str:
    if word in _NUMBER_WORDS:
        return f"{word} is not JSON"
    if word in _NOT_JSON:
        return f"{word} is not JSON: write {_NOT_JSON[word]}"
    if word.lower() in ("true", "false", "null"):
        return f"{word} is not JSON: write {word.lower()}"
    return f"{word} is not a JSON value: text needs double quotes around it"


def _bad_number(data: bytes, position: int, end: int) -> str:
    """Return why the text at `position`, which starts with a sign, dot or digit, is not a number."""
    if data[position] == ord("+"):
        return "a number cannot start with +"
    if data[position] == ord("."):
        return "a number needs a digit before the dot"
    if name := _NAME.match(data, position, end):
        return _bad_word(name[0].decode())
    return "a minus sign needs a digit behind it"


def _bad_continuation(data: bytes, position: int, end: int) -> str | None:
    """Return why the number or word that ends at `position` cannot continue with the next byte, or None."""
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
    return f"unexpected {_found(data, position, end)} directly after the value"


def _comment(data: bytes, position: int) -> SyntaxFault | None:
    if data.startswith((b"//", b"/*", b"#"), position):
        return SyntaxFault(position, "comments are not JSON")
    return None


def _found(data: bytes, position: int, end: int) -> str:
    """Return the character at `position`, safe to print."""
    if position >= end:
        return "the end"
    char = data[position : min(position + 4, end)].decode("utf-8", "ignore")[:1]
    if char == "":
        return f"the byte 0x{data[position]:02X}"
    if char.isascii() and char.isprintable() and char != " ":
        return char
    return f"U+{ord(char):04X}"
