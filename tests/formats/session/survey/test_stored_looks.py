"""The stored observation of a session is recalled unchanged, or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Thread

import pytest

from ctxview.formats.session.survey import last_look
from ctxview.formats.session.survey.last_look import Observation, StreamState, forget, recall, remember
from tests.running import LIMIT

SEEN = Observation(
    1_780_000_000,
    {"messages.jsonl": StreamState(120, "a" * 64, 3), "events.jsonl": StreamState(0, "b" * 64, 0)},
    {"created_at": "1770000000", "fact:f1": "上下文"},
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "ctxview" / "observations"


def test_a_session_never_seen_is_not_recalled() -> None:
    assert recall("/srv/agent/session/default") is None


@pytest.mark.parametrize("session", ["/srv/agent/session/default", "", "a\0b", "odd\udcff", "x" * 5000])
def test_the_last_look_is_recalled_as_it_was(session: str) -> None:
    remember(session, SEEN)
    assert recall(session) == SEEN
    later = Observation(SEEN.seen_at + 60)
    remember(session, later)
    assert recall(session) == later
    assert recall(f"{session}2") is None


def test_a_forgotten_session_is_not_recalled_and_others_are() -> None:
    for session in ("one", "two"):
        remember(session, SEEN)

    for _ in range(2):
        forget("one")

    assert (recall("one"), recall("two")) == (None, SEEN)


def test_only_the_user_can_read_the_file_and_no_draft_is_left(state: Path) -> None:
    remember("session", SEEN)
    (file,) = state.iterdir()

    assert file.stat().st_mode & 0o077 == 0
    assert state.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "",
        lambda text: text[:-1],
        lambda text: "[" * 100_000,
        lambda text: "[1, 2]",
        lambda text: text.replace("120", "-1"),
        lambda text: text.replace("120", "true"),
        lambda text: text.replace("120", "1.5"),
        lambda text: text.replace("a" * 64, "a" * 63),
        lambda text: text.replace('"1770000000"', "7"),
        lambda text: text.replace('"session":"session"', '"session":"another"'),
        lambda text: json.dumps({"session": "session"}),
    ],
)
def test_a_damaged_file_is_not_recalled(state: Path, spoil: object) -> None:
    assert callable(spoil)
    remember("session", SEEN)
    (file,) = state.iterdir()
    file.write_text(spoil(file.read_text()))

    assert recall("session") is None
    remember("session", SEEN)
    assert recall("session") == SEEN


def test_the_oldest_looks_are_forgotten_when_there_are_too_many(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(last_look, "MOST_OBSERVATIONS", 3)
    for number in range(5):
        remember(f"session {number}", SEEN)
        for file in state.iterdir():
            os.utime(file, ns=(file.stat().st_mtime_ns - 10**9,) * 2)

    assert [recall(f"session {number}") is not None for number in range(5)] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_a_look_is_never_half_written() -> None:
    long = Observation(1, facts={f"fact {number}": "x" * 100 for number in range(500)})
    remember("session", long)
    writers = [Thread(target=write_often, args=(long, SEEN)) for _ in range(3)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert recall("session") in (long, SEEN)
    for writer in writers:
        writer.join(LIMIT)


def write_often(*observations: Observation) -> None:
    for observation in observations * 20:
        remember("session", observation)


def test_a_failed_write_raises_an_error(state: Path) -> None:
    state.parent.mkdir(parents=True)
    state.write_text("a file where the folder should be")

    with pytest.raises(OSError, match="observations"):
        remember("session", SEEN)
    assert recall("session") is None
