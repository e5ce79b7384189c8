"""Edits that change no other byte."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import parse
from ctxview.files.strict_json.splice import SpliceError, delete_value, insert_item, move_item, set_value
from ctxview.files.strict_json.values import same_value, value_at, with_item, with_value, without
from tests.files.strict_json.documents import array_texts, object_texts, pointers, texts, values

PRETTY = """{
  "name": "x",
  "blocks": [
    {
      "id": "a",
      "tags": ["p", "q"],
      "decay": 3.0
    }
  ],
  "inline": {"a": 1},
  "none": [],
  "empty": {}
}
"""


def edited(text: str, edit: Callable[..., bytes], *arguments: object) -> str:
    return edit(parse(text.encode()), *arguments).decode()


def tokens(pointer: str) -> list[str]:
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def shared(one: bytes, other: bytes) -> int:
    """Count the bytes that two texts share at their start and end, none of them twice."""
    most = min(len(one), len(other))
    start = next((index for index in range(most) if one[index] != other[index]), most)
    end = next((count for count in range(most - start) if one[-1 - count] != other[-1 - count]), most - start)
    return start + end


def containers(value: JsonValue, kind: type) -> list[str]:
    return [pointer for pointer in pointers(value) if isinstance(value_at(value, tokens(pointer)), kind)]


# -- for every document --------------------------------------------------------------------------------------


@given(texts, values, st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_setting_a_value_replaces_exactly_its_bytes(text: bytes, value: JsonValue, random: Random) -> None:
    document = parse(text)
    pointer = random.choice(pointers(document.value))
    span = document.span(pointer)
    assert span is not None

    new = set_value(document, pointer, value)

    assert new.startswith(text[: span[0]])
    assert new.endswith(text[span[1] :])
    assert same_value(parse(new).value, with_value(document.value, tokens(pointer), value))


@given(texts, st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_setting_an_equal_value_changes_nothing(text: bytes, random: Random) -> None:
    document = parse(text)
    pointer = random.choice(pointers(document.value))

    assert set_value(document, pointer, value_at(document.value, tokens(pointer))) == text


@given(array_texts, values, st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_inserting_adds_bytes_in_one_place_and_deleting_removes_them(
    text: bytes, value: JsonValue, random: Random
) -> None:
    document = parse(text)
    pointer = random.choice(containers(document.value, list))
    array = value_at(document.value, tokens(pointer))
    assert isinstance(array, list)
    index = random.randint(0, len(array))

    new = insert_item(document, f"{pointer}/{'-' if index == len(array) else index}", value)

    assert same_value(parse(new).value, with_item(document.value, tokens(pointer), index, value))
    if array:
        assert shared(text, new) == len(text)
        assert delete_value(parse(new), f"{pointer}/{index}") == text


@given(object_texts, st.text(max_size=3), values, st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_adding_a_member_adds_bytes_in_one_place_and_deleting_removes_them(
    text: bytes, key: str, value: JsonValue, random: Random
) -> None:
    document = parse(text)
    pointer = random.choice(containers(document.value, dict))
    members = value_at(document.value, tokens(pointer))
    assert isinstance(members, dict)
    while key in members:
        key += "x"
    member = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"

    new = set_value(document, member, value)

    assert same_value(parse(new).value, with_value(document.value, tokens(member), value))
    if members:
        assert shared(text, new) == len(text)
        assert delete_value(parse(new), member) == text


@given(array_texts | object_texts, st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_deleting_only_removes_bytes(text: bytes, random: Random) -> None:
    document = parse(text)
    pointer = random.choice(pointers(document.value)[1:])

    new = delete_value(document, pointer)

    assert shared(text, new) == len(new)
    assert same_value(parse(new).value, without(document.value, tokens(pointer)))


@given(array_texts, st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_moving_appends_exactly_the_same_bytes(text: bytes, random: Random) -> None:
    document = parse(text)
    arrays = containers(document.value, list)
    elements = [
        f"{array}/{index}"
        for array in arrays
        for index in range(len(value_at(document.value, tokens(array))))  # type: ignore[arg-type]
    ]
    source = random.choice(elements)
    target = random.choice([array for array in arrays if not f"{array}/".startswith(f"{source}/")])
    moved = value_at(document.value, tokens(source))
    end = len(value_at(document.value, tokens(target)))  # type: ignore[arg-type]

    new = move_item(document, source, f"{target}/-")

    expected = without(with_item(document.value, tokens(target), end, moved), tokens(source))
    outcome = parse(new)
    assert same_value(outcome.value, expected)
    assert document.literal(source) in [outcome.literal(pointer) for pointer in pointers(outcome.value)]


# -- the layout of new values --------------------------------------------------------------------------------


def test_a_whole_number_keeps_the_fraction_of_the_old_number() -> None:
    assert edited('{"a": 3.0}', set_value, "/a", 5) == '{"a": 5.0}'
    assert edited('{"a": 3}', set_value, "/a", 5.0) == '{"a": 5}'
    assert edited('{"a": 0.5}', set_value, "/a", 1.0) == '{"a": 1}'


def test_a_number_that_is_the_same_by_value_keeps_its_spelling() -> None:
    assert edited('{"a": 3.00, "b": 1E2}', set_value, "/a", 3) == '{"a": 3.00, "b": 1E2}'
    assert edited('{"a": 1}', set_value, "/a", True) == '{"a": true}'


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (0.1, "0.1"),
        (1e-7, "1e-7"),
        (1e22, "1e22"),
        (-0.0, "-0.0"),
        (1e15, "1000000000000000"),
        (12, "12"),
        (2**63, str(2**63)),
    ],
)
def test_numbers_are_spelled_as_short_as_possible(value: float, spelled: str) -> None:
    assert edited("[null]", set_value, "/0", value) == f"[{spelled}]"


def test_new_strings_escape_unsafe_characters() -> None:
    text = 'é日😀 "\\/\n\t\x00\x1b\x7f\x85\u2028\u2029\u202e\u200b\ufeff\ud800\ufe0f\U000e0041\u3164'

    new = edited("[0]", set_value, "/0", text)

    assert new == (
        '["é日😀 \\"\\\\/\\n\\t\\u0000\\u001b\\u007f\\u0085\\u2028\\u2029'
        '\\u202e\\u200b\\ufeff\\ud800\\ufe0f\\udb40\\udc41\\u3164"]'
    )
    assert parse(new.encode()).value == [text]


def test_a_new_block_looks_like_its_neighbour() -> None:
    new = edited(PRETTY, insert_item, "/blocks/-", {"id": "b", "tags": ["r", "s"], "decay": 1})

    assert new == PRETTY.replace(
        "    }\n  ],",
        '    },\n    {\n      "id": "b",\n      "tags": ["r", "s"],\n      "decay": 1.0\n    }\n  ],',
    )


def test_the_first_element_of_an_empty_array_gets_the_indentation_of_the_document() -> None:
    new = edited(PRETTY, insert_item, "/none/-", {"id": "b"})

    assert new == PRETTY.replace('"none": []', '"none": [\n    {\n      "id": "b"\n    }\n  ]')


def test_the_first_member_of_an_empty_object_gets_the_indentation_of_the_document() -> None:
    assert edited(PRETTY, set_value, "/empty/k", 1) == PRETTY.replace("{}", '{\n    "k": 1\n  }')


def test_a_member_of_an_inline_object_stays_on_its_line() -> None:
    assert edited(PRETTY, set_value, "/inline/b", {"c": [1]}) == PRETTY.replace(
        '{"a": 1}', '{"a": 1, "b": {"c": [1]}}'
    )


def test_an_empty_array_is_filled_as_its_namesakes_are() -> None:
    text = '[\n  {\n    "tags": ["a", "b"]\n  },\n  {\n    "tags": []\n  }\n]'

    assert edited(text, insert_item, "/1/tags/-", "c") == text.replace("[]", '["c"]')


def test_windows_line_ends_and_tabs_are_kept() -> None:
    text = '{\r\n\t"a": [\r\n\t\t1\r\n\t],\r\n\t"b": {}\r\n}\r\n'

    assert edited(text, insert_item, "/a/-", 2) == text.replace("\t\t1", "\t\t1,\r\n\t\t2")
    assert edited(text, set_value, "/b/c", [1]) == text.replace(
        "{}", '{\r\n\t\t"c": [\r\n\t\t\t1\r\n\t\t]\r\n\t}'
    )


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ('{"a":[],"b":[1,2]}', '{"a":[{"x":1,"y":[2,3]}],"b":[1,2]}'),
        ('{"a": [], "b": 1}', '{"a": [{"x": 1, "y": [2, 3]}], "b": 1}'),
        ('{"a": [ ]}', '{"a": [{"x": 1, "y": [2, 3]}]}'),
        ('{ "a": [ 0 ] }', '{ "a": [ 0, {"x": 1, "y": [2, 3]} ] }'),
        ('{"a":[{\n  "x": 0\n}]}', '{"a":[{\n  "x": 0\n}, {\n  "x": 1,\n  "y": [\n    2,\n    3\n  ]\n}]}'),
        ('{"a":[1\n,2\n]}', '{"a":[1\n,2\n,{"x":1,"y":[2,3]}\n]}'),
    ],
)
def test_compact_and_odd_layouts_are_followed(text: str, new: str) -> None:
    assert edited(text, insert_item, "/a/-", {"x": 1, "y": [2, 3]}) == new


def test_deleting_keeps_the_layout_of_the_rest() -> None:
    text = "[\n  1,\n  2,\n  3\n]"

    assert edited(text, delete_value, "/0") == "[\n  2,\n  3\n]"
    assert edited(text, delete_value, "/1") == "[\n  1,\n  3\n]"
    assert edited(text, delete_value, "/2") == "[\n  1,\n  2\n]"
    assert edited("[\n  1\n]", delete_value, "/0") == "[]"


def test_a_move_into_an_empty_array_keeps_the_spelling() -> None:
    text = '{\n  "from": [\n    {"n": 1.50, "s": "\\u0041"}\n  ],\n  "to": []\n}'

    assert edited(text, move_item, "/from/0", "/to/-") == (
        '{\n  "from": [],\n  "to": [\n    {"n": 1.50, "s": "\\u0041"}\n  ]\n}'
    )


def test_moving_the_last_element_to_the_end_changes_nothing() -> None:
    assert edited("[1, 2]", move_item, "/1", "/-") == "[1, 2]"
    assert edited("[1, 2]", move_item, "/0", "/-") == "[2, 1]"


def test_a_window_is_edited_inside_its_file() -> None:
    data = b'text {"a": 0}\n<<<CONTEXT>>>\n{"a": 1}\ntail'
    start = data.index(b'{"a": 1}')

    new = set_value(parse(data, start, start + 8), "/a", "long value")

    assert new == data.replace(b'{"a": 1}', b'{"a": "long value"}')


def test_the_root_can_be_replaced() -> None:
    assert edited(" [1] \n", set_value, "", {"a": 1}) == ' {"a": 1} \n'


# -- refused edits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pointer", ["/a/x", "/a/b/0", "/a/b/-"])
def test_nothing_is_edited_inside_an_object_with_a_repeated_key(pointer: str) -> None:
    document = parse(b'{"a": {"x": 1, "b": [1], "x": 2}, "c": 1}')
    edit = insert_item if pointer.endswith("-") else set_value

    with pytest.raises(SpliceError, match="/a has a duplicate key"):
        edit(document, pointer, 5)


def test_an_object_with_a_repeated_key_can_be_replaced_or_deleted_whole() -> None:
    text = '{"a": {"x": 1, "x": 2}, "c": 1}'

    assert edited(text, delete_value, "/a") == '{"c": 1}'
    assert edited(text, set_value, "/a", 1) == '{"a": 1, "c": 1}'


@pytest.mark.parametrize(
    ("edit", "arguments", "reason"),
    [
        (set_value, ("/a/5", 1), "there is no object to add /a/5 to"),
        (set_value, ("/x/y", 1), "there is no object to add /x/y to"),
        (set_value, ("a", 1), "there is no object to add a to"),
        (set_value, ("/b", float("inf")), "cannot be written as JSON"),
        (set_value, ("/b", 2**64 + 1), "cannot be written as JSON without changing it"),
        (insert_item, ("/b/-", 1), "there is no array to add /b/- to"),
        (insert_item, ("/a/7", 1), "there is no element at /a/7"),
        (insert_item, ("", 1), "there is no array"),
        (delete_value, ("",), "the whole document cannot be deleted"),
        (delete_value, ("/z",), "there is nothing at /z"),
        (move_item, ("/b", "/a/-"), "there is no element at /b"),
        (move_item, ("/a/0", "/a/0"), "only be moved to the end of an array"),
        (move_item, ("/a/1", "/a/1/-"), "cannot be moved into itself"),
    ],
)
def test_an_impossible_edit_is_refused_with_a_reason(
    edit: Callable[..., bytes], arguments: tuple[object, ...], reason: str
) -> None:
    with pytest.raises(SpliceError, match=reason):
        edited('{"a": [1, [2]], "b": 3}', edit, *arguments)


def test_edits_at_great_depth_work() -> None:
    depth = 20_000
    document = parse(b"[" * depth + b"]" * depth)

    assert set_value(document, "/0" * (depth - 1), 5) == b"[" * (depth - 1) + b"5" + b"]" * (depth - 1)
    assert len(insert_item(document, "/0" * (depth - 1) + "/-", document.value)) == 4 * depth
