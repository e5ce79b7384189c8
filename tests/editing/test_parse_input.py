from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.core.fields import ChoiceShape, FieldShape, JsonShape, NumberShape, TagsShape, TextShape
from ctxview.core.origin import JsonValue
from ctxview.editing.form_input import input_text, parse_input, range_words, step_number, utf16_length

SHARE = NumberShape(0, 1)
ROUND = NumberShape(1, integer=True)
TARGET = NumberShape(1, integer=True, nullable=True)
TAGS = TagsShape(8, 32)


def problems(shape: FieldShape, text: str) -> list[tuple[str, bool]]:
    return [(problem.message, problem.error) for problem in parse_input(shape, text).problems]


@pytest.mark.parametrize(
    ("shape", "text", "value"),
    [
        (SHARE, "0.4", 0.4),
        (SHARE, " .5 ", 0.5),
        (SHARE, "1", 1),
        (SHARE, "5e-1", 0.5),
        (ROUND, "2.0", 2),
        (TARGET, "", None),
        (TARGET, "7", 7),
        (TAGS, "", []),
        (TAGS, "a, b ,, c,", ["a", "b", "c"]),
        (TAGS, '"a, b", c', ["a, b", "c"]),
        (ChoiceShape(("open", "done")), "done", "done"),
        (JsonShape(), ' {"a": [1, null]} ', {"a": [1, None]}),
        (TextShape(), " keeps its spaces ", " keeps its spaces "),
    ],
)
def test_typed_text_is_read_as_its_value(shape: FieldShape, text: str, value: JsonValue) -> None:
    typed = parse_input(shape, text)
    assert (typed.value, typed.problems, typed.filled) == (value, (), True)


@pytest.mark.parametrize(
    ("shape", "text", "message"),
    [
        (SHARE, "1.2", "must be between 0 and 1"),
        (SHARE, "-0.1", "must be between 0 and 1"),
        (SHARE, "abc", "not a number"),
        (SHARE, "nan", "not a number"),
        (SHARE, "9" * 500, "not a number"),
        (SHARE, "1e999", "too large"),
        (ROUND, "1.5", "must be a whole number"),
        (ROUND, "0", "must be at least 1"),
        (TextShape(), " \n ", "must not be blank"),
        (ChoiceShape(("open",)), "shut", "choose one"),
        (TAGS, '"a', "a quoted tag is not a valid JSON string: check its quotes"),
    ],
)
def test_a_mistake_is_named_and_stops_the_edit(shape: FieldShape, text: str, message: str) -> None:
    assert problems(shape, text) == [(message, True)]


def test_json_mistakes_name_line_and_column() -> None:
    ((message, error),) = problems(JsonShape(), '{\n  "a": tru\n}')
    assert error
    assert message.startswith("line 2 column ")


def test_a_value_that_a_runtime_would_repair_is_a_warning() -> None:
    assert problems(TAGS, "a,b,c,d,e,f,g,h,i") == [("9 tags, 8 are kept", False)]
    assert problems(TAGS, "a, b, a") == [("a appears twice", False)]
    assert problems(TAGS, "x" * 33) == [("xxxxxxxxxxxx… is 33 long, 32 are kept", False)]
    assert problems(TextShape(4), "ab😀c") == [("5 long, 4 are kept: the last 1 would be cut", False)]
    assert problems(JsonShape(), '{"a": 1, "a": 2}') == [
        ("/a appears more than once: the last one wins", False)
    ]


def test_lengths_count_as_javascript_counts() -> None:
    assert utf16_length("a😀漢") == 4


@pytest.mark.parametrize(
    ("shape", "value", "text"),
    [
        (SHARE, 0.4, "0.4"),
        (SHARE, 1.0, "1"),
        (SHARE, "0.4", '"0.4"'),
        (SHARE, True, "true"),
        (SHARE, None, ""),
        (TAGS, ["a", "b, c", " d"], 'a, "b, c", " d"'),
        (TAGS, [1], "[1]"),
        (ChoiceShape(("open",)), "shut", "shut"),
        (TextShape(), 3, "3"),
    ],
)
def test_a_value_is_written_as_a_person_would_type_it(shape: FieldShape, value: JsonValue, text: str) -> None:
    assert input_text(shape, value) == text


@given(st.lists(st.text(min_size=1, max_size=8), max_size=5))
def test_written_tags_are_read_unchanged(tags: list[str]) -> None:
    assert parse_input(TAGS, input_text(TAGS, [*tags])).value == tags


def test_steps_stay_within_the_range() -> None:
    assert [step_number(SHARE, "0.4", 1), step_number(SHARE, "0.4", -1), step_number(SHARE, "0.98", 1)] == [
        "0.45",
        "0.35",
        "1",
    ]
    assert [step_number(SHARE, "0.02", -1), step_number(ROUND, "1", -1), step_number(ROUND, "4", 1)] == [
        "0",
        "1",
        "5",
    ]
    assert [
        step_number(SHARE, "0.04", 1),
        step_number(SHARE, "0.04", -1),
        step_number(SHARE, "0.97", -1),
    ] == ["0.05", "0", "0.95"]
    assert [step_number(SHARE, "", 1), step_number(TARGET, "", 1), step_number(ROUND, "x", -1)] == [
        "0",
        "1",
        "1",
    ]


def test_a_range_says_no_limit_of_a_data_type_and_no_range_of_one_number() -> None:
    assert range_words(NumberShape(0, 2**63 - 1, integer=True)) == "whole number, at least 0"
    assert range_words(NumberShape(1, 1, integer=True)) == "whole number, only 1"
