"""Reading: regular files only, within bounds, without leaving the folder or a trace."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from ctxview.files import system_calls
from ctxview.files.reading import ReadError, read_beneath, read_bytes, read_ends
from ctxview.formats import open_source


def reason(caught: pytest.ExceptionInfo[ReadError]) -> str:
    return caught.value.reason


def test_a_file_is_read_whole_and_links_named_by_hand_are_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\x00\xff" * 100_000)
    (tmp_path / "link").symlink_to("file")

    assert read_bytes(tmp_path / "file") == b"\x00\xff" * 100_000
    assert read_bytes(tmp_path / "link") == b"\x00\xff" * 100_000


@pytest.mark.skipif(not hasattr(os, "O_NOATIME"), reason="this system always records access times")
def test_reading_does_not_change_the_access_time(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    os.utime(file, ns=(1_000_000_000, 2_000_000_000))

    read_bytes(file)
    read_beneath(tmp_path, "file")
    read_ends(file, 1)
    open_source(file)

    assert (file.stat().st_atime_ns, file.stat().st_mtime_ns) == (1_000_000_000, 2_000_000_000)


def test_only_regular_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        cases = {
            tmp_path / "pipe": "this is a pipe, not a file",
            tmp_path: "this is a folder, not a file",
            Path("/dev/null"): "this is a device, not a file",
            tmp_path / "socket": "this is a socket or a pipe, not a file",
            tmp_path / "missing": "there is no such file",
            tmp_path / ("x" * 300): "the name is too long",
            tmp_path / "a\0b": "the path holds a NUL character",
        }
        for path, why in cases.items():
            with pytest.raises(ReadError) as caught:
                read_bytes(path)
            assert reason(caught) == why
            assert caught.value.path == path


def test_a_file_over_the_limit_is_refused_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"123")
    with (tmp_path / "big").open("wb") as file:
        file.truncate(80 * 1024 * 1024)

    assert read_bytes(tmp_path / "small", limit=3) == b"123"
    with pytest.raises(ReadError, match="the file has 3 bytes, more than the limit of 2 bytes"):
        read_bytes(tmp_path / "small", limit=2)
    with pytest.raises(ReadError, match=r"the file has 80\.0 MiB, more than the limit of 64\.0 MiB"):
        read_bytes(tmp_path / "big")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc here")
def test_files_that_hide_their_size_are_bounded_too() -> None:
    assert b"Name:" in read_bytes(Path("/proc/self/status"))
    with pytest.raises(ReadError, match="grew over the limit"):
        read_bytes(Path("/proc/self/status"), limit=10)


@pytest.fixture(params=["openat2", "component walk"])
def session(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ways out of it, read with the system call and without it."""

    def no_such_call(*_: object) -> int:
        raise OSError(errno.ENOSYS, "not here")

    if request.param == "component walk":
        monkeypatch.setattr(system_calls, "openat2", no_such_call)
    root = tmp_path / "session"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "sub" / "deep" / "file").write_bytes(b"inside")
    (tmp_path / "secret").write_bytes(b"outside")
    (root / "out").symlink_to(tmp_path)
    (root / "out-file").symlink_to(tmp_path / "secret")
    (root / "sub" / "in-link").symlink_to("deep")
    os.mkfifo(root / "pipe")
    return root


@pytest.mark.parametrize("relative", ["sub/deep/file", "./sub//deep/./file"])
def test_files_below_the_folder_are_read(session: Path, relative: str) -> None:
    assert read_beneath(session, relative) == b"inside"


@pytest.mark.parametrize(
    ("relative", "why"),
    [
        ("../secret", "the path goes up with .. and may leave the folder"),
        ("sub/../sub/deep/file", "the path goes up with .. and may leave the folder"),
        ("/etc/passwd", "the path is absolute and leaves the folder"),
        ("out/secret", "the path goes through a symbolic link"),
        ("out-file", "the path goes through a symbolic link"),
        ("sub/in-link/file", "the path goes through a symbolic link"),
        ("sub/deep/file\0.json", "the path holds a NUL character"),
        ("", "the path is empty"),
        ("sub/deep", "this is a folder, not a file"),
        ("sub/deep/file/x", "part of the path is not a folder"),
        ("pipe", "this is a pipe, not a file"),
        ("missing", "there is no such file"),
        (".", "this is a folder, not a file"),
    ],
)
def test_an_untrusted_path_cannot_leave_the_folder(session: Path, relative: str, why: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_beneath(session, relative)

    assert reason(caught) == why


def test_the_limit_holds_below_a_folder_too(session: Path) -> None:
    with pytest.raises(ReadError, match="more than the limit"):
        read_beneath(session, "sub/deep/file", limit=2)


def test_a_missing_folder_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="there is no such file"):
        read_beneath(tmp_path / "nowhere", "x")
