"""A walk over JSON without its values agrees with the full scan of the same text."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.files.strict_json import document as documents
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.files.strict_json.outline import items, outline, value_end
from ctxview.files.strict_json.values import same_value
from tests.files.strict_json.documents import INVALID, VALID, mutated, texts


def repeated(document: JsonDocument) -> list[tuple[str, int]]:
    """The pointer and the start of each member that repeats a key, by the nodes of the full scan."""
    tree, found = document.tree, []
    waiting = [(0, "")]
    while waiting:
        node, pointer = waiting.pop()
        seen: set[str] = set()
        for index, child in enumerate(tree.children(node)):
            key = tree.key(child)
            below = documents.join(pointer, index if key is None else key)
            if key in seen:
                found.append((below, tree.span(child)[0]))
            if key is not None:
                seen.add(key)
            waiting.append((child, below))
    return sorted(found, key=lambda each: each[1])


def check(text: bytes) -> None:
    document = parse(text)
    tree = document.tree
    found = outline(text, 0, len(text))
    assert [(each.pointer, each.value) for each in found.repeated] == repeated(document)
    assert found.count == len(found.repeated)
    assert document.root_span == tree.span(0)
    start, end = tree.span(0)
    assert value_end(text, start, len(text)) == end
    if tree.is_object(0) or tree.is_array(0):
        spans = [(tree.key_span(child), tree.span(child)) for child in tree.children(0)]
        expected = [(-1 if key is None else key[0], *span) for key, span in spans]
        assert list(items(text, start, len(text))) == expected


@pytest.mark.parametrize("text", VALID)
def test_difficult_texts(text: bytes) -> None:
    check(text)


@given(texts)
def test_random_texts(text: bytes) -> None:
    check(text)


@given(
    st.lists(st.sampled_from(['"a"', '"\\u0061"', '"b"', '"\\""', '"\\\\"']), max_size=6), st.integers(0, 3)
)
def test_keys_that_are_spelled_differently_are_equal(keys: list[str], depth: int) -> None:
    members = ", ".join(f'{key}: [1, "x,y", {{}}, {{{key}: 1, {key}: 2}}]' for key in keys)
    check(("[0, " * depth + "{" + members + "}" + "]" * depth).encode())


@pytest.mark.parametrize(("text", "depth"), [(b"1", 0), (b"[]", 1), (b'[[], {"a": [1]}]', 3), (b'"[["', 0)])
def test_the_depth_of_the_nesting(text: bytes, depth: int) -> None:
    assert outline(text, 0, len(text)).depth == depth


def test_only_the_first_repeated_keys_are_kept_and_all_are_counted() -> None:
    text = b"{" + b",".join(b'"a":%d' % number for number in range(50)) + b"}"
    found = outline(text, 0, len(text), most=3)
    assert (len(found.repeated), found.count) == (3, 49)


def test_a_large_text_gets_the_same_verdict_and_value_as_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(7)
    samples = [*VALID, *INVALID, *(mutated(text, random) for text in VALID for _ in range(20))]
    small = [_read(text) for text in samples]
    monkeypatch.setattr(documents, "LARGE", -1)
    for text, (problem, value) in zip(samples, small, strict=True):
        found, as_large = _read(text)
        assert found == problem, text[:80]
        assert value is None or same_value(parse(text).value, value.value)
        assert (as_large is None) == (value is None)


def _read(text: bytes) -> tuple[str | None, JsonDocument | None]:
    try:
        document = parse(text)
        assert document.value is not document
    except JsonError as error:
        return str(error), None
    return None, document
