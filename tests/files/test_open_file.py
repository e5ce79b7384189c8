"""Copying an open file; the tests of lines cover the rest."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ctxview.files.open_file import open_file_beneath

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
