"""What is wrong with the bounds of a selector; the draft names its types and not their members.

Members are read under all names in use; where none is there, nothing is known and nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxview.analysis.wording import quoted, shown, spelled
from ctxview.formats.envelope.model import text
from ctxview.origin import JsonValue

STARTS = ("start", "from", "begin", "first", "start_line", "line_start", "start_byte", "start_offset")
ENDS = ("end", "to", "until", "last", "end_line", "line_end", "end_byte", "end_offset")
LENGTHS = ("length", "count", "width", "height", "duration")
FIRST = {"line_range": 1, "page_region": 1}
"""Lines and pages are counted from 1, all else from 0."""
WHOLE = ("line_range", "byte_range", "text_position")
"""Ranges of things that have no parts."""
LITERALS = {
    "text_quote": ("exact",),
    "css_selector": ("value", "selector", "css"),
    "xpath": ("value", "xpath", "path"),
}
"""Types that are nothing without their text, and its names."""
POINTERS = ("pointer", "value", "path", "json_pointer")


def faults_of(selector: Mapping[str, JsonValue]) -> Iterator[str]:
    kind = text(selector.get("type"))
    if kind is None:
        yield "the selector does not say its type"
        return
    if kind in LITERALS:
        yield from _blank_literal(kind, selector)
    elif kind == "json_pointer":
        yield from _bad_pointer(selector)
    else:
        yield from _bad_range(kind, selector)


def _blank_literal(kind: str, selector: Mapping[str, JsonValue]) -> Iterator[str]:
    for name in LITERALS[kind]:
        value = selector.get(name)
        if isinstance(value, str) and not value.strip():
            yield f"the {name} of the {kind} selector is blank: it selects nothing"


def _bad_pointer(selector: Mapping[str, JsonValue]) -> Iterator[str]:
    pointer = next((found for name in POINTERS if (found := text(selector.get(name))) is not None), None)
    if pointer and not pointer.startswith(("/", "#")):
        yield f"the json_pointer {quoted(pointer)} does not begin with /"


def _bad_range(kind: str, selector: Mapping[str, JsonValue]) -> Iterator[str]:
    numbers: dict[str, float] = {}
    for name in (*STARTS, *ENDS, *LENGTHS, "page"):
        value = selector.get(name)
        # A media range may be written as times of the clock: 00:01:30.
        if value is None or (kind not in WHOLE and isinstance(value, str)):
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield f"the {name} of the {shown(kind)} selector is {spelled(value)}, not a number"
            continue
        numbers[name] = value
        if kind in WHOLE and value != value // 1:
            yield f"the {name} of the {kind} selector is {spelled(value)}, not a whole number"
        elif value < (least := _least(kind, name)):
            yield f"the {name} of the {shown(kind)} selector is {spelled(value)}, less than {least}"
    start = next((name for name in STARTS if name in numbers), None)
    end = next((name for name in ENDS if name in numbers), None)
    if start is not None and end is not None and numbers[end] < numbers[start]:
        values = f"{spelled(numbers[start])} to {spelled(numbers[end])}"
        yield f"the {shown(kind)} selector ends before it begins ({values})"


def _least(kind: str, name: str) -> int:
    if name == "page":
        return 1
    return FIRST.get(kind, 0) if name in (*STARTS, *ENDS) else 0
