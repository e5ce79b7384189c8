"""Strict JSON with spans: values, places and pointers."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.files.line_columns import LineColumns
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.files.strict_json.tree import escape_token, join
from ctxview.files.strict_json.values import same_value, value_at
from tests.files.strict_json.documents import INVALID, VALID, pointers, texts, values


@pytest.mark.parametrize("text", VALID, ids=lambda text: repr(text[:24]))
def test_difficult_but_valid_text_is_accepted_with_a_value_for_every_span(text: bytes) -> None:
    document = parse(text)

    assert document.span("") == (len(text) - len(text.lstrip()), len(text.rstrip()))
    assert same_value(parse(document.literal("")).value, document.value)


@pytest.mark.parametrize("text", INVALID, ids=lambda text: repr(text[:24]))
def test_invalid_text_is_rejected_with_line_and_column(text: bytes) -> None:
    with pytest.raises(JsonError) as caught:
        parse(text)

    assert 0 <= caught.value.place.offset <= len(text)
    assert str(caught.value) == f"{caught.value.place}: {caught.value.reason}"


@given(texts)
@settings(max_examples=15, deadline=None)
def test_values_are_those_of_the_standard_library(text: bytes) -> None:
    assert same_value(parse(text).value, json.loads(text.decode("utf-8", "surrogatepass")))


@given(texts)
@settings(max_examples=15, deadline=None)
def test_every_span_is_the_text_of_the_value_at_its_pointer(text: bytes) -> None:
    document = parse(text)
    for pointer in pointers(document.value):
        tokens = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
        assert same_value(parse(document.literal(pointer)).value, value_at(document.value, tokens))
        key = document.key_span(pointer)
        if key is not None:
            assert parse(document.data, *key).value == tokens[-1]


@given(texts)
@settings(max_examples=15, deadline=None)
def test_scanning_and_orjson_read_the_same_value(text: bytes) -> None:
    document = parse(text)

    assert same_value(document.tree.value(), document.value)


@given(texts, st.binary(max_size=20), st.binary(max_size=20))
@settings(max_examples=15, deadline=None)
def test_a_window_has_the_offsets_of_the_whole_file(text: bytes, before: bytes, after: bytes) -> None:
    alone = parse(text)
    inside = parse(before + text + after, len(before), len(before) + len(text))

    assert same_value(inside.value, alone.value)
    for pointer in pointers(alone.value):
        span, shifted = alone.span(pointer), inside.span(pointer)
        assert span is not None
        assert shifted == (span[0] + len(before), span[1] + len(before))


def test_a_window_ends_where_it_should_even_when_more_follows() -> None:
    assert parse(b"x12,34", 1, 3).value == 12
    with pytest.raises(JsonError, match="never closed"):
        parse(b'["abc"]', 0, 4)


def test_values_do_not_need_a_scan() -> None:
    document = parse(b'{"a": [1, 2.5]}')

    assert document.value == {"a": [1, 2.5]}
    assert "tree" not in vars(document)


def test_numbers_are_exact_integers_or_doubles() -> None:
    found = parse(
        b"[18446744073709551615, 18446744073709551616, 1e400, -1e400, 2.0, %b]" % (b"9" * 5000)
    ).value

    assert found == [2**64 - 1, 2.0**64, math.inf, -math.inf, 2.0, math.inf]
    assert [type(item) for item in found] == [int, float, float, float, float, float]


def test_lone_surrogates_are_kept() -> None:
    assert parse(b'["\\ud800", "\\ud800\\ud83d\\ude00"]').value == ["\ud800", "\ud800😀"]


def test_the_last_duplicate_counts_and_every_later_one_is_named() -> None:
    document = parse(b'{"a": {"x": 1, "x": 2}, "b": 1, "\\u0061": 3, "a": 4}')

    assert document.value == {"a": 4, "b": 1}
    assert document.literal("/a") == b"4"
    assert document.duplicates == ("/a/x", "/a", "/a")


@pytest.mark.parametrize("scanned", [False, True])
def test_duplicates_are_found_with_and_without_a_scan(*, scanned: bool) -> None:
    plain, repeated = parse(b'[{"a": 1}, {"a": 1, "A": 2}]'), parse(b'[{"a": [1, {}]}, {"a": 1, "a": 2}]')
    for document in (plain, repeated) if scanned else ():
        assert document.span("/0/a") is not None
    assert plain.duplicates == ()
    assert repeated.duplicates == ("/1/a",)


@pytest.mark.parametrize(
    "pointer", ["a", "/a/", "/b/01", "/b/-", "/b/2", "/b/-1", "/b/x", "/a/0", "/~2", "/c"]
)
def test_a_pointer_that_leads_nowhere_has_no_span(pointer: str) -> None:
    document = parse(b'{"a": 1, "b": [1, 2]}')

    assert document.span(pointer) is None
    assert document.key_span(pointer) is None
    with pytest.raises(KeyError):
        document.literal(pointer)


def test_pointers_escape_tilde_and_slash() -> None:
    document = parse(b'{"a/b": {"m~n": {"": 7}}}')

    assert escape_token("~/") == "~0~1"
    assert join("/x", "a/b", 3) == "/x/a~1b/3"
    assert document.literal(join("", "a/b", "m~n", "")) == b"7"


def test_an_origin_names_the_bytes_and_the_place() -> None:
    origin = parse('{"é": 1,\n "ß": [10]}'.encode()).origin("f.json", "/ß/0")

    assert (origin.file, origin.pointer, origin.start, origin.end) == ("f.json", "/ß/0", 18, 20)
    assert (origin.line, origin.column) == (2, 8)


def test_the_origin_of_a_missing_value_is_its_nearest_ancestor() -> None:
    document = parse(b'{"a": {"b": 1}}')

    assert document.origin("f", "/a/c/d").pointer == "/a"
    assert document.origin("f", "/x").pointer == ""
    assert document.origin("f", "nonsense").pointer == ""


def test_windows_of_one_file_can_share_its_places() -> None:
    data = b"1\n2\n3"
    places = LineColumns(data)
    documents = [parse(data, offset, offset + 1, places=places) for offset in (0, 2, 4)]

    assert [document.origin("f", "").line for document in documents] == [1, 2, 3]


@given(values)
@settings(max_examples=15, deadline=None)
def test_same_value_distinguishes_true_from_one(value: object) -> None:
    assert same_value(value, json.loads(json.dumps(value)))  # type: ignore[arg-type]
    assert not same_value([value, True], [value, 1])  # type: ignore[list-item]


class TestDepth:
    """Deep nesting works like any other."""

    def deep(self, depth: int) -> JsonDocument:
        return parse(b"[" * depth + b"1" + b"]" * depth)

    def test_a_million_levels_are_read_and_freed(self) -> None:
        assert self.deep(1_000_000).span("") == (0, 2_000_001)

    def test_deep_values_are_compared_and_searched(self) -> None:
        depth = 50_000
        document = self.deep(depth)

        assert document.span("/0" * depth) == (depth, depth + 1)
        assert same_value(document.value, self.deep(depth).value)
        assert document.duplicates == ()

    def test_many_unclosed_levels_are_an_error(self) -> None:
        with pytest.raises(JsonError, match="the array that starts here is never closed"):
            parse(b"[" * 200_000)

    def test_a_deep_object_with_duplicates_names_them(self) -> None:
        depth = 20_000
        document = parse(b'{"a":' * depth + b'{"x":1,"x":2}' + b"}" * depth)

        assert document.duplicates == ("/a" * depth + "/x",)
