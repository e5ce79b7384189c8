"""Creating a file: all or nothing, without replacing a file, leaving the folder or following a link."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ctxview.files.create import CreateRefused, create, folder_beneath


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_and_its_folders_are_for_the_owner_only(tmp_path: Path) -> None:
    assert create(tmp_path, "context/swap/chunk", b"content")

    made = tmp_path / "context/swap/chunk"
    assert made.read_bytes() == b"content"
    assert made.stat().st_mode & 0o777 == 0o600
    assert made.parent.stat().st_mode & 0o777 == 0o700
    assert names(made.parent) == ["chunk"]


def test_mode_and_time_can_be_those_of_another_file(tmp_path: Path) -> None:
    create(tmp_path, "copy", b"x", mode=0o640, modified=1_700_000_000_123_456_789)

    status = (tmp_path / "copy").stat()
    assert (status.st_mode & 0o777, status.st_mtime_ns) == (0o640, 1_700_000_000_123_456_789)


def test_creating_the_same_file_again_returns_false(tmp_path: Path) -> None:
    create(tmp_path, "a", b"content")
    before = (tmp_path / "a").stat()

    assert not create(tmp_path, "a", b"content")
    assert (tmp_path / "a").stat() == before


@pytest.mark.parametrize("there", [b"other", b"content and more", b""])
def test_a_file_with_another_content_is_never_touched(tmp_path: Path, there: bytes) -> None:
    (tmp_path / "a").write_bytes(there)

    with pytest.raises(CreateRefused):
        create(tmp_path, "a", b"content")

    assert (tmp_path / "a").read_bytes() == there
    assert names(tmp_path) == ["a"]


def test_a_link_is_not_followed_whether_it_is_the_file_or_a_folder(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "folder").symlink_to(outside)
    (root / "file").symlink_to(outside / "target")

    for name in ("folder/new", "file"):
        with pytest.raises(CreateRefused):
            create(root, name, b"x")

    assert names(outside) == []


@pytest.mark.parametrize("name", ["../out", "/tmp/out", "", "a\0b"])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CreateRefused):
        create(tmp_path / "root", name, b"x")

    assert names(tmp_path) == []


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)

    with pytest.raises(CreateRefused, match="No space left"):
        create(tmp_path, "a", b"content")

    assert names(tmp_path) == []


def test_without_hard_links_the_file_is_renamed_into_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "not here")

    monkeypatch.setattr(os, "link", no_links)
    assert create(tmp_path, "a", b"content")
    (tmp_path / "b").write_bytes(b"other")

    with pytest.raises(CreateRefused):
        create(tmp_path, "b", b"content")

    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == {
        "a": b"content",
        "b": b"other",
    }


def test_a_faster_writer_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def late(*arguments: object, **options: object) -> None:
        (tmp_path / "a").write_bytes(b"theirs")
        link(*arguments, **options)

    monkeypatch.setattr(os, "link", late)

    with pytest.raises(CreateRefused):
        create(tmp_path, "a", b"ours")

    assert (tmp_path / "a").read_bytes() == b"theirs"
    assert names(tmp_path) == ["a"]


def test_a_leftover_of_a_crash_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 4711)
    create(tmp_path, "a", b"x")
    hidden = next(iter(_hidden_names("a")))
    (tmp_path / "a").unlink()
    (tmp_path / hidden).write_bytes(b"half")

    assert create(tmp_path, "a", b"content")
    assert names(tmp_path) == ["a"]


def _hidden_names(name: str) -> list[str]:
    from hashlib import sha256

    return [f".ctxview-{sha256(name.encode()).hexdigest()[:16]}-4711.tmp"]


def test_only_an_existing_folder_is_opened(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"), folder_beneath(tmp_path, "nowhere"):
        pass
