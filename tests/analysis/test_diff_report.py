"""A difference as lines and as JSON."""

from __future__ import annotations

import json

from ctxview.analysis.diff.model import (
    Change,
    ChangeGroup,
    ChangeKind,
    Delta,
    DiffSide,
    StateDiff,
    word_pieces,
)
from ctxview.analysis.diff.report import json_of, lines_of
from ctxview.core.fields import Owner

OLD, NEW = "keep the old parser alive for now", "keep the new parser alive for now"
BLOCK = Change(
    ChangeGroup.BLOCKS,
    ChangeKind.MOVED,
    "work-7",
    "longterm",
    "working",
    (Delta("decay", 0.4, 0.7, "raised"), Delta("text", OLD, NEW, "changed", pieces=word_pieces(OLD, NEW))),
    "hidden",
    "decay 0.70 > 0.45",
    course="promoted",
)
CLOCK = Change(
    ChangeGroup.FIELDS, ChangeKind.CHANGED, "round", deltas=(Delta("round", 3.0, 4, "raised", Owner.SYSTEM),)
)


def difference(*changes: Change) -> StateDiff:
    return StateDiff(DiffSide("a", "a.json", "1"), DiffSide("b", "b.json", "2"), changes)


def test_lines_are_grouped_and_counted() -> None:
    assert lines_of(difference(BLOCK, CLOCK)) == [
        "Memory: 1 moved · 1 of them newly hidden · 1 of them promoted",
        "  > longterm/work-7  promoted from working  no longer shown to the model: decay 0.70 > 0.45",
        "      decay  0.4 → 0.7 (raised)",
        "      text  keep the [-old-]{+new+} parser alive for now",
        "Fields: 1 changed",
        "  ~ round  3 → 4 (raised)   the system's field",
    ]


def test_the_heading_counts_changed_blocks_as_the_totals_do() -> None:
    decay = (Delta("decay", 0.4, 0.7, "raised"),)
    blocks = [
        Change(ChangeGroup.BLOCKS, ChangeKind.CHANGED, "a", "core", deltas=decay),
        Change(ChangeGroup.BLOCKS, ChangeKind.HIDDEN, "b", "core", deltas=decay, visibility="hidden"),
        Change(ChangeGroup.BLOCKS, ChangeKind.HIDDEN, "c", "core", visibility="hidden"),
    ]
    found = difference(*blocks)
    assert found.block_counts().text == "2 changed; 2 now hidden"
    assert set(lines_of(found)[0].removeprefix("Memory: ").split(" · ")) == {"2 changed", "2 newly hidden"}


def test_an_added_block_has_a_line_of_facts_and_a_line_of_text() -> None:
    deltas = (Delta("type", None, "task", "added"), Delta("text", None, "read it", "added"))
    new = Change(ChangeGroup.BLOCKS, ChangeKind.ADDED, "work-8", "working", deltas=deltas, why="too old")
    assert lines_of(difference(new))[1:] == [
        "  + working/work-8  added, hidden: too old",
        "      type task",
        '      "read it"',
    ]


def test_no_difference_is_one_line() -> None:
    assert lines_of(difference()) == ["No difference in meaning."]


def test_lines_are_safe_to_print() -> None:
    hostile = "\x1b[31m\u202e\n" * 3
    delta = Delta(hostile, hostile, hostile * 9, "changed", pieces=word_pieces(hostile, hostile * 9))
    change = Change(ChangeGroup.BLOCKS, ChangeKind.CHANGED, hostile, hostile, deltas=(delta,), why=hostile)
    assert all(line.isprintable() for line in lines_of(difference(change)))


def test_json_has_stable_keys_for_every_group() -> None:
    found = json_of(difference(BLOCK))
    assert list(found) == ["equal", "before", "after", "counts", *(group.value for group in ChangeGroup)]
    assert found["equal"] is False
    assert found["before"] == {"title": "a", "source": "a.json", "revision": "1"}
    assert found["counts"] == {"moved": 1}
    assert found["refs"] == []
    (block,) = found["blocks"] if isinstance(found["blocks"], list) else ()
    assert isinstance(block, dict)
    assert {name: value for name, value in block.items() if name != "deltas"} == {
        "kind": "moved",
        "subject": "work-7",
        "place": "longterm",
        "from": "working",
        "course": "promoted",
        "lost": None,
        "in_history": False,
        "visibility": "hidden",
        "why": "decay 0.70 > 0.45",
    }
    assert isinstance(block["deltas"], list)
    assert block["deltas"][0] == {
        "name": "decay",
        "before": 0.4,
        "after": 0.7,
        "word": "raised",
        "owner": None,
        "system": False,
        "crossed": None,
        "tampered": False,
        "pieces": None,
    }


def test_json_can_always_be_written() -> None:
    odd = Change(
        ChangeGroup.FIELDS,
        ChangeKind.CHANGED,
        "x",
        deltas=(Delta("x", float("inf"), {"a": [3.0]}, "changed"),),
    )
    assert json.loads(json.dumps(json_of(difference(odd)), allow_nan=False))["equal"] is False
