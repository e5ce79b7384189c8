"""A path that leads nowhere is answered with one that leads somewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ctxview.formats.discovery import discover, home_of
from ctxview.formats.interface import CannotOpen
from ctxview.formats.nearest import absence, nearest

NOBODY = 65_534


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sample_sessions" / "snapshot").mkdir(parents=True)
    (tmp_path / "sample_sessions" / "snapshot" / "round-1.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("sampel_sessions/snapshot/round-1.json", "sample_sessions/snapshot/round-1.json"),
        ("Sample_Sessions/snapshots", "sample_sessions/snapshot"),
        ("round-1.json", "sample_sessions/snapshot/round-1.json"),
        ("sample_sessions/round-1.json", "sample_sessions/snapshot/round-1.json"),
    ],
)
def test_a_path_spelled_wrongly_is_found(typed: str, meant: str) -> None:
    assert nearest(Path(typed)) == Path(meant)
    assert absence(Path(typed)) == f"there is no such file or folder (did you mean {meant}?)"


def test_where_nothing_is_near_the_first_missing_folder_is_named(here: Path) -> None:
    assert absence(Path("elsewhere/a/b.json")) == "there is no such file or folder (nor a folder elsewhere)"
    assert absence(here) is None


def test_a_link_to_nothing_and_a_file_taken_for_a_folder_are_absent(here: Path) -> None:
    (here / "dangling").symlink_to("nowhere")
    assert "no such file" in (absence(Path("dangling")) or "")
    assert "no such file" in (absence(Path("sample_sessions/snapshot/round-1.json/x")) or "")


def test_what_may_not_be_read_is_said_to_be_so() -> None:
    with a_folder_for_anybody() as here, as_anybody():
        locked = here / "locked"
        assert discover(here).unread == ((locked, "reading it is not permitted"),)
        with pytest.raises(CannotOpen, match="locked: reading it is not permitted"):
            discover(locked)
        assert absence(locked / "x") == "reading it is not permitted"


@contextmanager
def a_folder_for_anybody() -> Iterator[Path]:
    """With one in it that is for nobody. The folders of the tests are for their owner alone."""
    with TemporaryDirectory() as name:
        here = Path(name)
        here.chmod(0o755)
        (here / "locked").mkdir(mode=0)
        yield here


@contextmanager
def as_anybody() -> Iterator[None]:
    """Nothing is forbidden to root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_part_of_a_session_knows_where_it_lies(here: Path) -> None:
    home = here / "session" / "default"
    home.mkdir(parents=True)
    (home / "messages.jsonl").write_text("")
    (home / "state.json").write_text("{}")
    found = home_of(Path("session/default/state.json"))
    assert found is not None
    assert (found.format, found.path) == ("session", Path("session/default"))
