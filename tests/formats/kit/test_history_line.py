"""One line of a history: whether it is a record, and why not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.files.strict_json.document import JsonError, parse
from ctxview.formats.kit.history_line import HistoryLine

PIECES = st.sampled_from(
    (
        *(b'{"a":', b'"x"', b"1", b"1e400", b"-", b"9" * 310, b"}", b"]", b"[", b",", b":", b"{"),
        *(b'"\\ud83d"', b"\\", b'"', b" ", b"\t", b"\xff", b"null", b"nul", b"\x00", b"\xef\xbb\xbf"),
        *(b"\\u00", b"[" * 1100, b"]" * 1100, b"1.", b"01", b"1E+999", b'"\\n"', b"'a'", b"//"),
    )
)


def line(content: bytes) -> HistoryLine:
    return HistoryLine("messages.jsonl", "messages.jsonl", 0, 0, len(content), content)


@given(st.lists(PIECES, min_size=1, max_size=8).map(b"".join))
def test_a_line_is_broken_exactly_when_it_is_not_a_strict_object(content: bytes) -> None:
    try:
        good = isinstance(parse(content).value, dict)
    except JsonError:
        good = False

    found = line(content)

    assert found.is_broken == (not good and not found.is_blank)
    assert (found.problem is not None) == found.is_broken
    assert (found.value is not None) == good


def test_a_problem_names_the_column() -> None:
    assert line(b'{"a": 1,}').problem == "not JSON: column 8: trailing comma before }"


RECORDS = st.dictionaries(
    st.text(max_size=3), st.recursive(st.text() | st.floats() | st.integers(), st.lists)
)


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@given(record=RECORDS, ascii_only=st.booleans())
def test_a_written_object_has_no_duplicates(
    record: dict[str, object], ascii_only: bool, separators: tuple[str, str]
) -> None:
    text = json.dumps(record, separators=separators, ensure_ascii=ascii_only)

    assert not line(text.encode("utf-8", "surrogatepass")).has_duplicates()


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":1}', '{"a": 1, "a": 1}', '{"b": {"a": 1, "a": 2}}', '{"\\u0061": 1, "a": 1}']
)
def test_a_duplicate_key_is_found_however_it_is_written(text: str) -> None:
    assert line(text.encode()).has_duplicates()
