"""Reopening a session that is being written: new lines are read on, and lost lines are reported."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ctxview.analysis.tokens import ESTIMATES
from ctxview.files import change_detector
from ctxview.formats import Lens, OpenError, Reading
from ctxview.formats.kit import history, history_line
from ctxview.formats.session.source import RootSource, SessionSource
from ctxview.formats.session.survey.facts import Survey
from tests.formats.session.builders import (
    RUN_1,
    RUN_2,
    assistant,
    done,
    event,
    lines,
    sound,
    start,
    tool,
    tool_call,
    user,
)
from tests.formats.watching import Time, write
from tests.formats.watching import replace as replace_file

LENS = Lens(ESTIMATES["bytes/4"])


class Ignored:
    """A `Progress` that never cancels."""

    cancelled = False

    def report(self, done: int, total: int, what: str) -> None:
        pass


def append(path: Path, text: str | bytes) -> None:
    with path.open("ab") as end:
        end.write(text if isinstance(text, bytes) else text.encode())


def complete_reading(source: SessionSource) -> Reading:
    """Return the latest reading after all work, without the transcript, which is a new object each time."""
    source.work(LENS, Ignored())
    found = source.reading(len(source.revisions) - 1, LENS)
    return Reading(replace(found.state, transcript=None), found.findings)


def rows(source: SessionSource) -> list[str]:
    transcript = source.reading(len(source.revisions) - 1, LENS).state.transcript
    assert transcript is not None
    return [transcript.row(number).text for number in range(len(transcript))]


def rules(source: SessionSource) -> set[str]:
    return {finding.rule for finding in complete_reading(source).findings}


# -- histories that only grew --------------------------------------------------------------------------------

EVENTS = st.sampled_from(
    [
        *(
            start(RUN_1),
            start(RUN_2),
            done(RUN_1),
            done(RUN_2, "error"),
            tool_call("a"),
            tool_call("b", run=RUN_2),
        ),
        *(
            event(
                "message", role="tool", content=[{"type": "tool_result", "tool_call_id": "a", "content": "x"}]
            ),
        ),
        *(event("error", code="E", message="m"), event("usage", input_tokens=3, output_tokens=2), "", "{"),
    ]
)
MESSAGES = st.sampled_from(
    [
        *(user("one"), user("two"), user("one", RUN_2), user("old", None), assistant("yes", RUN_2)),
        *(tool("x", "a"), tool("x", "b", run=RUN_2), tool("x", "a", run=None), tool("x", "c"), "", "{", " "),
        *(user("AKIAIOSFODNN7EXAMPLE"), user("x" * 5000), assistant("\u202eevil")),
    ]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("events.jsonl"), EVENTS),
        st.tuples(st.just("messages.jsonl"), MESSAGES),
        st.tuples(st.just("torn"), st.integers(1, 12)),
        st.tuples(st.just("look"), st.sampled_from(["glance", "work"])),
    ),
    max_size=24,
)


@contextmanager
def small_steps() -> Iterator[None]:
    """Make passes stop after a few bytes."""
    with (
        patch.object(history_line, "STEP", 100),
        patch.object(history_line, "LINE", 0),
        patch.object(change_detector, "SETTLES_AFTER", 0),
    ):
        yield


@given(STEPS)
@settings(max_examples=15, deadline=None)
def test_a_session_read_in_steps_reads_like_one_read_at_once(steps: list[tuple[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as name, small_steps(), patch.dict(os.environ, XDG_STATE_HOME=name):
        root = sound(Path(name)).write()
        (root / "events.jsonl").write_bytes(b"")
        source = SessionSource(root)
        last = "messages.jsonl"
        for step, argument in steps:
            if step == "look":
                source = source.again()
                _ = complete_reading(source) if argument == "work" else source.revisions
            elif step == "torn":
                append(root / last, '{"role":"user","content":"torn'[: int(str(argument))])
            else:
                last = step
                append(root / step, lines([argument]))
        source = source.again()
        fresh = SessionSource(root)
        assert complete_reading(source) == complete_reading(fresh)
        assert surveyed(source) == surveyed(fresh)
        assert rows(source) == rows(fresh)
        assert source.findings(LENS) == fresh.findings(LENS)


def surveyed(source: SessionSource) -> Survey:
    survey = source._open().analysis(None).survey
    assert survey is not None
    runs = replace(survey.runs, anomalies=tuple(sorted(survey.runs.anomalies, key=repr)))
    return replace(survey, runs=runs, findings=tuple(sorted(survey.findings, key=lambda each: each.sort_key)))


def test_only_new_lines_are_read(tmp_path: Path, time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    root = sound(tmp_path).write()
    source = SessionSource(root)
    complete_reading(source)
    before = len(rows(source))
    scanned: list[int] = []
    scan = history.FileHistoryStream.scan

    def note(stream: history.FileHistoryStream, first: int = 0, /) -> Iterator[object]:
        for line in scan(stream, first):
            scanned.append(line.number or 0)
            yield line

    append(root / "messages.jsonl", lines([user("fresh")]))
    monkeypatch.setattr(history.FileHistoryStream, "scan", note)
    later = source.again()
    complete_reading(later)
    assert rows(later)[before:] == ["fresh"]
    assert set(scanned) == {before}
    assert len(rows(source)) == before
    assert later.session.part("context/summary.md") is source.session.part("context/summary.md")


def test_a_line_is_shown_when_it_is_whole_and_a_torn_one_after_a_while(tmp_path: Path, time: Time) -> None:
    root = sound(tmp_path).write()
    source = SessionSource(root)
    before, sane = len(rows(source)), rules(source)
    time.stands_still()
    append(root / "messages.jsonl", '{"role":"user","con')
    source = source.again()
    assert (len(rows(source)), source.held_back) == (before, (root / "messages.jsonl",))
    assert rules(source) == sane
    time.passes()
    source = source.again()
    assert (len(rows(source)), source.held_back) == (before + 1, ())
    assert rules(source) >= {*sane, "ABI013"}
    append(root / "messages.jsonl", 'tent":"whole"}\n')
    source = source.again()
    assert rows(source)[before:] == ["whole"]
    assert "ABI013" not in rules(source)


def test_the_transcript_alone_can_be_reopened(tmp_path: Path, time: Time) -> None:
    root = sound(tmp_path).write()
    opened = SessionSource(root)
    transcript = opened.reading(len(opened.revisions) - 1, LENS).state.transcript
    assert transcript is not None
    before = len(transcript)
    assert transcript.again() is transcript  # type: ignore[attr-defined]
    append(root / "messages.jsonl", lines([user("fresh")]))
    later = transcript.again()  # type: ignore[attr-defined]
    assert (len(transcript), len(later), later.row(before).text) == (before, before + 1, "fresh")
    assert later.file == root / "messages.jsonl"


# -- other changes -------------------------------------------------------------------------------------------


def test_small_files_are_read_again_when_they_changed(tmp_path: Path, time: Time) -> None:
    root = sound(tmp_path).write()
    source = SessionSource(root)
    assert source.again().session.state == source.session.state
    write(root / "state", b"cancelled\n")
    (root / "context/pinned/new.md").write_text("Pinned just now.\n")
    later = source.again()
    assert later.session.state == "cancelled"
    assert "new.md" in {block.id for block in complete_reading(later).state.blocks()}
    assert {root / "state", root / "context/pinned"} <= set(later.watched)


def test_a_half_written_pack_keeps_its_old_reading(tmp_path: Path, time: Time) -> None:
    root = sound(tmp_path).write()
    source = SessionSource(root)
    sane = complete_reading(source)
    time.stands_still()
    whole = (root / "context/pack.json").read_bytes()
    write(root / "context/pack.json", whole[:50])
    source = source.again()
    assert source.held_back == (root / "context/pack.json",)
    assert complete_reading(source) == sane
    write(root / "context/pack.json", whole)
    source = source.again()
    assert (source.held_back, complete_reading(source)) == ((), sane)


@pytest.mark.parametrize("how", ["truncated", "rewritten", "replaced"])
def test_a_loss_in_a_history_stays_a_finding(tmp_path: Path, time: Time, how: str) -> None:
    root = sound(tmp_path).write()
    path = root / "messages.jsonl"
    source = SessionSource(root)
    sane, whole = rules(source), path.read_bytes()
    first = whole[: whole.index(b"\n") + 1]
    if how == "replaced":
        replace_file(path, first)
    elif how == "truncated":
        os.truncate(path, len(first))
    else:
        write(path, b" " * len(first) + whole[len(first) :])
    source = source.again()
    assert "ABI057" in rules(source) - sane
    append(path, lines([user("more", None)]))
    source = source.again()
    assert "ABI057" in rules(source)


def test_a_history_that_was_moved_away_and_back_is_read_again(tmp_path: Path, time: Time) -> None:
    root = sound(tmp_path).write()
    source = SessionSource(root)
    before = rows(source)
    (root / "messages.jsonl").rename(tmp_path / "kept")
    source = source.again()
    assert rows(source) == []
    (tmp_path / "kept").rename(root / "messages.jsonl")
    assert rows(source.again()) == before


def test_a_missing_session_cannot_be_reopened(tmp_path: Path, time: Time) -> None:
    root = sound(tmp_path).write()
    source = SessionSource(root)
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(OpenError, match="no such folder"):
        source.again()
    (tmp_path / "elsewhere").rename(root)
    assert complete_reading(source.again()) == complete_reading(source)


def test_a_reopened_folder_of_sessions_shows_new_ones(tmp_path: Path, time: Time) -> None:
    root = sound(tmp_path).write().parent
    (root / "index").mkdir()
    (root / "index/list").write_text("default\n")
    source = RootSource(root, root)
    (root / "second").mkdir()
    later = source.again()
    assert [block.id for block in later.reading(0, LENS).state.blocks()] == ["default", "second"]
    assert {root, root / "index/list", root / "second/state"} <= set(later.watched)
    assert [block.id for block in source.reading(0, LENS).state.blocks()] == ["default"]


def test_reopening_writes_nothing(tmp_path: Path, time: Time) -> None:
    root = sound(tmp_path).write()

    def file_stats() -> list[tuple[str, os.stat_result]]:
        return [(str(path), path.lstat()) for path in sorted(root.rglob("*"))]

    source = SessionSource(root)
    complete_reading(source)
    before = file_stats()
    complete_reading(source.again().again())
    assert file_stats() == before
