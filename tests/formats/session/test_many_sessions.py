"""Many sessions: listing them reads none, and only a bounded number is held in memory and open."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.files import open_file
from ctxview.formats import Lens, Source, discover, open_source
from ctxview.formats.session import held
from ctxview.formats.session.source import SessionSource
from ctxview.formats.session.survey import analysis
from tests.formats.session.builders import lines, user
from tests.formats.session.test_source import CountingProgress

LENS = Lens(ESTIMATES["words"])
MANY = 40


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(MANY):
        session = tmp_path / f"s{number}"
        session.mkdir()
        (session / "messages.jsonl").write_text(lines([user(f"hello {number}")]))
        (session / "events.jsonl").write_text("")
    return tmp_path


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def sources(root: Path) -> list[Source]:
    return [open_source(each.path) for each in discover(root).found]


def text_of(source: Source) -> str:
    transcript = source.reading(len(source.revisions) - 1, LENS).state.transcript
    assert transcript is not None
    return str(transcript.row(len(transcript) - 1).text)


def test_listing_sessions_reads_none_of_them(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    monkeypatch.setattr(held, "read_session", lambda folder: read.append(folder.root))
    assert len([source.title for source in sources(root)]) == MANY
    assert not read


def test_the_sessions_read_last_are_held_and_the_others_are_read_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held.RECENT, "most", 3)
    before = open_descriptors()
    found = sources(root)
    texts = [text_of(source) for source in found]
    assert open_descriptors() - before <= 3 * 2
    assert sorted(texts) == sorted(f"hello {number}" for number in range(MANY))
    assert [text_of(source) for source in found] == texts


def test_large_sessions_keep_their_work_and_share_few_descriptors(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis, "LARGEST_IMMEDIATE", -1)
    monkeypatch.setattr(held.RECENT, "most", 3)
    monkeypatch.setattr(open_file._OPEN, "most", 4)
    before = open_descriptors()
    found = sources(root)
    for source in found:
        assert isinstance(source, SessionSource)
        source.work(LENS, CountingProgress())
    assert open_descriptors() - before <= 4
    for source in found:
        assert isinstance(source, SessionSource)
        assert not source.has_work(LENS)
        assert text_of(source).startswith("hello")


def test_a_session_that_was_let_go_and_changed_is_seen_as_it_is_now(root: Path) -> None:
    source = SessionSource(root / "s1")
    assert text_of(source) == "hello 1"
    assert source.release()
    with (root / "s1" / "messages.jsonl").open("a") as file:
        file.write(lines([user("more")]))
    later = source.again()
    assert later is not source
    assert text_of(later) == "more"
