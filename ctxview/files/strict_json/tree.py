"""The nodes of a scanned JSON text as a tree, with their pointers and values.

Nothing here recurses, so deep nesting is safe; the children of each container are cached.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final

from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.scanner import JsonNodes

_OPEN_OBJECT, _OPEN_ARRAY, _QUOTE = b'{["'
_OPENERS: Final = frozenset(b"{[")
_WORDS: Final[dict[int, JsonValue]] = {ord("t"): True, ord("f"): False, ord("n"): None}
_INDEX: Final = lazy_pattern(r"0|[1-9][0-9]{0,15}")
_BAD_ESCAPE: Final = lazy_pattern(r"~(?![01])")


def escape_token(key: str) -> str:
    """Return `key` escaped for a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def join(pointer: str, *tokens: str | int) -> str:
    """Return `pointer` extended by `tokens`, which are keys and indexes."""
    return pointer + "".join(f"/{escape_token(str(token))}" for token in tokens)


def split(pointer: str) -> list[str] | None:
    """Return the unescaped keys and indexes of a pointer; None when it is not a pointer."""
    if pointer == "":
        return []
    if not pointer.startswith("/") or _BAD_ESCAPE.search(pointer):
        return None
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/")]


class JsonTree:
    """The nodes of one text as a tree. A node is its number in document order; 0 is the root."""

    def __init__(self, data: bytes, nodes: JsonNodes) -> None:
        self._data = data
        self._starts, self._ends, self._keys = nodes.starts, nodes.ends, nodes.keys
        self._children: dict[int, array[int]] = {}
        self._members: dict[int, dict[str, int]] = {}

    def __len__(self) -> int:
        """The number of nodes, with duplicate members."""
        return len(self._starts)

    def find(self, pointer: str) -> int | None:
        """Return the node at `pointer`, or None; of duplicate members the last, as in `JSON.parse`."""
        path = self.path(pointer)
        return path[-1] if path is not None else None

    def path(self, pointer: str) -> list[int] | None:
        """Return the nodes from the root to `pointer`, both included; None when it does not exist."""
        tokens = split(pointer)
        if tokens is None:
            return None
        path = [0]
        for token in tokens:
            child = self._child(path[-1], token)
            if child is None:
                return None
            path.append(child)
        return path

    def span(self, node: int) -> tuple[int, int]:
        return self._starts[node], self._ends[node]

    def item_start(self, node: int) -> int:
        """Return the offset of a member (with its key) or an element."""
        return self._keys[node] if self._keys[node] >= 0 else self._starts[node]

    def key_span(self, node: int) -> tuple[int, int] | None:
        start = self._keys[node]
        # Only a colon and whitespace are between a key and its value.
        return None if start < 0 else (start, self._data.rindex(b'"', start, self._starts[node]) + 1)

    def key(self, node: int) -> str | None:
        """Return the key of a member; None for elements and the root."""
        span = self.key_span(node)
        return None if span is None else _string(self._data[slice(*span)])

    def is_object(self, node: int) -> bool:
        return self._data[self._starts[node]] == _OPEN_OBJECT

    def is_array(self, node: int) -> bool:
        return self._data[self._starts[node]] == _OPEN_ARRAY

    def children(self, node: int) -> array[int]:
        """Return the elements or members in document order with duplicates; empty for a scalar."""
        known = self._children.get(node)
        if known is None:
            known = self._children[node] = array("q", self._iter_children(node))
        return known

    def members(self, node: int) -> dict[str, int]:
        """Return the last member for each key of an object."""
        known = self._members.get(node)
        if known is None:
            known = {self.key(child) or "": child for child in self.children(node)}
            self._members[node] = known
        return known

    def namesakes(self, key: str) -> Iterator[int]:
        """Yield every member with this key in the whole text, in document order."""
        literal = json.dumps(key, ensure_ascii=False).encode(errors="surrogatepass")
        for node, start in enumerate(self._keys):
            if start >= 0 and self._data.startswith(literal, start):
                yield node

    def has_duplicates(self, node: int) -> bool:
        return self.is_object(node) and len(self.members(node)) < len(self.children(node))

    def pointer(self, node: int) -> str:
        """Return the pointer of a node; for a duplicate, it leads to the last member with this key."""
        tokens = []
        current = 0
        while current != node:
            children = self.children(current)
            index = bisect_right(children, node) - 1
            current = children[index]
            key = self.key(current)
            tokens.append(escape_token(key) if key is not None else str(index))
        return "".join(f"/{token}" for token in tokens)

    def value(self) -> JsonValue:
        """Return the value of the text as `JSON.parse` reads it."""
        root = self._new_value(0)
        enclosing: list[tuple[JsonValue, int]] = [(root, self._ends[0])]
        for node in range(1, len(self._starts)):
            while self._starts[node] >= enclosing[-1][1]:
                enclosing.pop()
            value = self._new_value(node)
            container = enclosing[-1][0]
            if isinstance(container, dict):
                container[self.key(node) or ""] = value
            elif isinstance(container, list):
                container.append(value)
            if isinstance(value, dict | list):
                enclosing.append((value, self._ends[node]))
        return root

    def _child(self, node: int, token: str) -> int | None:
        if self.is_object(node):
            return self.members(node).get(token)
        if not self.is_array(node) or not _INDEX.fullmatch(token):
            return None
        children = self.children(node)
        index = int(token)
        return children[index] if index < len(children) else None

    def _iter_children(self, node: int) -> Iterator[int]:
        end = self._ends[node]
        child = node + 1
        while child < len(self._starts) and self._starts[child] < end:
            yield child
            opens = self._data[self._starts[child]] in _OPENERS
            child = bisect_left(self._starts, self._ends[child], child) if opens else child + 1

    def _new_value(self, node: int) -> JsonValue:
        """Return the value of a node; a container is still empty."""
        first = self._data[self._starts[node]]
        if first == _OPEN_OBJECT:
            return {}
        if first == _OPEN_ARRAY:
            return []
        literal = self._data[slice(*self.span(node))]
        if first == _QUOTE:
            return _string(literal)
        return _WORDS[first] if first in _WORDS else _number(literal)


def _string(literal: bytes) -> str:
    if b"\\" not in literal:
        return literal[1:-1].decode()
    text: str = json.loads(literal.decode())
    return text


def _number(literal: bytes) -> int | float:
    """Return a number as orjson does: 64-bit integers stay exact, all others become doubles."""
    if literal.lstrip(b"-").isdigit() and len(literal) <= 20:
        exact = int(literal)
        if -(2**63) <= exact < 2**64:
            return exact
    return float(literal)
