"""JSON lines under edits: a record stays on its line, and a new one is spelled like its neighbours."""

from __future__ import annotations

from ctxview.files.json_document import JsonError, parse
from ctxview.files.splice import SpliceError, insert_item
from ctxview.origin import JsonValue


def on_one_line(before: bytes, after: bytes) -> bytes:
    """`after`, if it has as many lines as `before`; raises `SpliceError`."""
    if after.count(b"\n") != before.count(b"\n"):
        raise SpliceError("the record would not stay on one line")
    return after


def spelled_like(neighbour: bytes, value: JsonValue) -> bytes:
    """An object on one line, spaced as that neighbour is; raises `SpliceError`."""
    both = insert_item(parse(b"[" + neighbour.strip() + b"]"), "/-", value)
    span = parse(both).span("/1")
    assert span is not None, "an element was just put there"
    return on_one_line(b"", both[slice(*span)])


def append_line(data: bytes, line: bytes) -> bytes:
    """`data` with one more line at its end."""
    ended = data if not data or data.endswith(b"\n") else data + b"\n"
    return ended + line + b"\n"


def is_object_text(data: bytes) -> bool:
    """Whether bytes are a JSON object with something in it: a neighbour to spell like."""
    try:
        value = parse(data).value
    except JsonError:
        return False
    return isinstance(value, dict) and bool(value)
