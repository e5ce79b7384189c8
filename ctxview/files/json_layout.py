"""How a JSON text is laid out around one spot, and new values written in that manner; it decides no edit.

A new value takes after a *model*: the value it replaces, or the neighbour it will stand beside. What the
model does not show is taken from the text around it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ctxview.files.json_document import JsonDocument
from ctxview.files.visible import is_safe
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass

_INDENT: Final = re.compile(rb"[ \t]*")
_SHORT_ESCAPES: Final = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
_EXACT_AS_INTEGER: Final = 1e15
_WHOLE_WITH_FRACTION: Final = re.compile(rb"-?[0-9]+\.0+")
_PADDED_EXPONENT: Final = re.compile(r"e\+?(-?)0*")


@dataclass(frozen=True, slots=True)
class Layout:
    """The manner of one place: what a line end, a step of indentation, a colon and an inline comma look like.

    `spread` says whether a container without a model goes over several lines.
    """

    line_end: bytes
    step: bytes
    colon: bytes
    comma: bytes
    spread: bool


@dataclass(frozen=True, slots=True)
class Manner:
    """How one new value is to be written.

    `model` is the node it takes after. `indent` is that of the line it stands on; None keeps it on one line.
    """

    document: JsonDocument
    layout: Layout
    model: int | None
    indent: bytes | None

    @property
    def old_spelling(self) -> bytes:
        return b"" if self.model is None else self.document.data[slice(*self.document.tree.span(self.model))]

    def model_that_starts_with(self, opener: bytes) -> int | None:
        """The model, if it is a container of that kind with something in it."""
        if self.model is None or not self.document.tree.children(self.model):
            return None
        return (
            self.model
            if self.document.data.startswith(opener, self.document.tree.span(self.model)[0])
            else None
        )


def layout_at(document: JsonDocument, path: list[int]) -> Layout:
    """The layout around the last node of `path`, which starts at the root."""
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
    return Layout(line_end, step, colon, comma, spread is not None)


def lead(document: JsonDocument, node: int) -> bytes:
    """The whitespace between the bracket of a container and its first item, which must exist."""
    tree = document.tree
    return document.data[tree.span(node)[0] + 1 : tree.item_start(tree.children(node)[0])]


def indent_after(space: bytes) -> bytes:
    """The indentation of what follows a separator that holds a line end."""
    found = _INDENT.match(space, space.rfind(b"\n") + 1)
    return found[0] if found else b""


def line_indent(document: JsonDocument, offset: int) -> bytes:
    """The indentation of the line that holds `offset`."""
    start = max(document.data.rfind(b"\n", document.start, offset) + 1, document.start)
    found = _INDENT.match(document.data, start, offset)
    return found[0] if found else b""


def write_value(value: JsonValue, manner: Manner) -> bytes:
    """`value` spelled in that manner."""
    out: list[bytes] = []
    unfinished: list[_Container] = []
    while True:
        if isinstance(value, dict | list) and value:
            unfinished.append(_container(value, manner))
            out.append(unfinished[-1].opener)
        else:
            out.append(write_scalar(value, manner.old_spelling))
        while unfinished:
            item = next(unfinished[-1].items, None)
            if item is not None:
                break
            out.append(unfinished.pop().closer)
        else:
            return b"".join(out)
        prefix, value, manner = item
        out.append(prefix)


def write_scalar(value: JsonValue, old: bytes = b"") -> bytes:
    """A string, number, word or empty container; a whole number keeps the `.0` of its `old` spelling."""
    if isinstance(value, str):
        return write_string(value)
    if isinstance(value, bool) or value is None:
        return {True: b"true", False: b"false", None: b"null"}[value]
    if isinstance(value, int | float):
        return _write_number(value, keep_fraction=bool(_WHOLE_WITH_FRACTION.fullmatch(old)))
    return b"{}" if isinstance(value, dict) else b"[]"


def write_string(text: str) -> bytes:
    """A JSON string in which everything that could deceive or steer a reader is escaped."""
    if is_safe(text) and '"' not in text and "\\" not in text:
        return b'"%b"' % text.encode()
    return b'"%b"' % "".join(map(_escape, text)).encode()


@dataclass(frozen=True, slots=True)
class _Container:
    """What opens and closes it, and its items: what stands before each, the value, and the manner of that."""

    opener: bytes
    items: Iterator[tuple[bytes, JsonValue, Manner]]
    closer: bytes


def _container(value: dict[str, JsonValue] | list[JsonValue], manner: Manner) -> _Container:
    opener, closer = (b"{", b"}") if isinstance(value, dict) else (b"[", b"]")
    model = manner.model_that_starts_with(opener)
    space = None if model is None else lead(manner.document, model)
    spread = manner.layout.spread if space is None else b"\n" in space
    if manner.indent is None or not spread:
        pad = b"" if space is None or b"\n" in space else space
        return _Container(opener, _inline_items(value, manner, model, pad), pad + closer)
    end = manner.layout.line_end + manner.indent
    return _Container(opener, _spread_items(value, manner, model, end + manner.layout.step), end + closer)


def _inline_items(
    value: dict[str, JsonValue] | list[JsonValue], manner: Manner, model: int | None, pad: bytes
) -> Iterator[tuple[bytes, JsonValue, Manner]]:
    samples = [] if model is None else [model]
    comma = next(_inline_commas(manner.document, samples), manner.layout.comma)
    before = pad
    for name, item, like in _named_items(value, manner, model):
        yield before + name, item, replace(manner, model=like, indent=None)
        before = comma


def _spread_items(
    value: dict[str, JsonValue] | list[JsonValue], manner: Manner, model: int | None, line: bytes
) -> Iterator[tuple[bytes, JsonValue, Manner]]:
    before = line
    for name, item, like in _named_items(value, manner, model):
        yield before + name, item, replace(manner, model=like, indent=indent_after(line))
        before = b"," + line


def _named_items(
    value: dict[str, JsonValue] | list[JsonValue], manner: Manner, model: int | None
) -> Iterator[tuple[bytes, JsonValue, int | None]]:
    """Each item with its key as it is written (nothing for elements), and what it takes after."""
    tree = manner.document.tree
    if isinstance(value, list):
        like = None if model is None else tree.children(model)[0]
        yield from ((b"", item, like) for item in value)
        return
    colon = next(_colons(manner.document, [] if model is None else [model]), manner.layout.colon)
    members = {} if model is None else tree.members(model)
    yield from ((write_string(key) + colon, item, members.get(key)) for key, item in value.items())


def _colons(document: JsonDocument, nodes: list[int]) -> Iterator[bytes]:
    """What stands between the keys and values of these containers, if on one line."""
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
