"""How a JSON text is laid out around one spot, and new values written in that manner; it decides no edit.

A new value takes after a *model*: the value it replaces, or the neighbour it will stand beside. What the
model does not show is taken from the text around it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ctxview.files.json_document import JsonDocument
from ctxview.files.json_tree import JsonTree
from ctxview.files.visible import is_safe
from ctxview.state import JsonValue

_LINE_END: Final = re.compile(rb"\r?\n")
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


def layout_at(document: JsonDocument, path: list[int]) -> Layout:
    """The layout around the last node of `path`, which starts at the root."""
    data, tree = document.data, document.tree
    samples = [node for node in reversed(path) if tree.children(node)]
    spread = next((node for node in samples if b"\n" in lead(data, tree, node)), None)
    line_end, step = b"\n", b"  "
    if spread is not None:
        line_end = line_end_in(lead(data, tree, spread))
        outer, inner = line_indent(document, tree.span(spread)[0]), indent_after(lead(data, tree, spread))
        if inner.startswith(outer) and inner != outer:
            step = inner[len(outer) :]
    colon = next(_colons(data, tree, samples), b": ")
    comma = next(_inline_commas(data, tree, samples), b", " if colon.endswith(b" ") else b",")
    return Layout(line_end, step, colon, comma, spread is not None)


def lead(data: bytes, tree: JsonTree, node: int) -> bytes:
    """The whitespace between the bracket of a container and its first item."""
    return data[tree.span(node)[0] + 1 : tree.item_start(tree.children(node)[0])]


def line_end_in(space: bytes) -> bytes:
    found = _LINE_END.search(space)
    return found[0] if found else b"\n"


def indent_after(space: bytes) -> bytes:
    """The indentation of what follows a separator that holds a line end."""
    found = _INDENT.match(space, space.rfind(b"\n") + 1)
    return found[0] if found else b""


def line_indent(document: JsonDocument, offset: int) -> bytes:
    """The indentation of the line that holds `offset`."""
    start = max(document.data.rfind(b"\n", document.start, offset) + 1, document.start)
    found = _INDENT.match(document.data, start, offset)
    return found[0] if found else b""


def write_value(
    value: JsonValue, layout: Layout, document: JsonDocument, model: int | None, indent: bytes | None
) -> bytes:
    """`value` spelled after `model`. `indent` is that of the line it stands on; None keeps it on one line."""
    out: list[bytes] = []
    unfinished: list[_Container] = []
    while True:
        if isinstance(value, dict | list) and value:
            unfinished.append(_container(value, layout, document, model, indent))
            out.append(unfinished[-1].opener)
        else:
            old = document.data[slice(*document.tree.span(model))] if model is not None else b""
            out.append(write_scalar(value, old))
        while unfinished:
            item = next(unfinished[-1].items, None)
            if item is not None:
                break
            out.append(unfinished.pop().closer)
        else:
            return b"".join(out)
        out.append(item.prefix)
        value, model, indent = item.value, item.model, item.indent


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
class _Item:
    """What stands before a value inside its container, and how that value is to be written."""

    prefix: bytes
    value: JsonValue
    model: int | None
    indent: bytes | None


@dataclass(frozen=True, slots=True)
class _Container:
    opener: bytes
    items: Iterator[_Item]
    closer: bytes


def _container(
    value: dict[str, JsonValue] | list[JsonValue],
    layout: Layout,
    document: JsonDocument,
    model: int | None,
    indent: bytes | None,
) -> _Container:
    tree = document.tree
    is_object = isinstance(value, dict)
    if model is not None and not (tree.is_object(model) if is_object else tree.is_array(model)):
        model = None
    if model is not None and not tree.children(model):
        model = None
    samples = [] if model is None else [model]
    colon = next(_colons(document.data, tree, samples), layout.colon)
    comma = next(_inline_commas(document.data, tree, samples), layout.comma)
    space = None if model is None else lead(document.data, tree, model)
    spread = indent is not None and (layout.spread if space is None else b"\n" in space)
    inner = indent + layout.step if spread and indent is not None else None
    pad = b"" if space is None or b"\n" in space else space

    def items() -> Iterator[_Item]:
        pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        before = layout.line_end + inner if inner is not None else pad
        for key, item in pairs:
            like = _model_within(tree, model, key)
            name = b"" if key is None else write_string(key) + colon
            yield _Item(before + name, item, like, inner)
            before = b"," + layout.line_end + inner if inner is not None else comma

    after = layout.line_end + indent if inner is not None and indent is not None else pad
    opener, closer = (b"{", b"}") if is_object else (b"[", b"]")
    return _Container(opener, items(), after + closer)


def _model_within(tree: JsonTree, model: int | None, key: str | None) -> int | None:
    """What an item of a container takes after: the member of that name, or any element."""
    if model is None:
        return None
    if key is not None:
        return tree.members(model).get(key)
    children = tree.children(model)
    return children[0] if children else None


def _colons(data: bytes, tree: JsonTree, nodes: list[int]) -> Iterator[bytes]:
    """What stands between the keys and values near a place, the nearest first, if on one line."""
    for node in nodes:
        child = tree.children(node)[-1]
        key = tree.key_span(child)
        if key is not None and b"\n" not in (colon := data[key[1] : tree.span(child)[0]]):
            yield colon


def _inline_commas(data: bytes, tree: JsonTree, nodes: list[int]) -> Iterator[bytes]:
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
