"""The layout of a JSON text around one place, and new values written in the same layout.

A new value is written like a *model*: the value it replaces, or its future neighbour. Where the model shows
no example, the text around it does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonDocument
from ctxview.files.visible_text import is_safe

_INDENT: Final = re.compile(rb"[ \t]*")
_SHORT_ESCAPES: Final = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
_EXACT_AS_INTEGER: Final = 1e15
_WHOLE_WITH_FRACTION: Final = re.compile(rb"-?[0-9]+\.0+")
_PADDED_EXPONENT: Final = re.compile(r"e\+?(-?)0*")


class JsonLayout(Struct, frozen=True):
    """The layout at one place: its line end, step of indentation, colon and inline comma.

    `spread` says whether a container without a model takes several lines.
    """

    line_end: bytes
    step: bytes
    colon: bytes
    comma: bytes
    spread: bool


class ValueStyle(Struct, frozen=True):
    """The style of one new value.

    `model` is the node to imitate. `indent` is that of its line; None keeps the value on one line.
    """

    document: JsonDocument
    layout: JsonLayout
    model: int | None
    indent: bytes | None

    @property
    def old_spelling(self) -> bytes:
        return b"" if self.model is None else self.document.data[slice(*self.document.tree.span(self.model))]

    def model_that_starts_with(self, opener: bytes) -> int | None:
        """Return the model if it is a non-empty container that starts with `opener`."""
        if self.model is None or not self.document.tree.children(self.model):
            return None
        return (
            self.model
            if self.document.data.startswith(opener, self.document.tree.span(self.model)[0])
            else None
        )


def layout_at(document: JsonDocument, path: list[int]) -> JsonLayout:
    """Return the layout around the last node of `path`, which starts at the root."""
    tree = document.tree
    samples = [node for node in reversed(path) if tree.children(node)]
    spread = next((node for node in samples if b"\n" in lead(document, node)), None)
    line_end, step = b"\n", b"  "
    if spread is not None:
        space = lead(document, spread)
        line_end = b"\r\n" if b"\r\n" in space else b"\n"
        outer, inner = line_indent(document, tree.span(spread)[0]), indent_after(space)
        if inner.startswith(outer) and inner != outer:
            step = inner[len(outer) :]
    colon = next(_colons(document, samples), b": ")
    comma = next(_inline_commas(document, samples), b", " if colon.endswith(b" ") else b",")
    return JsonLayout(line_end, step, colon, comma, spread is not None)


def lead(document: JsonDocument, node: int) -> bytes:
    """Return the whitespace between the bracket of a container and its first item, which must exist."""
    tree = document.tree
    return document.data[tree.span(node)[0] + 1 : tree.item_start(tree.children(node)[0])]


def indent_after(space: bytes) -> bytes:
    """Return the indentation after the last line end in `space`."""
    found = _INDENT.match(space, space.rfind(b"\n") + 1)
    return found[0] if found else b""


def line_indent(document: JsonDocument, offset: int) -> bytes:
    """Return the indentation of the line that holds `offset`."""
    start = max(document.data.rfind(b"\n", document.start, offset) + 1, document.start)
    found = _INDENT.match(document.data, start, offset)
    return found[0] if found else b""


def write_value(value: JsonValue, style: ValueStyle) -> bytes:
    """Return `value` as JSON in this style."""
    out: list[bytes] = []
    unfinished: list[_Container] = []
    while True:
        if isinstance(value, dict | list) and value:
            unfinished.append(_container(value, style))
            out.append(unfinished[-1].opener)
        else:
            out.append(write_scalar(value, style.old_spelling))
        while unfinished:
            item = next(unfinished[-1].items, None)
            if item is not None:
                break
            out.append(unfinished.pop().closer)
        else:
            return b"".join(out)
        prefix, value, style = item
        out.append(prefix)


def write_scalar(value: JsonValue, old: bytes = b"") -> bytes:
    """Return a scalar or empty container as JSON; a whole number keeps the `.0` of its `old` spelling."""
    if isinstance(value, str):
        return write_string(value)
    if isinstance(value, bool) or value is None:
        return {True: b"true", False: b"false", None: b"null"}[value]
    if isinstance(value, int | float):
        return _write_number(value, keep_fraction=bool(_WHOLE_WITH_FRACTION.fullmatch(old)))
    return b"{}" if isinstance(value, dict) else b"[]"


def write_string(text: str) -> bytes:
    """Return a JSON string with all unsafe characters escaped."""
    if is_safe(text) and '"' not in text and "\\" not in text:
        return b'"%b"' % text.encode()
    return b'"%b"' % "".join(map(_escape, text)).encode()


class _Container(Struct, frozen=True):
    """The opener, the closer and the items of a container; each item has a prefix, a value and a style."""

    opener: bytes
    items: Iterator[tuple[bytes, JsonValue, ValueStyle]]
    closer: bytes


def _container(value: dict[str, JsonValue] | list[JsonValue], style: ValueStyle) -> _Container:
    opener, closer = (b"{", b"}") if isinstance(value, dict) else (b"[", b"]")
    model = style.model_that_starts_with(opener)
    space = None if model is None else lead(style.document, model)
    spread = style.layout.spread if space is None else b"\n" in space
    if style.indent is None or not spread:
        indent = None
        first = end = b"" if space is None or b"\n" in space else space
        between = next(_inline_commas(style.document, [] if model is None else [model]), style.layout.comma)
    else:
        end = style.layout.line_end + style.indent
        first = end + style.layout.step
        between, indent = b"," + first, indent_after(first)
    items = (
        ((between if index else first) + name, item, replace(style, model=item_model, indent=indent))
        for index, (name, item, item_model) in enumerate(_named_items(value, style, model))
    )
    return _Container(opener, items, end + closer)


def _named_items(
    value: dict[str, JsonValue] | list[JsonValue], style: ValueStyle, model: int | None
) -> Iterator[tuple[bytes, JsonValue, int | None]]:
    """Yield each item with its written key (empty for elements) and its model."""
    tree = style.document.tree
    if isinstance(value, list):
        item_model = None if model is None else tree.children(model)[0]
        yield from ((b"", item, item_model) for item in value)
        return
    colon = next(_colons(style.document, [] if model is None else [model]), style.layout.colon)
    members = {} if model is None else tree.members(model)
    yield from ((write_string(key) + colon, item, members.get(key)) for key, item in value.items())


def _colons(document: JsonDocument, nodes: list[int]) -> Iterator[bytes]:
    """Yield the bytes between keys and values of these containers, where they are on one line."""
    data, tree = document.data, document.tree
    for node in nodes:
        child = tree.children(node)[-1]
        key = tree.key_span(child)
        if key is not None and b"\n" not in (colon := data[key[1] : tree.span(child)[0]]):
            yield colon


def _inline_commas(document: JsonDocument, nodes: list[int]) -> Iterator[bytes]:
    data, tree = document.data, document.tree
    for node in nodes:
        children = tree.children(node)
        if len(children) > 1:
            comma = data[tree.span(children[-2])[1] : tree.item_start(children[-1])]
            if b"\n" not in comma:
                yield comma


def _write_number(value: int | float, *, keep_fraction: bool) -> bytes:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be written as JSON")
        if (
            not value.is_integer()
            or abs(value) > _EXACT_AS_INTEGER
            or (value == 0 and math.copysign(1, value) < 0)
        ):
            return _PADDED_EXPONENT.sub(r"e\1", repr(value)).encode()
    return b"%d.0" % value if keep_fraction else b"%d" % value


def _escape(char: str) -> str:
    code = ord(char)
    if code in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[code]
    if is_safe(char):
        return char
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"
