"""The recorder reports changes of files, reads as little as possible, and handles concurrent changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxview.files import open_file
from ctxview.files.change_detector import FileChangeKind
from ctxview.files.system_calls import write_all
from ctxview.recording import recorder
from ctxview.recording.manifest import SkippedFile
from tests.recording.builders import Recorded, files_at, put


def changes_of(made: Recorded) -> dict[str, FileChangeKind]:
    first = made.keep()
    return {each.name: each.kind for each in first.changes} if first is not None else {}


def test_the_change_of_each_file_is_reported(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    put(made.root, {"a": b"one", "b": b"two", "c": b"three", "d": b"four", "deep/e": b"five"})
    assert set(changes_of(made).values()) == {FileChangeKind.APPEARED}

    with (made.root / "a").open("ab") as out:
        out.write(b" and more")
    with (made.root / "b").open("r+b") as out:
        out.write(b"TWO")
    with (made.root / "c").open("r+b") as out:
        out.truncate(2)
    (tmp_path / "new").write_bytes(b"another file")
    (tmp_path / "new").replace(made.root / "d")
    (made.root / "deep" / "e").unlink()

    assert changes_of(made) == {
        "a": FileChangeKind.APPENDED,
        "b": FileChangeKind.REWRITTEN,
        "c": FileChangeKind.TRUNCATED,
        "d": FileChangeKind.REPLACED,
        "deep/e": FileChangeKind.GONE,
    }
    assert changes_of(made) == {}


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
    plain = open_file.OpenFile.read

    def counted(self: open_file.OpenFile, start: int, end: int) -> bytes:
        found = plain(self, start, end)
        read.append(len(found))
        return found

    monkeypatch.setattr(open_file.OpenFile, "read", counted)
    with (made.root / "log").open("ab") as out:
        out.write(b"more\n")
    assert made.keep() is not None

    assert sum(read) < 300_000
    assert files_at(made.close(), 1) == {"log": content + b"more\n"}


def test_a_large_file_that_grew_but_changed_before_is_read_again(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    content = bytearray(os.urandom(1_000_000))
    made.keep({"log": bytes(content)})
    content[:100] = bytes(100)
    content += b"more"
    made.keep({"log": bytes(content)})

    assert files_at(made.close(), 1) == {"log": bytes(content)}


def test_a_file_that_cannot_be_recorded_is_noted_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "LARGEST", 1024**3)
    made = Recorded(tmp_path)
    put(made.root, {"good": b"1"})
    with (made.root / "large").open("wb") as out:
        out.truncate(1024**3 + 1)
    (made.root / "link").symlink_to("good")
    os.mkfifo(made.root / "pipe")
    first = made.keep()
    assert first is not None
    manifest = made.close().at(0).manifest

    reasons = {name: each.reason for name, each in manifest.items() if isinstance(each, SkippedFile)}
    assert reasons == {
        "large": "larger than 1 GiB",
        "link": "a symbolic link, which is not followed",
        "pipe": "neither a file nor a folder",
    }
    assert {each.name: each.why for each in first.changes if each.why} == reasons


def test_too_many_files_are_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder.read_tree, "__defaults__", (3,))
    made = Recorded(tmp_path)
    put(made.root, dict.fromkeys("abcdef", b"x"))
    first = made.keep()
    assert first is not None
    assert first.notes == ("only the first 3 files and folders are recorded",)
    put(made.root, dict.fromkeys("abcdef", b"y"))
    again = made.keep()
    assert again is not None
    assert again.notes == ()
    recording = made.close()

    assert sorted(files_at(recording, 0)) == ["a", "b", "c"]
    assert recording.note(0) == "only the first 3 files and folders are recorded"


def test_a_file_that_disappears_during_the_recording_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Recorded(tmp_path)
    put(made.root, {"a": b"1", "b": b"2"})
    plain = recorder.read_tree

    def slow(scope: recorder.RecordingScope) -> recorder.FileTree:
        found = plain(scope)
        (made.root / "b").unlink()
        return found

    monkeypatch.setattr(recorder, "read_tree", slow)
    made.keep()

    assert list(made.close().at(0).manifest) == ["a"]


def test_empty_folders_are_recorded(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    (made.root / "empty" / "in it").mkdir(parents=True)
    made.keep()

    assert list(made.close().at(0).manifest) == ["empty", "empty/in it"]


def test_a_recorded_folder_that_disappears_and_returns_is_recorded(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    made.keep({"a": b"1"})
    (made.root / "a").unlink()
    made.root.rmdir()
    made.keep()
    made.keep({"a": b"2"})

    recording = made.close()
    assert [files_at(recording, number) for number in range(3)] == [{"a": b"1"}, {}, {"a": b"2"}]


def test_a_full_disk_leaves_a_valid_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctxview.recording import writer

    made = Recorded(tmp_path)
    made.keep({"a": b"1"})
    plain = write_all

    def full(descriptor: int, content: bytes) -> None:
        plain(descriptor, content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "write_all", full)
    with pytest.raises(OSError, match="No space"):
        made.keep({"a": b"2"})
    recording = made.close()

    assert (len(recording), recording.torn) == (1, None)
    assert files_at(recording, 0) == {"a": b"1"}


def test_damage_during_the_recording_does_not_end_it(tmp_path: Path) -> None:
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
