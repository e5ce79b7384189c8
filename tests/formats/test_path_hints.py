"""A path that does not exist is answered with the nearest one that does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ctxview.formats.discovery import discover, enclosing_source
from ctxview.formats.interface import OpenError
from ctxview.formats.path_hints import missing_path_reason, nearest_path
from tests.formats.ordinary_user import as_ordinary_user


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
    assert nearest_path(Path(typed)) == Path(meant)
    assert missing_path_reason(Path(typed)) == f"there is no such file or folder (did you mean {meant}?)"


def test_where_nothing_is_near_the_first_missing_folder_is_named(here: Path) -> None:
    assert (
        missing_path_reason(Path("elsewhere/a/b.json"))
        == "there is no such file or folder (nor a folder elsewhere)"
    )
    assert missing_path_reason(here) is None


def test_a_link_to_nothing_and_a_file_taken_for_a_folder_are_absent(here: Path) -> None:
    (here / "dangling").symlink_to("nowhere")
    assert "no such file" in (missing_path_reason(Path("dangling")) or "")
    assert "no such file" in (missing_path_reason(Path("sample_sessions/snapshot/round-1.json/x")) or "")


def test_a_folder_without_permission_is_reported() -> None:
    with a_public_folder() as here, as_ordinary_user():
        locked = here / "locked"
        assert discover(here).unread == ((locked, "reading it is not permitted"),)
        with pytest.raises(OpenError, match="locked: reading it is not permitted"):
            discover(locked)
        assert missing_path_reason(locked / "x") == "reading it is not permitted"


@contextmanager
def a_public_folder() -> Iterator[Path]:
    """A folder that every user may read, with a locked one in it. `tmp_path` is for its owner alone."""
    with TemporaryDirectory() as name:
        here = Path(name)
        here.chmod(0o755)
        (here / "locked").mkdir(mode=0)
        yield here


def test_the_session_around_a_file_is_found(here: Path) -> None:
    home = here / "session" / "default"
    home.mkdir(parents=True)
    (home / "messages.jsonl").write_text("")
    (home / "state.json").write_text("{}")
    found = enclosing_source(Path("session/default/state.json"))
    assert found is not None
    assert (found.format, found.path) == ("session", Path("session/default"))
