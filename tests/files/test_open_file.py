"""Copying an open file; the tests of lines cover the rest."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ctxview.files.open_file import MOST_OPEN, open_file_beneath
from ctxview.files.reading import ReadError

CONTENT = os.urandom(700_000)


@pytest.mark.parametrize("refused", [None, errno.EXDEV, errno.ENOSYS])
def test_the_first_bytes_are_copied_whether_or_not_the_system_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: int | None
) -> None:
    def refuse(*_arguments: object) -> int:
        raise OSError(refused, "no")

    if refused is not None:
        monkeypatch.setattr(os, "copy_file_range", refuse, raising=False)
    (tmp_path / "a").write_bytes(CONTENT)
    held = open_file_beneath(tmp_path, "a")
    with (tmp_path / "b").open("wb", buffering=0) as out:
        out.write(b"before")
        assert held.copy_to(out.fileno(), 600_000)
        assert held.copy_to(out.fileno(), 0)

    assert (tmp_path / "b").read_bytes() == b"before" + CONTENT[:600_000]


def test_a_file_that_is_too_short_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"short")
    with (tmp_path / "b").open("wb", buffering=0) as out:
        assert not open_file_beneath(tmp_path, "a").copy_to(out.fileno(), 6)


def test_a_full_disk_is_an_error_and_not_a_short_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "copy_file_range", full, raising=False)
    (tmp_path / "a").write_bytes(CONTENT)
    with (tmp_path / "b").open("wb", buffering=0) as out, pytest.raises(OSError, match="full"):
        open_file_beneath(tmp_path, "a").copy_to(out.fileno(), 10)


def test_a_closed_file_is_opened_again_by_the_next_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    held = open_file_beneath(tmp_path, "a")
    before = len(list(Path("/dev/fd").iterdir()))
    assert held.release()
    assert len(list(Path("/dev/fd").iterdir())) == before - 1
    assert held.read(1, 3) == b"bc"


def test_a_closed_file_that_was_replaced_is_not_read_for_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    held = open_file_beneath(tmp_path, "a")
    held.release()
    (tmp_path / "b").write_bytes(b"xyz")
    (tmp_path / "b").replace(tmp_path / "a")
    with pytest.raises(ReadError, match="another file has this name now"):
        held.read(0, 3)


def test_many_files_share_few_descriptors(tmp_path: Path) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    held = []
    for number in range(MOST_OPEN * 3):
        (tmp_path / str(number)).write_text(str(number))
        held.append(open_file_beneath(tmp_path, str(number)))
    assert len(list(Path("/dev/fd").iterdir())) - before <= MOST_OPEN
    assert [file.read(0, 9).decode() for file in held] == [str(number) for number in range(len(held))]
    assert len(list(Path("/dev/fd").iterdir())) - before <= MOST_OPEN


def test_threads_that_read_more_files_than_may_be_open_get_the_right_bytes(tmp_path: Path) -> None:
    for number in range(MOST_OPEN * 2):
        (tmp_path / str(number)).write_text(str(number))
    held = [open_file_beneath(tmp_path, str(number)) for number in range(MOST_OPEN * 2)]

    def read_all(_: int) -> bool:
        return all(file.read(0, 9).decode() == str(number) for number, file in enumerate(held))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read_all, range(40)))


def test_a_file_that_outlives_the_modules_of_its_process_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    before = len(list(Path("/dev/fd").iterdir()))
    held = [open_file_beneath(tmp_path, "a")]
    assert len(list(Path("/dev/fd").iterdir())) == before + 1
    monkeypatch.setattr("ctxview.files.open_file.os", None)
    held.clear()
    assert len(list(Path("/dev/fd").iterdir())) == before
