"""Loss-free edits of JSON by pointer: each returns the whole new file; nothing is written to disk here.

Separators and indentation come from the neighbours. All bytes outside the splice stay the same, and every
result is parsed again and verified: its value must be the old one with exactly the requested change.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.files.strict_json.layout import (
    JsonLayout,
    ValueStyle,
    indent_after,
    layout_at,
    lead,
    line_indent,
    write_string,
    write_value,
)
from ctxview.files.strict_json.tree import split
from ctxview.files.strict_json.values import same_value, value_at, with_item, with_value, without


class SpliceError(ValueError):
    """An edit that is not possible without changing other bytes; the message says why."""


def set_value(document: JsonDocument, pointer: str, value: JsonValue) -> bytes:
    """Replace the value at `pointer`, or add that member to its object."""
    path = document.tree.path(pointer)
    if path is None:
        return _add_member(document, pointer, value)
    _require_unambiguous(document, path[:-1])
    tokens = split(pointer) or []
    if same_value(value_at(document.value, tokens), value):
        return document.data
    start, end = document.tree.span(path[-1])
    on_lines = len(path) == 1 or _is_spread(document, path[-2]) or b"\n" in document.data[start:end]
    indent = line_indent(document, start) if on_lines else None
    new = _written(value, ValueStyle(document, layout_at(document, path), path[-1], indent))
    return _verified(document, [_Change(start, end, new)], with_value(document.value, tokens, value))


def insert_item(document: JsonDocument, pointer: str, value: JsonValue) -> bytes:
    """Add an element to an array: before the element at `pointer`, or at the end when it ends in `/-`."""
    path, index = _array_place(document, pointer)
    spot = _spot(document, path, index)
    new = spot.prefix + _written(value, spot.style) + spot.suffix
    expected = with_item(document.value, (split(pointer) or [])[:-1], index, value)
    return _verified(document, [_Change(spot.start, spot.end, new)], expected)


def delete_value(document: JsonDocument, pointer: str) -> bytes:
    """Remove a member or an element, with one of the commas beside it."""
    path = document.tree.path(pointer)
    if path is None:
        raise SpliceError(f"there is nothing at {pointer}")
    if len(path) == 1:
        raise SpliceError("the whole document cannot be deleted")
    _require_unambiguous(document, path[:-1])
    return _verified(document, [_removal(document, path)], without(document.value, split(pointer) or []))


def move_item(document: JsonDocument, pointer: str, to: str) -> bytes:
    """Move an element, byte for byte, from its array to the end of another one (`to` ends in `/-`)."""
    path = document.tree.path(pointer)
    if path is None or len(path) == 1 or not document.tree.is_array(path[-2]):
        raise SpliceError(f"there is no element at {pointer}")
    if not to.endswith("/-"):
        raise SpliceError(f"an element can only be moved to the end of an array, not to {to}")
    target, index = _array_place(document, to)
    if path[-1] in target:
        raise SpliceError("an element cannot be moved into itself")
    _require_unambiguous(document, path[:-1])
    if path[-2] == target[-1] and path[-1] == document.tree.children(target[-1])[-1]:
        return document.data
    spot = _spot(document, target, index)
    start, end = document.tree.span(path[-1])
    landing = _Change(spot.start, spot.end, spot.prefix + document.data[start:end] + spot.suffix)
    origin = split(pointer) or []
    expected = with_item(document.value, (split(to) or [])[:-1], index, value_at(document.value, origin))
    return _verified(document, [_removal(document, path), landing], without(expected, origin))


class _Change(Struct, frozen=True):
    """Bytes `start:end` of the file become `new`."""

    start: int
    end: int
    new: bytes


class _Spot(Struct, frozen=True):
    """A place for a new item: the bytes to replace, the bytes before and behind the item, and its style."""

    start: int
    end: int
    prefix: bytes
    suffix: bytes
    style: ValueStyle


def _add_member(document: JsonDocument, pointer: str, value: JsonValue) -> bytes:
    tokens = split(pointer)
    path = document.tree.path(pointer.rpartition("/")[0])
    if not tokens or path is None or not document.tree.is_object(path[-1]):
        raise SpliceError(f"there is no object to add {pointer} to")
    _require_unambiguous(document, path)
    spot = _spot(document, path, len(document.tree.children(path[-1])))
    style = replace(spot.style, model=_namesake(document, path[-1], tokens[-1]))
    name = write_string(tokens[-1]) + style.layout.colon
    new = spot.prefix + name + _written(value, style) + spot.suffix
    expected = with_value(document.value, tokens, value)
    return _verified(document, [_Change(spot.start, spot.end, new)], expected)


def _array_place(document: JsonDocument, pointer: str) -> tuple[list[int], int]:
    """Return the path to an array and the index that a pointer names; `-` and the length mean its end."""
    parent, _, token = pointer.rpartition("/")
    path = document.tree.path(parent)
    if path is None or not pointer or not document.tree.is_array(path[-1]):
        raise SpliceError(f"there is no array to add {pointer} to")
    _require_unambiguous(document, path)
    count = len(document.tree.children(path[-1]))
    if token in ("-", str(count)):
        return path, count
    if document.tree.find(pointer) is None:
        raise SpliceError(f"there is no element at {pointer}")
    return path, int(token)


def _spot(document: JsonDocument, path: list[int], index: int) -> _Spot:
    tree, container = document.tree, path[-1]
    children = tree.children(container)
    if not children:
        return _spot_in_empty(document, path)
    neighbour = children[min(index, len(children) - 1)]
    layout = layout_at(document, [*path, neighbour])
    separator = _separator(document, container, index, layout)
    start, end = tree.span(neighbour)
    indent = None
    if b"\n" in separator:
        indent = indent_after(separator)
    elif b"\n" in document.data[start:end]:
        indent = line_indent(document, start)
    if index == len(children):
        return _Spot(end, end, separator, b"", ValueStyle(document, layout, neighbour, indent))
    start = tree.item_start(neighbour)
    return _Spot(start, start, b"", separator, ValueStyle(document, layout, neighbour, indent))


def _spot_in_empty(document: JsonDocument, path: list[int]) -> _Spot:
    tree, container = document.tree, path[-1]
    layout = layout_at(document, path)
    start, end = tree.span(container)
    like = _namesake(document, container, tree.key(container))
    if like is not None and tree.is_array(like) != tree.is_array(container):
        like = None
    if like is not None:
        spread = _is_spread(document, like)
    elif len(path) > 1:
        spread = _is_spread(document, path[-2])
    else:
        spread = b"\n" in document.data[start:end]
    model = tree.children(like)[0] if like is not None else None
    if not spread:
        return _Spot(start + 1, end - 1, b"", b"", ValueStyle(document, layout, model, None))
    after = layout.line_end + line_indent(document, start)
    before = after + layout.step
    return _Spot(start + 1, end - 1, before, after, ValueStyle(document, layout, model, indent_after(before)))


def _separator(document: JsonDocument, container: int, index: int, layout: JsonLayout) -> bytes:
    """Return the comma and whitespace for a new item at `index`, as its neighbours have it."""
    tree = document.tree
    children = tree.children(container)
    if len(children) > 1:
        second = min(max(index, 1), len(children) - 1)
        return document.data[tree.span(children[second - 1])[1] : tree.item_start(children[second])]
    space = lead(document, container)
    return b"," + space if b"\n" in space else layout.comma


def _removal(document: JsonDocument, path: list[int]) -> _Change:
    tree = document.tree
    container, node = path[-2:]
    children = tree.children(container)
    index = children.index(node)
    start, end = tree.span(container)
    if len(children) == 1:
        return _Change(start + 1, end - 1, b"")
    if index == 0:
        return _Change(tree.item_start(node), tree.item_start(children[1]), b"")
    return _Change(tree.span(children[index - 1])[1], tree.span(node)[1], b"")


def _namesake(document: JsonDocument, near: int, key: str | None) -> int | None:
    """Return the nearest non-empty container with this key, as an example of its layout."""
    if key is None:
        return None
    tree = document.tree
    known = [node for node in tree.namesakes(key) if tree.children(node)]
    return min(known, key=lambda node: abs(node - near), default=None)


def _is_spread(document: JsonDocument, container: int) -> bool:
    return bool(document.tree.children(container)) and b"\n" in lead(document, container)


def _require_unambiguous(document: JsonDocument, path: list[int]) -> None:
    for node in path:
        if document.tree.has_duplicates(node):
            where = document.tree.pointer(node) or "the document"
            raise SpliceError(
                f"{where} has a duplicate key, so it is not clear which value an edit would change"
            )


def _written(value: JsonValue, style: ValueStyle) -> bytes:
    try:
        written = write_value(value, style)
        if same_value(parse(written).value, value):
            return written
    except ValueError as error:
        raise SpliceError(f"the value cannot be written as JSON: {error}") from None
    raise SpliceError("the value cannot be written as JSON without changing it")


def _verified(document: JsonDocument, changes: list[_Change], expected: JsonValue) -> bytes:
    """Return the file after `changes`, which must not overlap; raises `SpliceError` if not `expected`."""
    data = document.data
    pieces, position = [], 0
    for change in sorted(changes, key=lambda change: change.start):
        pieces += [data[position : change.start], change.new]
        position = change.end
    new = b"".join([*pieces, data[position:]])
    try:
        outcome = parse(new, document.start, document.end + len(new) - len(data)).value
    except JsonError as error:
        raise SpliceError(f"the edit would break the file ({error})") from None
    if not _equal(outcome, expected):
        raise SpliceError("the edit would change more than it should")
    return new


def _equal(one: JsonValue, other: JsonValue) -> bool:
    try:
        return one == other
    except RecursionError:
        return same_value(one, other)


def on_one_line(before: bytes, after: bytes) -> bytes:
    """Return `after` if it has as many lines as `before`; raises `SpliceError`."""
    if after.count(b"\n") != before.count(b"\n"):
        raise SpliceError("the record would not stay on one line")
    return after


def spelled_like(neighbour: bytes, value: JsonValue) -> bytes:
    """Return an object on one line, spaced like `neighbour`; raises `SpliceError`."""
    both = insert_item(parse(b"[" + neighbour.strip() + b"]"), "/-", value)
    span = parse(both).span("/1")
    assert span is not None, "an element was just put there"
    return on_one_line(b"", both[slice(*span)])


def append_line(data: bytes, line: bytes) -> bytes:
    """Return `data` with one more line at its end."""
    ended = data if not data or data.endswith(b"\n") else data + b"\n"
    return ended + line + b"\n"


def is_object_text(data: bytes) -> bool:
    """Whether `data` is a non-empty JSON object, which can be a neighbour for `spelled_like`."""
    try:
        value = parse(data).value
    except JsonError:
        return False
    return isinstance(value, dict) and bool(value)
