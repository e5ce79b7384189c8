"""Histories: rows are lines, read when shown; one pass collects the facts and can be stopped anywhere."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from ctxview.core.transcript import END
from ctxview.files.line_file import never_cancelled
from ctxview.formats.kit.folder import SourceFolder
from ctxview.formats.kit.history import FileHistoryStream
from ctxview.formats.session.grammar import parse_citation
from ctxview.formats.session.history import open_history
from ctxview.formats.session.messages import message_in
from ctxview.formats.session.parser import read_session
from ctxview.formats.session.prompt_history import prompt_view
from ctxview.formats.session.survey import runs
from ctxview.formats.session.survey.citations import CitationStatus, cited_text, resolve_citation
from ctxview.formats.session.survey.runs import RunAnomalyKind
from ctxview.formats.session.survey.surveyor import Surveyor
from ctxview.formats.session.transcript import message_transcript
from tests.formats.session.builders import (
    RUN_1,
    RUN_2,
    Build,
    assistant,
    done,
    lines,
    sound,
    start,
    tool,
    tool_call,
    user,
)
from tests.formats.session.sources import CORTEXFS, DOCUMENT, read_facts


def history_of(root: Path):
    return open_history(read_session(SourceFolder(root)))


def stream(base: Path, data: bytes) -> FileHistoryStream:
    found = history_of(Build(base, "s").set("messages.jsonl", data).write()).messages
    assert isinstance(found, FileHistoryStream)
    found.index()
    return found


def test_a_bad_line_is_a_row_and_not_the_end(tmp_path: Path):
    data = b'{"role":"user","content":"a"}\nnonsense\n\n[1]\n{"role":"user","content":"b"}'
    transcript = message_transcript(stream(tmp_path, data), CORTEXFS)
    rows = [transcript.row(number) for number in range(len(transcript))]
    assert [row.kind for row in rows] == ["text", "broken", "blank", "broken", "text"]
    assert [row.text for row in rows] == ["a", "nonsense", "", "[1]", "b"]
    assert rows[1].problem is not None
    assert rows[3].problem == "the line is JSON, but not an object"
    assert [row.origin.line for row in rows] == [1, 2, 3, 4, 5]
    assert data[slice(rows[4].origin.start, rows[4].origin.end)] == b'{"role":"user","content":"b"}'


def test_the_line_ending_is_known_however_a_line_is_read(tmp_path: Path):
    messages = stream(tmp_path, b"{}\r\n{}\n{}")
    assert [line.ending for line in messages.scan()] == [2, 1, 0]
    assert [line.ending for line in messages.tail(3)] == [2, 1, 0]
    assert [messages.line(number).ending for number in range(3)] == [2, 1, 0]


def test_the_last_lines_need_no_index_and_then_have_no_numbers(tmp_path: Path):
    root = Build(tmp_path, "s").set("messages.jsonl", b"{}\n" * 5).write()
    messages = history_of(root).messages
    assert [line.number for line in messages.tail(2)] == [None, None]
    messages.index(never_cancelled)
    assert [line.number for line in messages.tail(2)] == [3, 4]


def long_history(base: Path) -> FileHistoryStream:
    """Return a history of 3,000 lines of a kilobyte each, which is not counted at once."""
    spoken = [user(f"number {number} {'x' * 1000}") for number in range(3000)]
    found = history_of(Build(base, "s").set("messages.jsonl", lines(spoken)).write()).messages
    assert isinstance(found, FileHistoryStream)
    return found


def test_the_first_and_the_last_rows_are_available_before_all_are_counted(tmp_path: Path):
    messages = long_history(tmp_path)
    transcript = message_transcript(messages, CORTEXFS)
    assert not transcript.complete
    assert transcript.row(0).text.startswith("number 0 ")
    assert 0 < transcript.ending <= 1000
    last = transcript.row(-1)
    assert (last.index, last.text[:12], last.origin.line) == (-1, "number 2999 ", None)
    assert transcript.row(-transcript.ending).text.startswith(f"number {3000 - transcript.ending} ")
    messages.index()
    assert transcript.ending == 0
    assert transcript.row(-1).index == 2999
    with pytest.raises(IndexError):
        transcript.row(-3001)


def test_the_rows_of_both_ends_never_overlap(tmp_path: Path):
    messages = long_history(tmp_path)
    while not messages.complete:
        calls = count()
        messages.index(lambda calls=calls: next(calls) >= 1)
        assert len(messages) + messages.ending <= 3000
    assert len(messages) == 3000


@pytest.mark.parametrize(
    ("start", "backwards", "found"),
    [(0, False, 1007), (-10, True, 2007), (-10, False, None), (END, True, 2007), (END, False, None)],
)
def test_a_search_needs_no_count_of_the_lines(start: int, backwards: bool, found: int | None, tmp_path: Path):
    transcript = message_transcript(long_history(tmp_path), CORTEXFS)
    assert transcript.find("007 ", start, backwards, never_cancelled) == found


@pytest.mark.parametrize(
    ("needle", "start", "backwards", "found"),
    [
        ("grün", 0, False, 1),
        ("GRÜN", 0, False, None),
        ("say", 0, False, 0),
        ("say", 2, True, 1),
        ("Say", 0, False, 1),
        ("role", 0, False, None),
        ('"hi"', 0, False, 2),
        ("a\nb", 0, False, 2),
        ("漢", 0, False, 2),
        ("", 0, False, None),
        ("say", 9, False, None),
    ],
)
def test_a_search_finds_the_displayed_text(
    needle: str, start: int, backwards: bool, found: int | None, tmp_path: Path
):
    spoken = [user("we say yes"), user("Say it in grün"), user('"hi" a\nb \u6f22')]
    text = lines(spoken).replace("漢", "\\u6f22")
    transcript = message_transcript(stream(tmp_path, text.encode()), CORTEXFS)
    assert transcript.find(needle, start, backwards, never_cancelled) == found


def test_a_cancelled_search_finds_nothing(tmp_path: Path):
    transcript = message_transcript(stream(tmp_path, lines([user("x")]).encode()), CORTEXFS)
    assert transcript.find("x", 0, False, lambda: True) is None


def test_the_parts_of_a_message_are_joined_as_text(tmp_path: Path):
    content = [
        {"type": "text", "text": "look:"},
        {"type": "image", "path": "a.png"},
        {"type": "tool_result", "tool_call_id": "c", "content": [{"type": "text", "text": "inner"}]},
        5,
    ]
    line = stream(tmp_path, lines([{"role": "tool", "content": content}]).encode()).line(0)
    message = message_in(line)
    assert message.text == "look:\n[image a.png]\ninner"
    assert (message.kind, message.answers) == ("tool result", ("c",))


# -- the survey ----------------------------------------------------------------------------------------------


def test_the_survey_can_be_stopped_anywhere_and_continued(tmp_path: Path):
    build = sound(tmp_path)
    build.add("messages.jsonl", *(user("x" * 3000, None) for _ in range(2000)))
    history = history_of(build.write())
    whole = Surveyor(history, CORTEXFS, ())
    assert whole.advance(never_cancelled)
    stopped = Surveyor(history, CORTEXFS, ())
    rounds = 0
    while not stopped.advance(_after(3)):
        assert stopped.result is None
        rounds += 1
    assert rounds > 2
    assert stopped.result == whole.result


def test_the_survey_reports_its_progress(tmp_path: Path):
    build = sound(tmp_path).add("messages.jsonl", *(user("x" * 3000, None) for _ in range(1000)))
    history = history_of(build.write())
    reports: list[tuple[int, int]] = []
    Surveyor(history, CORTEXFS, ()).advance(
        never_cancelled, lambda done, total: reports.append((done, total))
    )
    assert reports == sorted(reports)
    assert len(reports) > 2
    assert {total for _, total in reports} == {history.size}


def test_blank_lines_are_not_counted_in_cited_numbers(tmp_path: Path):
    build = sound(tmp_path)
    first, rest = build.text("messages.jsonl").split("\n", 1)
    facts = read_facts(build.set("messages.jsonl", f"\n{first}\n \n\n{rest}").write())
    assert facts.survey is not None
    facts = facts.survey.messages
    assert (facts.lines, facts.records) == (9, 6)
    assert [facts.line_of(record) for record in range(1, 7)] == [1, 4, 5, 6, 7, 8]
    assert [facts.record_at(facts.line_of(record)) for record in range(1, 7)] == [1, 2, 3, 4, 5, 6]


def test_a_run_has_its_calls_tokens_and_messages(tmp_path: Path):
    survey = read_facts(sound(tmp_path).write()).survey
    assert survey is not None
    first, second = survey.runs.runs
    assert (first.id, first.status, first.calls, first.input_tokens) == (RUN_1, "ok", 1, 900)
    assert (first.first_message, first.last_message) == (0, 3)
    assert (second.first_message, second.last_message) == (4, 5)


def test_too_many_runs_and_calls_are_forgotten_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runs, "MOST_RUNS", 10)
    monkeypatch.setattr(runs, "MOST_CALLS", 10)
    build = sound(tmp_path)
    for number in range(50):
        build.add("events.jsonl", start(f"r{number}"), tool_call(run=f"r{number}"), done(f"r{number}"))
    survey = read_facts(build.write()).survey
    assert survey is not None
    assert len(survey.runs.runs) == 10
    assert survey.runs.forgotten == 42 + 41
    assert RunAnomalyKind.NO_START not in survey.runs.counts


def test_old_messages_without_runs_still_match_their_calls(tmp_path: Path):
    build = sound(tmp_path).lines("messages.jsonl", user("x", None), tool(run=None), assistant("y", None))
    survey = read_facts(build.write()).survey
    assert survey is not None
    assert survey.runs.counts == {}


@pytest.mark.parametrize(
    ("source", "resolution"),
    [
        ("messages:1-6", CitationStatus.RESOLVED),
        ("messages:7", CitationStatus.BEYOND),
        ("events:2-1", CitationStatus.REVERSED),
        ("user:latest", CitationStatus.RESOLVED),
        ("a letter", CitationStatus.FREE),
    ],
)
def test_a_source_is_resolved(source: str, resolution: CitationStatus, tmp_path: Path):
    facts = read_facts(sound(tmp_path).write())
    assert resolve_citation(parse_citation(source), facts.survey).resolution is resolution


def test_the_text_of_a_long_range_leaves_out_its_middle(tmp_path: Path):
    build = sound(tmp_path).add("messages.jsonl", *(user(f"number {number}", None) for number in range(100)))
    facts = read_facts(build.write())
    assert facts.survey is not None
    text = cited_text(parse_citation("messages:1-106"), facts.history, facts.survey)
    assert text.startswith("1 user: The parser test fails")
    assert "… 94 more …" in text
    assert text.endswith("106 user: number 99")
    assert cited_text(parse_citation("user:latest"), facts.history, facts.survey) == "106 user: number 99"


# -- the messages in the prompt ------------------------------------------------------------------------------


def prompt_verdicts(base: Path, profile, *records) -> list[tuple[bool, str]]:
    found = stream(base, lines(records).encode())
    return [(each.visible, each.reason or "") for each in prompt_view(found.tail(50), profile)]


def test_the_prompt_takes_the_newest_until_the_first_that_does_not_fit(tmp_path: Path):
    small, large = user("x" * 3000), user("y" * 6000)
    verdicts = prompt_verdicts(tmp_path, CORTEXFS, small, large, small)
    assert [visible for visible, _ in verdicts] == [False, False, True]
    assert "8,000 bytes" in verdicts[1][1]


def test_a_line_over_its_limit_is_dropped_and_takes_no_room(tmp_path: Path):
    verdicts = prompt_verdicts(tmp_path, CORTEXFS, user("first"), user("x" * 17000), user("last"))
    assert [visible for visible, _ in verdicts] == [True, False, True]
    assert "never reach the prompt" in verdicts[1][1]


def test_lines_without_role_or_text_never_reach_the_prompt(tmp_path: Path):
    verdicts = prompt_verdicts(tmp_path, CORTEXFS, {"content": "x"}, user("  "), "nonsense", user("ok"))
    assert [visible for visible, _ in verdicts] == [False, False, False, True]


def test_messages_before_the_window_are_not_read(tmp_path: Path):
    fillers = [{"role": "user", "content": "", "pad": "x" * 16000} for _ in range(5)]
    verdicts = prompt_verdicts(tmp_path, CORTEXFS, user("early"), *fillers)
    assert "65,536 bytes" in verdicts[0][1]


def test_without_limits_everything_with_text_is_shown(tmp_path: Path):
    verdicts = prompt_verdicts(tmp_path, DOCUMENT, *(user("x" * 20000, RUN_2) for _ in range(10)))
    assert {visible for visible, _ in verdicts} == {True}


def _after(calls: int):
    """Return a function that cancels after so many calls."""
    counter = count()
    return lambda: next(counter) >= calls
