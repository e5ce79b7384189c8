"""The context block of a prompt is read as far as it can be parsed, and nothing is guessed."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.formats.snapshot.parser import SnapshotFileKind, parse_file
from ctxview.formats.snapshot.toon import ToonDocument
from ctxview.formats.snapshot.toon_writer import toon_lines, toon_text
from tests.formats.snapshot.builders import to_bytes

PROMPT = """You are an agent.
<context>
version: 3
runtime:
  round: 4
  workspace: /work/space/
  datetime: "2026-02-25T10:00:00.000Z"
memory:
  core[1]:
    - id: core-001
      type: identity
      decay: 0.05
      confidence: 0.95
      round: 1
      tags[2]: agent,"a, b"
      content: "says: \\"hi\\"\\nand more"
  working[0]:
  ephemeral[2]{id,type,decay}:
    t1,hint,0.5
    t2,"hint, too",1e-2
todo:
  summary: 暂无TODO
  total: 0
  cursor: null
flag: true
</context>
"""


def read_toon(text: str) -> ToonDocument:
    document = parse_file("prompt.txt", text.encode()).document
    assert isinstance(document, ToonDocument)
    return document


def test_objects_lists_inline_and_tabular_arrays_are_read() -> None:
    value = read_toon(PROMPT).value
    assert isinstance(value, dict)
    memory = value["memory"]
    assert isinstance(memory, dict)
    assert memory["core"] == [
        {
            "id": "core-001",
            "type": "identity",
            "decay": 0.05,
            "confidence": 0.95,
            "round": 1,
            "tags": ["agent", "a, b"],
            "content": 'says: "hi"\nand more',
        }
    ]
    assert memory["working"] == []
    assert memory["ephemeral"] == [
        {"id": "t1", "type": "hint", "decay": 0.5},
        {"id": "t2", "type": "hint, too", "decay": 0.01},
    ]
    assert value["todo"] == {"summary": "暂无TODO", "total": 0, "cursor": None}
    assert value["flag"] is True


def test_a_block_has_its_lines_as_origin() -> None:
    found = parse_file("prompt.txt", PROMPT.encode())
    assert found.kind is SnapshotFileKind.PROMPT
    assert found.snapshot is not None
    origin = found.snapshot.origin_of(found.snapshot.tier("core")[0].pointer)
    assert origin.line == 10
    assert found.data[origin.start : origin.end].startswith(b"- id: core-001")


def test_an_unreadable_line_is_named_and_the_rest_is_read() -> None:
    document = read_toon("<context>\nversion: 3\n what is this\nround: 2\ncore[3]: a,b\n</context>")
    assert document.value == {"version": 3, "round": 2, "core": ["a", "b"]}
    assert [(place.line, reason) for place, reason in document.problems] == [
        (3, "the line is indented, but no line above opens an object"),
        (5, "3 elements are announced, 2 could be read"),
    ]


def test_a_context_block_in_saved_messages_is_found() -> None:
    messages = {"ok": True, "data": {"messages": [{"role": "system", "content": PROMPT}]}}
    found = parse_file("messages.json", to_bytes(messages))
    assert found.snapshot is not None
    assert found.snapshot.round == 4
    assert found.snapshot.origin("runtime").pointer == "/data/messages/0/content"


def test_very_deep_indentation_is_a_problem_and_not_an_error() -> None:
    deep = "\n".join(" " * (2 * level) + "a:" for level in range(500))
    document = read_toon(f"<context>\nversion: 3\n{deep}\n</context>")
    assert document.problems


# -- what the runtime writes ---------------------------------------------------------------------------


KEYS = st.sampled_from(
    ["a", "b_1", "null", "true", "", "with-dash", "a b", "k[0]", "x}y", 'q"', "键"]
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
WORDS = st.sampled_from(
    ["", "-", "- x", "05", "1e5", "true", "null", "a: b", "a,b", "[2]: a", "\x85x\x85", "\u2028"]
)
TEXTS = WORDS | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.integers(-(10**14), 10**14) | st.floats(allow_nan=False, allow_infinity=False)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=16,
)


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_what_the_runtime_writes_is_read_back_without_a_problem(value: dict[str, Any]) -> None:
    data = toon_text(value).encode()
    document = ToonDocument(data, 0, len(data))
    assert document.value == value
    assert document.problems == ()


EXAMPLE = """version: "3.0"
memory:
  core[1]:
    - id: s1
      tags[3]: "true","05","-x"
      content: "-0.40"
      empty:
      none[0]:
      mixed[4]:
        - 1
        - null
        - k[0]:
        - [2]:
          - a
          - [0]:
      rows[2]{b,a}:
        1e-7,1e+21
        0.3,0
      "with-dash": a|b
      [1]: 1
  working[0]:
active_task: null"""


def test_the_worked_example_of_the_runtime_is_read_back() -> None:
    data = EXAMPLE.encode()
    value = {
        "version": "3.0",
        "memory": {
            "core": [
                {
                    "id": "s1",
                    "tags": ["true", "05", "-x"],
                    "content": "-0.40",
                    "empty": {},
                    "none": [],
                    "mixed": [1, None, {"k": []}, ["a", []]],
                    "rows": [{"b": 1e-7, "a": 1e21}, {"b": 0.3, "a": 0}],
                    "with-dash": "a|b",
                    "": [1],
                }
            ],
            "working": [],
        },
        "active_task": None,
    }
    document = ToonDocument(data, 0, len(data))
    assert (document.value, document.problems) == (value, ())


def test_a_list_in_a_list_is_not_a_text() -> None:
    assert read_toon("<context>\nversion: 3\na[1]:\n  - [3]: a,b,c\n</context>").value == {
        "version": 3,
        "a": [["a", "b", "c"]],
    }


def test_a_table_after_a_hyphen_is_under_the_empty_key() -> None:
    text = "<context>\nversion: 3\na[1]:\n  - [2]{x}:\n      1\n      2\n    y: 3\n</context>"
    assert read_toon(text).value == {"version": 3, "a": [{"": [{"x": 1}, {"x": 2}], "y": 3}]}


def test_the_heads_of_a_table_are_texts() -> None:
    document = read_toon('<context>\nversion: 3\na[1]{null,true,"x}y"}:\n  1,2,3\n</context>')
    assert document.value == {"version": 3, "a": [{"null": 1, "true": 2, "x}y": 3}]}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('a: "open', "a text in quotes does not end with its quote"),
        ('a: "one" two', "a text in quotes does not end with its quote"),
        ("a[1]{x,y}:\n  1,2,3", "the row has 3 cells, its head 2"),
        (": 1", "the line is not `key: value`"),
    ],
)
def test_a_text_that_the_runtime_cannot_have_written_is_a_problem(line: str, reason: str) -> None:
    assert reason in [why for _, why in read_toon(f"<context>\nversion: 3\n{line}\n</context>").problems]


def test_large_numbers_are_doubles() -> None:
    value = read_toon("<context>\nversion: 3\na: 12345678901234567000\n</context>").value
    assert isinstance(value, dict)
    assert isinstance(value["a"], float)
    assert math.isclose(value["a"], 12345678901234567890.0, rel_tol=0)


def test_lists_in_lists_have_a_limit() -> None:
    deep = "\n".join(" " * (2 * level) + "- [1]:" for level in range(1, 500))
    assert read_toon(f"<context>\nversion: 3\na[1]:\n{deep}\n</context>").problems


# -- writing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"a": 0.40}, "a: 0.4"),
        ({"a": 3.0}, "a: 3"),
        ({"a": -0.0}, "a: 0"),
        ({"a": 1e21}, "a: 1e+21"),
        ({"a": 123456789012345678901}, "a: 123456789012345680000"),
        ({"a": 12345678901234567890}, "a: 12345678901234567000"),
        ({"a": 0.000001}, "a: 0.000001"),
        ({"a": 2.5e-7}, "a: 2.5e-7"),
        ({"a": math.inf}, "a: null"),
        ({"a": 10**400}, "a: null"),
        ({"a": "05"}, 'a: "05"'),
        ({"a": "1e5"}, 'a: "1e5"'),
        ({"a": "-3.14"}, 'a: "-3.14"'),
        ({"a": "+5"}, "a: +5"),
        ({"a": ".5"}, "a: .5"),
        ({"a": "5."}, "a: 5."),
        ({"a": "0x1F"}, "a: 0x1F"),
        ({"a": "１２"}, "a: １２"),
        ({"a": "NaN"}, "a: NaN"),
        ({"a": "True"}, "a: True"),
        ({"a": "null"}, 'a: "null"'),
        ({"a": ""}, 'a: ""'),
        ({"a": "\u00a0x"}, 'a: "\u00a0x"'),
        ({"a": "x\ufeff"}, 'a: "x\ufeff"'),
        ({"a": "\x85x\u200b"}, "a: \x85x\u200b"),
        ({"a": "#x | <y> *z* 'q'"}, "a: #x | <y> *z* 'q'"),
        ({"a": 'b "c" \\\n\r\t'}, r'a: "b \"c\" \\\n\r\t"'),
        ({"a": "\x01"}, "a: \x01"),
        ({"a.b_1": 1, "\u212a": 2, "é": 3, "1a": 4}, 'a.b_1: 1\n"\u212a": 2\n"é": 3\n"1a": 4'),
        (
            {"b": 1, "10": 2, "9": 3, "09": 4, "4294967295": 5},
            '"9": 3\n"10": 2\nb: 1\n"09": 4\n"4294967295": 5',
        ),
        ({"a": [{"x": 1, "y": 2}, {"y": 3, "x": 4}]}, "a[2]{x,y}:\n  1,2\n  4,3"),
        ({"a": [{"x": 1}, {"x": []}]}, "a[2]:\n  - x: 1\n  - x[0]:"),
        ({"a": [[{"x": 1}]]}, "a[1]:\n  - [1]:\n    - x: 1"),
        ({"a": [{}, {"o": {"p": 1}, "q": 2}]}, "a[2]:\n  -\n  - o:\n      p: 1\n    q: 2"),
        ({"a": [{"t": [{"x": 1}], "q": 2}]}, "a[1]:\n  - t[1]{x}:\n      1\n    q: 2"),
        ({"": 1}, '"": 1'),
        ({"": {}}, '"":'),
        ({"": [{"a": 1}]}, "[1]{a}:\n  1"),
        ({"a": [{"": [1]}]}, 'a[1]:\n  - ""[1]: 1'),
        ({"a": [{"": [{"b": 1}]}]}, "a[1]:\n  - [1]{b}:\n      1"),
    ],
)
def test_a_value_is_written_as_the_library_writes_it(value: dict[str, Any], line: str) -> None:
    assert toon_text(value) == line


def test_the_worked_example_of_the_runtime_is_written_again() -> None:
    data = EXAMPLE.encode()
    value = ToonDocument(data, 0, len(data)).value
    assert isinstance(value, dict)
    assert toon_text(value) == EXAMPLE


def test_each_line_has_the_path_of_its_value() -> None:
    value = {"a": {"b": [{"x": 1, "y": [2]}]}, "t": [{"x": 1}]}
    assert [(line.text.strip(), line.path) for line in toon_lines(value)] == [
        ("a:", ("a",)),
        ("b[1]:", ("a", "b")),
        ("- x: 1", ("a", "b", 0, "x")),
        ("y[1]: 2", ("a", "b", 0, "y")),
        ("t[1]{x}:", ("t",)),
        ("1", ("t", 0)),
    ]


def test_a_very_deep_value_is_written() -> None:
    value: Any = 1
    for _ in range(3000):
        value = [value]
    assert toon_text({"a": value}).count("[1]:") == 3000
