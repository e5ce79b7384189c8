"""The revision at the end of a run: its transcript ends there and holds no later message."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.transcript import Transcript
from ctxview.files.line_file import never_cancelled
from ctxview.formats.interface import Lens
from ctxview.formats.revisions import find_revision
from ctxview.formats.session.source import SessionSource
from tests.formats.session.builders import RUN_2, assistant, done, event, lines, sound, start, tool, user

WORDS = ESTIMATES["words"]


def transcript_at(source: SessionSource, place: int) -> Transcript:
    transcript = source.reading(place, Lens(WORDS)).state.transcript
    assert transcript is not None
    return transcript


def test_the_transcript_of_a_past_run_ends_where_the_history_ended_then(tmp_path: Path):
    source = SessionSource(sound(tmp_path).write())
    lengths = [len(transcript_at(source, place)) for place in range(3)]
    assert lengths == [4, 6, 6]
    past = transcript_at(source, 0)
    assert past.complete
    assert past.row(3).text == "Blank lines were counted; they are skipped now."
    for ask in (past.row, past.raw):
        with pytest.raises(IndexError, match="did not exist yet"):
            ask(4)
    assert source.reading(0, Lens(WORDS)).state.extra["messages"] == "4 of 6"


def test_searching_the_past_finds_nothing_that_came_later(tmp_path: Path):
    source = SessionSource(sound(tmp_path).write())
    past, now = transcript_at(source, 0), transcript_at(source, 2)
    assert [each.find("review", 0, False, never_cancelled) for each in (past, now)] == [None, 4]
    assert [each.find("review", 6, True, never_cancelled) for each in (past, now)] == [None, 5]
    assert [each.find("blank lines", 6, True, never_cancelled) for each in (past, now)] == [3, 3]


def test_before_the_first_message_the_transcript_is_empty(tmp_path: Path):
    build = sound(tmp_path)
    first = [start("ctx-0"), done("ctx-0")]
    build.set("events.jsonl", lines(first) + build.text("events.jsonl"))
    source = SessionSource(build.write())
    assert [len(transcript_at(source, place)) for place in range(4)] == [0, 4, 6, 6]


def test_messages_of_unknown_time_are_all_shown_with_a_note(tmp_path: Path):
    build = sound(tmp_path).lines("messages.jsonl", *(user(text, None) for text in ("one", "two", "three")))
    source = SessionSource(build.write())
    past = source.reading(0, Lens(WORDS)).state
    assert len(transcript_at(source, 0)) == 3
    assert past.extra["as of"] == "the end of run 1; messages, summary and pack are shown as they are now"
    assert past.extra["messages"] == "3"


def compacting(tmp_path: Path, *calls: dict[str, object], **when: object) -> SessionSource:
    """Return the sound session with these calls in its second run, each answered by a message."""
    build = sound(tmp_path)
    events = [event("tool_call", RUN_2, id=f"fold-{number}", **call) for number, call in enumerate(calls)]
    answers = [tool("ok", f"fold-{number}", run=RUN_2) for number in range(len(calls))]
    end = {**done(RUN_2), **when}
    build.set("events.jsonl", build.text("events.jsonl") + lines([*events, end]))
    build.set("messages.jsonl", build.text("messages.jsonl") + lines([*answers, assistant("on", RUN_2)]))
    return SessionSource(build.write())


SUMMARY = {"name": "fs.write", "arguments": {"path": "context/", "files": ["facts.jsonl", "summary.md"]}}
SWAP = {"name": "context.swap", "arguments": {"ranges": ["messages:1-4"]}}
OTHER = {"name": "fs.read", "arguments": {"path": "context/summary.md"}}


def test_a_compaction_is_a_revision_behind_the_message_that_answers_it(tmp_path: Path):
    source = compacting(tmp_path, SUMMARY, SWAP)
    assert [each.kind for each in source.revisions] == ["run", "compaction", "run", "session"]
    past = source.reading(1, Lens(WORDS)).state
    assert past.extra["messages"] == "8 of 9"
    assert past.extra["as of"].startswith("the compaction in run 2;")
    labels = [each.label for each in past.timeline if each.revision == 1]
    assert labels == [
        "compaction: context/summary.md written",
        "compaction: messages 1-4 out of the window",
    ]


def test_other_calls_end_a_compaction_and_are_not_part_of_it(tmp_path: Path):
    source = compacting(tmp_path, SWAP, OTHER, SWAP)
    assert [each.label for each in source.revisions if each.kind == "compaction"] == [
        "compaction 1",
        "compaction 2",
    ]


def test_a_compaction_that_nothing_answers_is_on_the_timeline_only(tmp_path: Path):
    build = sound(tmp_path)
    call = event("tool_call", RUN_2, id="fold", **SWAP)
    build.set("events.jsonl", build.text("events.jsonl") + lines([call]))
    source = SessionSource(build.write())
    assert "compaction" not in [each.kind for each in source.revisions]
    assert "compaction" in [each.kind for each in source.reading(0, Lens(WORDS)).state.timeline]


def test_times_come_from_events_that_have_one_and_from_the_last_update(tmp_path: Path):
    source = compacting(tmp_path, timestamp=1_767_225_600)
    assert [each.time for each in source.revisions][1] == "2026-01-01T00:00:00Z"
    updated = int((source.path / "updated_at").read_text())
    assert find_revision(source.revisions, str(updated)) == len(source.revisions) - 1


def test_citations_of_later_lines_are_not_references_of_the_past(tmp_path: Path):
    build = sound(tmp_path)
    fact = {"id": "f9", "text": "Reviewed.", "source": "messages:5-6"}
    build.set("context/facts.jsonl", build.text("context/facts.jsonl") + lines([fact]))
    source = SessionSource(build.write())
    named = [{ref.id for ref in source.reading(place, Lens(WORDS)).state.refs} for place in range(2)]
    assert ["f9" in each for each in named] == [False, True]
