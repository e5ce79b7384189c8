"""Markdown documents and front matter: sections and statements with their places, for any bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxview.formats.workspace.markdown import MarkdownDocument, read_front_matter

TEXT = b"""---
session_key: cli:default
---
Before.

## Task
Fix the clock.

## Pending
- [ ] One
  - nested
    goes on
- [x] Two

| name | value |
| --- | --- |
| port | 5432 |

```sh
# not a heading
```

<thinking>
Hm.
</thinking>
"""


def test_sections_and_statements_have_their_lines() -> None:
    document = MarkdownDocument("x.md", TEXT)
    found = [
        (section.title, each.text, each.kind, each.line, each.box) for section, each in document.statements()
    ]
    assert found == [
        ("", "Before.", "paragraph", 4, None),
        ("Task", "Fix the clock.", "paragraph", 7, None),
        ("Pending", "One", "bullet", 10, " "),
        ("Pending", "nested goes on", "bullet", 11, None),
        ("Pending", "Two", "bullet", 13, "x"),
        ("Pending", "port | 5432", "row", 17, None),
        ("Pending", "<thinking> Hm. </thinking>", "paragraph", 23, None),
    ]
    assert [(block.language, block.line, block.last) for block in document.code] == [("sh", 19, 21)]
    assert "# not a heading" not in document.prose


@given(st.binary(max_size=400) | st.text("#-* `|>\n\r[]x\t1.<a", max_size=200).map(str.encode))
def test_any_bytes_become_a_document_whose_places_are_inside_it(data: bytes) -> None:
    document = MarkdownDocument("x.md", data)
    total = len(document.lines)
    assert len(document.prose) == total
    for section, statement in document.statements():
        assert section.line < statement.line <= statement.last <= max(section.last, statement.last)
        assert 1 <= statement.line <= statement.last <= total
        origin = document.origin(statement.line, statement.last)
        assert 0 <= (origin.start or 0) <= (origin.end or 0) <= len(data)


def test_the_documented_part_of_yaml_is_read() -> None:
    lines = [
        *("---", 'name: "a: b"', "plain: two words # a comment", "list: [one, 'two']", "items:", "  - first"),
        *("  - second", "text: |", "  line one", "  line two", "---"),
    ]
    front = read_front_matter(lines)
    assert front is not None
    assert front.problems == ()
    assert dict(front.values) == {
        "name": "a: b",
        "plain": "two words",
        "list": ("one", "two"),
        "items": ("first", "second"),
        "text": "line one\nline two",
    }
    assert front.end == len(lines)


def test_everything_else_is_a_problem_with_its_line() -> None:
    front = read_front_matter(["---", "a:", "  b: c", "no key", "a: 1", "---"])
    assert front is not None
    assert front.problems == (
        (3, "nested values are not read"),
        (4, "this line is not `key: value`"),
        (5, "the key a occurs twice"),
    )


def test_front_matter_without_an_end_is_not_closed() -> None:
    front = read_front_matter(["---", "a: 1", "text"])
    assert front is not None
    assert not front.closed


@given(st.lists(st.text(max_size=20), max_size=12))
def test_any_lines_are_read_as_front_matter_without_an_error(lines: list[str]) -> None:
    front = read_front_matter(["---", *lines])
    assert front is not None
    assert front.end <= len(lines) + 1
