"""Todo numbers, summary and cursor: SNP028 to 031."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Effect, Severity
from ctxview.formats.snapshot.model import SnapshotRole
from tests.formats.snapshot.rules.checking import BARE, changed, of_value, with_cursor, with_todo


@pytest.mark.parametrize(
    ("total", "step"),
    [(-1, 0), (3, -1), (3, 4), (0, 1), ("3", 2), (3, None), (2.5, 1), (3, True), (..., 1), (3, ...)],
)
def test_impossible_todo_numbers_are_an_error(total, step):
    findings = of_value(28, with_todo(total=total, step=step))
    assert findings
    assert {finding.severity for finding in findings} == {Severity.ERROR}


@pytest.mark.parametrize(("total", "step"), [(0, 0), (3, 3), (3, 0), (1, 1), (3.0, 2.0)])
def test_possible_todo_numbers_are_fine(total, step):
    assert of_value(28, with_todo(total=total, step=step)) == []


@pytest.mark.parametrize("todo", [..., None, [], "x"])
def test_a_missing_todo_section_is_one_error(todo):
    (finding,) = of_value(28, changed(todo=todo))
    assert finding.severity is Severity.ERROR
    assert of_value(28, changed(todo=todo), role=SnapshotRole.EMITTED)[0].effect is Effect.RESTORED


@pytest.mark.parametrize(
    ("summary", "total", "step"),
    [
        ("暂无TODO", 0, 0),
        ("已完成 3/3", 3, 3),
        ("进行中 0/3（当前第1步）", 3, 1),
        ("进行中 1/3（当前第2步）", 3, 2),
        ("进行中 2/3（当前第1步，存在跳步）", 3, 1),
        ("进行中 1/3（当前第1步，存在跳步）", 3, 1),
    ],
)
def test_a_true_summary_is_fine(summary: str, total: int, step: int):
    assert of_value(29, with_todo(summary=summary, total=total, step=step)) == []


@pytest.mark.parametrize(
    ("summary", "total", "step"),
    [
        ("暂无TODO", 3, 2),
        ("已完成 2/3", 3, 3),
        ("已完成 3/3", 3, 2),
        ("已完成 3/3", 4, 3),
        ("进行中 2/3（当前第2步）", 3, 2),
        ("进行中 1/3（当前第2步）", 4, 2),
        ("进行中 1/3（当前第2步）", 3, 1),
        ("进行中 0/3（当前第1步，存在跳步）", 3, 1),
        ("进行中 3/3（当前第1步，存在跳步）", 3, 1),
        ("two of three", 3, 2),
        ("", 3, 2),
        (..., 3, 2),
        (7, 3, 2),
    ],
)
def test_a_summary_that_cannot_be_true_is_a_warning(summary, total: int, step: int):
    findings = of_value(29, with_todo(summary=summary, total=total, step=step))
    assert findings
    assert {finding.severity for finding in findings} == {Severity.WARNING}


def test_the_bare_protocol_has_no_wording():
    assert of_value(29, with_todo(summary="two of three"), profile=BARE) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"v": 2},
        {"v": "1"},
        {"v": True},
        {"v": ...},
        {"phase": "thinking"},
        {"phase": ["doing"]},
        {"next": "todo_delete"},
        {"next": ...},
        {"targetId": ...},
        {"targetId": None},
        {"targetId": 0},
        {"targetId": 1.5},
        {"targetId": "2"},
        {"next": "none"},
        {"next": "todo_list", "targetId": 1},
        {"note": 3},
        {"note": None},
        {"extra": 1},
    ],
)
def test_a_cursor_without_its_strict_shape_is_ignored(fields):
    (finding,) = of_value(30, with_cursor(**fields))
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.IGNORED


@pytest.mark.parametrize(
    "fields",
    [
        {"v": 1.0},
        {"note": ...},
        {"next": "none", "targetId": None},
        {"next": "todo_clear_done", "targetId": None},
        {"next": "todo_remove", "targetId": 1},
        {"note": "x" * 120},
        {"note": f" {'😀' * 60} "},
    ],
)
def test_a_cursor_in_its_strict_shape_is_fine(fields):
    assert of_value(30, with_cursor(**fields)) == []


def test_an_action_without_target_still_needs_the_key():
    (finding,) = of_value(30, with_cursor(next="todo_list", targetId=...))
    assert "targetId is missing" in finding.message


def test_a_blank_or_long_note_is_a_warning():
    (blank,) = of_value(30, with_cursor(note="  "))
    (long,) = of_value(30, with_cursor(note="x" * 121))
    assert blank.severity is long.severity is Severity.WARNING
    assert long.effect is Effect.TRUNCATED
    assert of_value(30, with_cursor(note="x" * 500), profile=BARE) == []


@pytest.mark.parametrize("cursor", ["doing", 3, [], True])
def test_a_cursor_that_is_not_an_object_is_an_error(cursor):
    assert of_value(30, with_todo(cursor=cursor))[0].severity is Severity.ERROR


@pytest.mark.parametrize("cursor", [None, ...])
def test_no_cursor_is_fine(cursor):
    assert of_value(30, with_todo(cursor=cursor)) == []
    assert of_value(31, with_todo(cursor=cursor)) == []


def test_a_target_in_an_empty_list_is_mentioned():
    cursor = {"v": 1, "phase": "doing", "next": "todo_complete", "targetId": 1}
    (finding,) = of_value(31, with_todo(total=0, step=0, cursor=cursor))
    assert finding.severity is Severity.INFO
    assert of_value(31, with_todo(total=1, step=1, cursor=cursor)) == []


def test_a_mutating_action_while_blocked_is_mentioned():
    (finding,) = of_value(31, with_cursor(phase="blocked", next="todo_add", targetId=None))
    assert finding.severity is Severity.INFO
    assert of_value(31, with_cursor(phase="blocked", next="todo_list", targetId=None)) == []
