"""The recorder says what became of files, reads no more than it has to, and minds what happens meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxview.files import held_file
from ctxview.files.following import What
from ctxview.recording import recorder, tree
from ctxview.recording.manifest import LeftOut
from tests.recording.making import Recorded, held, put


def told(made: Recorded) -> dict[str, What]:
    kept = made.keep()
    return {each.name: each.what for each in kept.changes} if kept is not None else {}


def test_it_says_what_became_of_each_file(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    put(made.root, {"a": b"one", "b": b"two", "c": b"three", "d": b"four", "deep/e": b"five"})
    assert set(told(made).values()) == {What.APPEARED}

    with (made.root / "a").open("ab") as out:
        out.write(b" and more")
    with (made.root / "b").open("r+b") as out:
        out.write(b"TWO")
    with (made.root / "c").open("r+b") as out:
        out.truncate(2)
    (tmp_path / "new").write_bytes(b"another file")
    (tmp_path / "new").replace(made.root / "d")
    (made.root / "deep" / "e").unlink()

    assert told(made) == {
        "a": What.APPENDED,
        "b": What.REWRITTEN,
        "c": What.TRUNCATED,
        "d": What.REPLACED,
        "deep/e": What.GONE,
    }
    assert told(made) == {}


def test_a_touched_file_makes_no_moment_and_other_permissions_do(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    made.keep({"a": b"one"})
    os.utime(made.root / "a", (1, 1))
    assert made.keep() is None
    (made.root / "a").chmod(0o640)
    assert made.keep() is not None


def test_a_large_file_that_grew_is_read_from_its_old_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Recorded(tmp_path)
    content = os.urandom(3_000_000)
    made.keep({"log": content})
    read = []
    plain = held_file.HeldFile.read

    def counted(self: held_file.HeldFile, start: int, end: int) -> bytes:
        found = plain(self, start, end)
        read.append(len(found))
        return found

    monkeypatch.setattr(held_file.HeldFile, "read", counted)
    with (made.root / "log").open("ab") as out:
        out.write(b"more\n")
    assert made.keep() is not None

    assert sum(read) < 300_000
    assert held(made.close(), 1) == {"log": content + b"more\n"}


def test_a_large_file_that_grew_but_changed_before_is_read_again(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    content = bytearray(os.urandom(1_000_000))
    made.keep({"log": bytes(content)})
    content[:100] = bytes(100)
    content += b"more"
    made.keep({"log": bytes(content)})

    assert held(made.close(), 1) == {"log": bytes(content)}


def test_what_cannot_be_kept_is_noted_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "LARGEST", 1024**3)
    made = Recorded(tmp_path)
    put(made.root, {"good": b"1"})
    with (made.root / "large").open("wb") as out:
        out.truncate(1024**3 + 1)
    (made.root / "link").symlink_to("good")
    os.mkfifo(made.root / "pipe")
    kept = made.keep()
    assert kept is not None
    manifest = made.close().at(0).manifest

    reasons = {name: each.reason for name, each in manifest.items() if isinstance(each, LeftOut)}
    assert reasons == {
        "large": "larger than 1 GiB",
        "link": "a symbolic link, which is not followed",
        "pipe": "neither a file nor a folder",
    }
    assert {each.name: each.why for each in kept.changes if each.why} == reasons


def test_too_many_files_are_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree.look_at, "__defaults__", (3,))
    made = Recorded(tmp_path)
    put(made.root, dict.fromkeys("abcdef", b"x"))
    kept = made.keep()
    assert kept is not None
    assert kept.notes == ("only the first 3 files and folders are kept",)
    put(made.root, dict.fromkeys("abcdef", b"y"))
    again = made.keep()
    assert again is not None
    assert again.notes == ()
    recording = made.close()

    assert sorted(held(recording, 0)) == ["a", "b", "c"]
    assert recording.note(0) == "only the first 3 files and folders are kept"


def test_a_file_that_goes_while_it_is_looked_at_is_simply_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Recorded(tmp_path)
    put(made.root, {"a": b"1", "b": b"2"})
    plain = recorder.look_at

    def slow(scope: tree.Scope) -> tree.Tree:
        found = plain(scope)
        (made.root / "b").unlink()
        return found

    monkeypatch.setattr(recorder, "look_at", slow)
    made.keep()

    assert list(made.close().at(0).manifest) == ["a"]


def test_empty_folders_are_kept(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    (made.root / "empty" / "in it").mkdir(parents=True)
    made.keep()

    assert list(made.close().at(0).manifest) == ["empty", "empty/in it"]


def test_a_recorded_folder_that_goes_and_comes_back_is_followed(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    made.keep({"a": b"1"})
    (made.root / "a").unlink()
    made.root.rmdir()
    made.keep()
    made.keep({"a": b"2"})

    recording = made.close()
    assert [held(recording, number) for number in range(3)] == [{"a": b"1"}, {}, {"a": b"2"}]


def test_a_full_disk_leaves_a_sound_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctxview.recording import writer

    made = Recorded(tmp_path)
    made.keep({"a": b"1"})
    plain = writer.write_all

    def full(descriptor: int, content: bytes) -> None:
        plain(descriptor, content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "write_all", full)
    with pytest.raises(OSError, match="No space"):
        made.keep({"a": b"2"})
    recording = made.close()

    assert (len(recording), recording.torn) == (1, None)
    assert held(recording, 0) == {"a": b"1"}


def test_damage_to_the_recording_meanwhile_does_not_end_it(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    content = b""
    for number in range(40):
        content += f"line {number:04}\n".encode()
        made.keep({"log": content})
        if number == 5:
            with made.file.open("r+b") as out:
                out.seek(200)
                out.write(bytes(40))
    recording = made.close()

    assert recording.verify()
    assert len(recording) >= 30
