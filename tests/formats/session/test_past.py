"""Going back to the end of a run: the transcript holds what had been said by then, and nothing later."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.files.lines import never
from ctxview.formats.interface import Lens
from ctxview.formats.session.source import SessionSource
from ctxview.state import Transcript
from tests.formats.session.builders import done, lines, sound, start, user

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
        with pytest.raises(IndexError, match="not there yet"):
            ask(4)
    assert source.reading(0, Lens(WORDS)).state.extra["messages"] == "4 of 6"


def test_searching_the_past_finds_nothing_that_came_later(tmp_path: Path):
    source = SessionSource(sound(tmp_path).write())
    past, now = transcript_at(source, 0), transcript_at(source, 2)
    assert [each.find("review", 0, False, never) for each in (past, now)] == [None, 4]
    assert [each.find("review", 6, True, never) for each in (past, now)] == [None, 5]
    assert [each.find("blank lines", 6, True, never) for each in (past, now)] == [3, 3]


def test_before_the_first_message_the_transcript_is_empty(tmp_path: Path):
    build = sound(tmp_path)
    first = [start("ctx-0"), done("ctx-0")]
    build.set("events.jsonl", lines(first) + build.text("events.jsonl"))
    source = SessionSource(build.write())
    assert [len(transcript_at(source, place)) for place in range(4)] == [0, 4, 6, 6]


def test_messages_that_nobody_can_place_in_time_are_all_shown_and_that_is_told(tmp_path: Path):
    build = sound(tmp_path).lines("messages.jsonl", *(user(text, None) for text in ("one", "two", "three")))
    source = SessionSource(build.write())
    past = source.reading(0, Lens(WORDS)).state
    assert len(transcript_at(source, 0)) == 3
    assert past.extra["as of"] == "the end of run 1; messages, summary and pack are of now"
    assert past.extra["messages"] == "3"
