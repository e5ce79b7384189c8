"""JavaScript operations that differ from Python's: trimming, numbers, cutting texts, ordering texts and keys.

Only the operations that the reference runtime applies to snapshots; this module knows no snapshots.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping

from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue

WHITESPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""The characters String.prototype.trim removes; unlike str.strip it keeps U+0085 and U+001C to U+001F."""


def trim(text: str) -> str:
    return text.strip(WHITESPACE)


def finite_number(value: JsonValue) -> float | None:
    """Return the finite number that `value` is, or that Number() reads from it as a non-blank string."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _number_in(trim(value))
    if isinstance(value, int | float):
        found = _as_float(value)
        return value if math.isfinite(found) else None
    return None


def number_text(value: float) -> str:
    """Return a number as String() writes it; `null` for one that is not finite, as in JSON."""
    found = _as_float(value)
    if not math.isfinite(found):
        return "null"
    mantissa, _, power = repr(abs(found)).partition("e")
    whole, _, fraction = mantissa.removesuffix(".0").partition(".")
    point = len(whole) + int(power or 0)
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    sign = "-" if found < 0 else ""
    if len(digits) <= point <= 21:
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+}"


def ordered_members(value: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    """Yield the members in the order of Object.keys: array indexes first, by their number."""
    indexes = [key for key in value if _ARRAY_INDEX.fullmatch(key) and int(key) < 4294967295]
    if indexes:
        first = dict.fromkeys(sorted(indexes, key=int))
        yield from ((key, value[key]) for key in (*first, *(key for key in value if key not in first)))
    else:
        yield from value.items()


def cut(text: str, units: int | None) -> str:
    """Return the first `units` UTF-16 units, like String.prototype.slice (half a pair included)."""
    if units is None or len(text) * 2 <= units or (len(text) <= units and text.isascii()):
        return text
    return text.encode("utf-16-le", "surrogatepass")[: units * 2].decode("utf-16-le", "surrogatepass")


def collation_key(text: str) -> tuple[str, str, str]:
    """Return a sort key that orders nearly as localeCompare does.

    An approximation of the root collation: punctuation before digits before letters, then accents, then lower
    before upper case. Letters outside ASCII follow in code point order, so mixed scripts may differ from ICU.
    """
    if text.isascii():
        return text.translate(_ORDER), "", text.swapcase()
    parts = unicodedata.normalize("NFD", text)
    bare = "".join(char for char in parts if not unicodedata.combining(char))
    accents = "".join(char for char in parts if unicodedata.combining(char))
    return bare.lower().translate(_ORDER), accents, bare.swapcase()


_SIGNS = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ORDER: dict[int, int | None] = {
    **dict.fromkeys((*range(32), 127)),
    **{ord(char): rank for rank, char in enumerate(_SIGNS + _LETTERS)},
    **{ord(char.upper()): rank for rank, char in enumerate(_LETTERS, len(_SIGNS))},
}
"""ASCII in the order of the root collation, both cases alike; control characters are ignored."""
_ARRAY_INDEX = lazy_pattern(r"0|[1-9][0-9]{0,9}", re.ASCII)
_RADIX = lazy_pattern(r"0([xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_DECIMAL = lazy_pattern(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def _number_in(text: str) -> float | None:
    if _RADIX.fullmatch(text):
        return _as_float(int(text, 0)) if len(text) < 64 else None
    if not _DECIMAL.fullmatch(text):
        return None
    found = float(text)
    return found if math.isfinite(found) else None


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
