"""Memory store, queue and todo list: SNP059 to 065."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Effect, Severity
from ctxview.formats.snapshot.model import QueueLine, TodoRow
from ctxview.formats.snapshot.rules.store import todo_progress
from tests.formats.snapshot.builders import snapshot_of
from tests.formats.snapshot.rules.checking import ATOM, of_store, with_cursor, with_todo
from tests.formats.snapshot.rules.template import entry, sha256, store, template, todo_rows


def test_a_content_that_does_not_have_its_hash_is_an_error_at_its_row():
    (finding,) = of_store(59, store(entries=(entry(row=12, content="other"),)))
    assert finding.severity is Severity.ERROR
    assert finding.origin.file == ".agent/memory.db"
    assert finding.origin.pointer == "/persistent_memory_entries/12"


def test_the_hash_is_that_of_utf8():
    assert of_store(59, store(entries=(entry(content="长期😀", content_hash=sha256("长期😀")),))) == []


@pytest.mark.parametrize("tag_id", [None, "", "tag:gone"])
def test_a_cold_row_without_payload_is_an_error(tag_id):
    found = store(entries=(entry(content_state="tag_ref", tag_id=tag_id),), payloads={})
    (finding,) = of_store(60, found)
    assert finding.severity is Severity.ERROR


def test_a_cold_row_with_payload_is_fine_and_an_orphan_is_mentioned():
    cold = entry(content_state="tag_ref", tag_id="tag:1")
    assert of_store(60, store(entries=(cold,), payloads={"tag:1": "text"})) == []
    (finding,) = of_store(60, store(entries=(cold,), payloads={"tag:1": "text", "tag:2": "text"}))
    assert finding.severity is Severity.INFO
    assert finding.origin.pointer == "/persistent_memory_tag_payloads/tag:2"


def test_a_rehydrated_row_still_uses_its_payload():
    assert of_store(60, store(entries=(entry(tag_id="tag:1"),), payloads={"tag:1": "text"})) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"block_id": "persistent:a"},
        {"block_id": "working:working:a"},
        {"memory_type": "persistent_recall"},
        {"memory_type": "persistent_longterm_recall"},
    ],
)
def test_a_stored_copy_of_a_recalled_memory_is_a_warning(fields):
    (finding,) = of_store(61, store(entries=(entry(**fields),)))
    assert finding.severity is Severity.WARNING


def test_a_captured_working_block_is_fine():
    assert of_store(61, store(entries=(entry(block_id="working:a"),))) == []


def test_reversed_rounds_are_only_mentioned():
    (finding,) = of_store(62, store(entries=(entry(first_seen_round=4, last_seen_round=3),)))
    assert finding.severity is Severity.INFO
    assert of_store(62, store(entries=(entry(first_seen_round=3, last_seen_round=3),))) == []
    assert of_store(62, store(entries=(entry(first_seen_round=None),))) == []


@pytest.mark.parametrize(("rows", "expected"), [(0, 1), (1, 0), (2, 1), (None, 0)])
def test_the_search_index_has_one_row_for_each_memory(rows, expected: int):
    assert len(of_store(63, store(fts_rows=rows))) == expected


JOB = {
    "jobId": "j1",
    "createdAt": 1,
    "sourceTier": "core",
    "sourceTaskId": None,
    "blockId": "core-9",
    "contentHash": sha256("text"),
    "block": {"content": "text"},
}


def line(job=..., number: int = 1, problem: str | None = None) -> QueueLine:
    return QueueLine(number, 100, 200, JOB if job is ... else job, problem)


def test_a_broken_queue_line_is_an_error_at_its_line():
    (finding,) = of_store(64, store(queue_lines=(line(None, 3, "a colon is missing"),)))
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.DROPPED
    assert (finding.origin.file, finding.origin.line) == (".agent/memory-queue.wal", 3)
    assert (finding.origin.start, finding.origin.end) == (100, 200)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("jobId", ""),
        ("createdAt", "now"),
        ("sourceTier", "working"),
        ("sourceTaskId", 3),
        ("blockId", " "),
        ("contentHash", None),
        ("block", []),
    ],
)
def test_a_queue_line_that_is_not_a_job_is_a_warning(name: str, value):
    (finding,) = of_store(64, store(queue_lines=(line({**JOB, name: value}),)))
    assert finding.severity is Severity.WARNING
    assert finding.effect is Effect.DROPPED


def test_a_queue_job_with_a_wrong_hash_is_a_warning_and_still_waits():
    findings = of_store(64, store(queue_lines=(line({**JOB, "contentHash": "0" * 64}),)))
    assert [finding.severity for finding in findings] == [Severity.WARNING, Severity.INFO]


def test_waiting_jobs_are_counted_once():
    (finding,) = of_store(64, store(queue_lines=(line(), line(number=2))))
    assert finding.severity is Severity.INFO
    assert "2 jobs wait" in finding.message
    assert of_store(64, store(queue_lines=())) == []


def rows(*statuses: str) -> tuple[TodoRow, ...]:
    return tuple(TodoRow(number, "x", "", status) for number, status in enumerate(statuses, 1))


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((), (0, 0, "暂无TODO")),
        (("done", "done"), (2, 2, "已完成 2/2")),
        (("open", "open"), (2, 1, "进行中 0/2（当前第1步）")),
        (("done", "open"), (2, 2, "进行中 1/2（当前第2步）")),
        (("open", "done"), (2, 1, "进行中 1/2（当前第1步，存在跳步）")),
        (("done", "open", "done"), (3, 2, "进行中 2/3（当前第2步，存在跳步）")),
    ],
)
def test_progress_is_worded_as_the_runtime_words_it(statuses, expected):
    found = todo_progress(rows(*statuses), ATOM.todo)
    assert (found.total, found.step, found.summary) == expected


def test_a_todo_section_that_differs_from_the_list_is_a_warning():
    findings = of_store(65, store(todo_rows=rows("done", "done", "open", "open")), snapshot_of(template()))
    assert {finding.severity for finding in findings} == {Severity.WARNING}
    pointers = [finding.origin.pointer for finding in findings]
    assert pointers == ["/todo/total", "/todo/step", "/todo/summary", "/todo/cursor"]


def test_a_todo_section_that_agrees_is_fine():
    assert of_store(65, store(), snapshot_of(template())) == []
    assert of_store(65, store(), None) == []
    assert of_store(65, store(todo_rows=None), snapshot_of(with_todo(total=9))) == []


@pytest.mark.parametrize(
    ("fields", "stale"),
    [
        ({"next": "todo_complete", "targetId": 1}, True),
        ({"next": "todo_complete", "targetId": 2}, False),
        ({"next": "todo_reopen", "targetId": 2}, True),
        ({"next": "todo_reopen", "targetId": 1}, False),
        ({"next": "todo_update", "targetId": 9}, True),
        ({"next": "todo_remove", "targetId": 3}, False),
        ({"next": "todo_list", "targetId": None}, False),
    ],
)
def test_a_cursor_is_stale_when_there_is_nothing_left_to_do(fields, stale: bool):
    findings = of_store(65, store(todo_rows=todo_rows()), snapshot_of(with_cursor(**fields)))
    assert [finding.effect for finding in findings] == ([Effect.WIPED] if stale else [])
