from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.files import following
from ctxview.files.following import Follower

LATER = 10.0
"""Seconds by which the clock of a test is ahead: nothing was written just now."""


def later() -> float:
    return time.time() + LATER


def follower(*paths: Path) -> Follower:
    made = Follower(later)
    made.watch(paths)
    return made


def told(made: Follower) -> list[str]:
    return [str(news) for news in made.look()]


def test_nothing_is_told_when_nothing_happens(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    made = follower(tmp_path, tmp_path / "a", tmp_path / "never")
    assert (told(made), told(made)) == ([], [])


def test_growing_shrinking_rewriting_and_replacing_have_their_words(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"one\n")
    made = follower(file)
    with file.open("ab") as end:
        end.write(b"two\n")
    assert told(made) == ["a.jsonl grew"]
    os.truncate(file, 2)
    assert told(made) == ["a.jsonl truncated"]
    file.write_bytes(b"xx")
    os.utime(file, ns=(0, 0))
    assert told(made) == ["a.jsonl rewritten"]
    (tmp_path / "b").write_bytes(b"yy")
    (tmp_path / "b").replace(file)
    assert told(made) == ["a.jsonl replaced"]
    file.unlink()
    assert told(made) == ["a.jsonl gone"]
    assert told(made) == []
    file.write_bytes(b"")
    assert told(made) == ["a.jsonl appeared"]


def test_what_appears_in_a_folder_and_leaves_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    made = follower(tmp_path)
    (tmp_path / "new").touch()
    (tmp_path / "old").unlink()
    assert told(made)[1:] == ["new appeared", "old gone"]


def test_a_folder_that_is_removed_and_made_again_is_still_followed(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    made = follower(folder, folder / "a")
    folder.rmdir()
    assert told(made) == ["s gone"]
    folder.mkdir()
    (folder / "a").write_bytes(b"1")
    assert told(made) == ["s appeared", "a appeared", "a appeared"]


def test_a_link_is_followed_to_the_file_and_noticed_when_it_turns(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(b"x")
    link = tmp_path / "current"
    link.symlink_to("one")
    made = follower(link)
    (tmp_path / "one").write_bytes(b"longer")
    assert told(made) == ["current grew"]
    (tmp_path / "next").symlink_to("two")
    (tmp_path / "next").replace(link)
    assert told(made) == ["current replaced"]
    (tmp_path / "two").unlink()
    assert told(made) == ["current replaced"]
    assert told(made) == []


def test_pipes_loops_and_forbidden_places_do_no_harm(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_bytes(b"x")
    made = follower(tmp_path / "pipe", tmp_path / "loop", tmp_path / "file" / "below", tmp_path / "a\0b")
    assert told(made) == []
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "a").touch()
    made = follower(tmp_path / "closed", tmp_path / "closed" / "a")
    (tmp_path / "closed").chmod(0)
    try:
        assert "closed rewritten" in told(made)
        assert told(made) == []
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert "closed rewritten" in told(made)


def test_what_was_changed_while_it_was_being_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    made = Follower(later)
    made.watch([tmp_path / "a"], since=0)
    assert told(made) == ["a rewritten"]
    assert told(made) == []


def test_what_was_known_stays_known_when_other_paths_are_watched_too(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(b"1")
    made = follower(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"22")
    made.watch([tmp_path / "b", tmp_path / "a"])
    assert told(made) == ["a grew"]
    made.watch([tmp_path / "b"])
    (tmp_path / "a").write_bytes(b"333")
    assert told(made) == []


def test_many_paths_take_turns_but_the_first_are_always_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "AT_ONCE", 2)
    monkeypatch.setattr(following, "MOST", 7)
    paths = [tmp_path / str(number) for number in range(9)]
    made = follower(*paths)
    for path in paths:
        path.touch()
    assert told(made) == ["0 appeared", "1 appeared", "2 appeared", "3 appeared"]
    paths[0].write_bytes(b"x")
    assert told(made) == ["0 grew", "4 appeared", "5 appeared"]
    assert told(made) == ["6 appeared"]
    assert told(made) == []


def test_looking_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    before = [path.stat() for path in (tmp_path, tmp_path / "a")]
    follower(tmp_path, tmp_path / "a").look()
    assert [path.stat() for path in (tmp_path, tmp_path / "a")] == before


# -- whatever is done to a file ------------------------------------------------------------------------------

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
def test_whenever_bytes_changed_something_was_told(steps: list[tuple[str, str, object]]) -> None:
    """Also within one tick of the clock: no step waits for it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / each for each in "abc"]
        paths[0].write_bytes(b"12")
        made = Follower()
        made.watch(paths)
        known = {path: content(path) for path in paths}
        for step, target, what in [*steps, ("look", "", None)]:
            if step != "look":
                do(folder, step, target, what)
                continue
            news = {each.path for each in made.look()}
            for path in paths:
                if path in news:
                    known[path] = content(path)
                assert known[path] == content(path), (path, steps)
