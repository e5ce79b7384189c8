"""The context block of a prompt is read as far as it can be parsed, and nothing is guessed."""

from __future__ import annotations

from ctxview.formats.snapshot.parser import SnapshotFileKind, parse_file
from ctxview.formats.snapshot.toon import ToonDocument
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
