from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.files import change_detector
from ctxview.files.change_detector import ChangeDetector

LATER = 10.0
"""Seconds by which the clock of a test is ahead, so that no file counts as just written."""


def later() -> float:
    return time.time() + LATER


def detector(*paths: Path) -> ChangeDetector:
    made = ChangeDetector(later)
    made.watch(paths)
    return made


def polled(made: ChangeDetector) -> list[str]:
    return [str(news) for news in made.poll()]


def test_without_a_change_nothing_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    made = detector(tmp_path, tmp_path / "a", tmp_path / "never")
    assert (polled(made), polled(made)) == ([], [])


def test_growing_shrinking_rewriting_and_replacing_have_different_kinds(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"one\n")
    made = detector(file)
    with file.open("ab") as end:
        end.write(b"two\n")
    assert polled(made) == ["a.jsonl grew"]
    os.truncate(file, 2)
    assert polled(made) == ["a.jsonl truncated"]
    file.write_bytes(b"xx")
    os.utime(file, ns=(0, 0))
    assert polled(made) == ["a.jsonl rewritten"]
    (tmp_path / "b").write_bytes(b"yy")
    (tmp_path / "b").replace(file)
    assert polled(made) == ["a.jsonl replaced"]
    file.unlink()
    assert polled(made) == ["a.jsonl gone"]
    assert polled(made) == []
    file.write_bytes(b"")
    assert polled(made) == ["a.jsonl appeared"]


def test_files_that_appear_in_a_folder_or_leave_it_are_named(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    made = detector(tmp_path)
    (tmp_path / "new").touch()
    (tmp_path / "old").unlink()
    assert polled(made)[1:] == ["new appeared", "old gone"]


def test_a_folder_that_is_removed_and_made_again_is_still_watched(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    made = detector(folder, folder / "a")
    folder.rmdir()
    assert polled(made) == ["s gone"]
    folder.mkdir()
    (folder / "a").write_bytes(b"1")
    assert polled(made) == ["s appeared", "a appeared", "a appeared"]


def test_a_link_is_followed_to_its_file_and_a_new_target_is_noticed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(b"x")
    link = tmp_path / "current"
    link.symlink_to("one")
    made = detector(link)
    (tmp_path / "one").write_bytes(b"longer")
    assert polled(made) == ["current grew"]
    (tmp_path / "next").symlink_to("two")
    (tmp_path / "next").replace(link)
    assert polled(made) == ["current replaced"]
    (tmp_path / "two").unlink()
    assert polled(made) == ["current replaced"]
    assert polled(made) == []


def test_pipes_loops_and_forbidden_folders_do_no_harm(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_bytes(b"x")
    made = detector(tmp_path / "pipe", tmp_path / "loop", tmp_path / "file" / "below", tmp_path / "a\0b")
    assert polled(made) == []
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "a").touch()
    made = detector(tmp_path / "closed", tmp_path / "closed" / "a")
    (tmp_path / "closed").chmod(0)
    try:
        assert "closed rewritten" in polled(made)
        assert polled(made) == []
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert "closed rewritten" in polled(made)


def test_a_change_during_the_reading_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    made = ChangeDetector(later)
    made.watch([tmp_path / "a"], since=0)
    assert polled(made) == ["a rewritten"]
    assert polled(made) == []


def test_known_stamps_are_kept_when_other_paths_are_added(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(b"1")
    made = detector(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"22")
    made.watch([tmp_path / "b", tmp_path / "a"])
    assert polled(made) == ["a grew"]
    made.watch([tmp_path / "b"])
    (tmp_path / "a").write_bytes(b"333")
    assert polled(made) == []


def test_many_paths_take_turns_but_the_first_are_always_polled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_detector, "AT_ONCE", 2)
    monkeypatch.setattr(change_detector, "MOST_WATCHED", 7)
    paths = [tmp_path / str(number) for number in range(9)]
    made = detector(*paths)
    for path in paths:
        path.touch()
    assert polled(made) == ["0 appeared", "1 appeared", "2 appeared", "3 appeared"]
    paths[0].write_bytes(b"x")
    assert polled(made) == ["0 grew", "4 appeared", "5 appeared"]
    assert polled(made) == ["6 appeared"]
    assert polled(made) == []


def test_polling_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    before = [path.stat() for path in (tmp_path, tmp_path / "a")]
    detector(tmp_path, tmp_path / "a").poll()
    assert [path.stat() for path in (tmp_path, tmp_path / "a")] == before


# -- any change of a file ------------------------------------------------------------------------------------

NAMES = st.sampled_from("abc")
DATA = st.binary(max_size=3)
STEP = st.one_of(
    st.tuples(st.just("write"), NAMES, DATA),
    st.tuples(st.just("append"), NAMES, DATA),
    st.tuples(st.just("replace"), NAMES, DATA),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("truncate"), NAMES, st.integers(0, 3)),
    st.tuples(st.just("remove"), NAMES, st.none()),
    st.tuples(st.just("set back"), NAMES, st.none()),
    st.tuples(st.just("look"), st.none(), st.none()),
)


def do(folder: Path, step: str, name: str, what: object) -> None:
    path = folder / name
    match step, what:
        case ("write", bytes(data)):
            path.write_bytes(data)
        case ("append", bytes(data)):
            with path.open("ab") as end:
                end.write(data)
        case ("replace", bytes(data)):
            (folder / "beside").write_bytes(data)
            (folder / "beside").replace(path)
        case ("rename", str(other)) if path.exists():
            path.replace(folder / other)
        case ("truncate", int(size)) if path.exists():
            os.truncate(path, size)
        case ("remove", _):
            path.unlink(missing_ok=True)
        case ("set back", _) if path.exists():
            os.utime(path, ns=(10**9, 10**9))


def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


@settings(max_examples=15, deadline=None)
@given(st.lists(STEP, max_size=14))
def test_every_change_of_bytes_is_reported(steps: list[tuple[str, str, object]]) -> None:
    """The changes may be within one tick of the clock: no step waits for it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / each for each in "abc"]
        paths[0].write_bytes(b"12")
        made = ChangeDetector()
        made.watch(paths)
        known = {path: content(path) for path in paths}
        for step, target, what in [*steps, ("look", "", None)]:
            if step != "look":
                do(folder, step, target, what)
                continue
            news = {each.path for each in made.poll()}
            for path in paths:
                if path in news:
                    known[path] = content(path)
                assert known[path] == content(path), (path, steps)
