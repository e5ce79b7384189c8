"""The size of a value as `JSON.stringify` writes it: no spaces, JavaScript's numbers, UTF-8."""

from __future__ import annotations

import json
import math
import re

from ctxview.origin import JsonValue

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_EXPONENT = re.compile(r"e([+-])0*(\d+)$")


def compact_size(value: JsonValue) -> int:
    """How many bytes the compact JSON of `value` has."""
    size, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            # Braces, a colon for each member, commas between them.
            size += 2 + len(item) + max(0, len(item) - 1) + sum(_string_size(key) for key in item)
            waiting.extend(item.values())
        elif isinstance(item, list):
            size += 2 + max(0, len(item) - 1)
            waiting.extend(item)
        elif isinstance(item, str):
            size += _string_size(item)
        else:
            size += len(_plain(item))
    return size


def _string_size(text: str) -> int:
    written = json.dumps(text, ensure_ascii=False)
    return len(_LONE_SURROGATE.sub("\\\\udxxx", written).encode())


def _plain(value: float | None) -> str:
    """A number, boolean or null as JavaScript writes it."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int) and abs(value) < 10**21:
        return str(value)
    try:
        number = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(number):
        return "null"
    if number.is_integer() and abs(number) < 1e21:
        return str(int(number))
    return _javascript(number)


def _javascript(number: float) -> str:
    """Python and JavaScript agree on the digits, but not on when to write an exponent."""
    written = repr(number)
    if 1e-6 <= abs(number) < 1e-4:
        return f"{number:.{_digits(written)}f}"
    return _EXPONENT.sub(lambda found: f"e{found[1]}{found[2]}", written)


def _digits(written: str) -> int:
    """How many places behind the dot `written` (such as 1.5e-05) needs."""
    mantissa, _, exponent = written.partition("e-")
    return len(mantissa.partition(".")[2].rstrip("0")) + int(exponent)
