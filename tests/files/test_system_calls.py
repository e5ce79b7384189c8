"""Calls to the operating system: all in one module, with substitutes for macOS and a clear end elsewhere."""

from __future__ import annotations

import ast
import ctypes
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ctxview
from ctxview.files import save, system_calls
from tests.files.other_systems import LINUX_ONLY, MODULES, POSIX_ONLY

ROOT = Path(__file__).parents[2]
PACKAGE = Path(ctxview.__file__).parent
AS_ON_WINDOWS = """
from tests.files.other_systems import become_windows
become_windows()
import sys
from ctxview.cli import main
sys.exit(main(sys.argv[1:]))
"""
TESTS_AS_ON_MACOS = """
from tests.files.other_systems import become_macos
become_macos()
import sys
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""
WITHOUT_LINUX = {
    "files": [
        f"tests/files/test_{name}.py"
        for name in ["save", "reading", "create", "removal", "open_file", "prefix_digest"]
    ],
    "recordings": ["tests/recording"],
    "recordings as sources": ["tests/formats/recording"],
}
# They are about the moment between two exchanges of names, and about leases, which only Linux has.
ABOUT_LINUX = (
    *("while_a_save_is_undone", "gets_the_inode_number", "of_a_renaming_agent", "save_that_is_undone"),
    *("stays_while_a_program_has_it_open", "that_a_program_writes_into_stays"),
)


@pytest.mark.parametrize("arguments", [["check", "."], ["show", "x.json"], ["--version"], ["x.json"], []])
def test_on_another_system_one_line_says_what_is_supported(arguments: list[str]) -> None:
    run = subprocess.run(
        [sys.executable, "-c", AS_ON_WINDOWS, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "ctxview: ctxview runs on Linux, macOS and WSL, but not on this system (win32)\n"


@pytest.mark.parametrize("tests", WITHOUT_LINUX.values(), ids=WITHOUT_LINUX)
def test_files_are_read_saved_and_recorded_without_the_calls_of_linux(tests: list[str]) -> None:
    """macOS has no `openat2`, no `renameat2`, no `O_PATH`, and more is missing in its Python."""
    options = [
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-q",
        "-x",
        "-k",
        f"not ({' or '.join(ABOUT_LINUX)})",
    ]
    run = subprocess.run(
        [sys.executable, "-c", TESTS_AS_ON_MACOS, *options, *tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )

    assert run.returncode == 0, run.stdout[-3000:]
    assert "[100%]" in run.stdout


def test_only_one_module_makes_calls_that_some_systems_lack() -> None:
    lacking = {*LINUX_ONLY, *POSIX_ONLY} - {"fchmod", "fchown"}
    for file in PACKAGE.rglob("*.py"):
        if file == Path(system_calls.__file__) or file.is_relative_to(PACKAGE / "tui"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            place = f"{file.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Import):
                assert not {alias.name for alias in node.names} & {*MODULES, "ctypes"}, place
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                assert node.attr not in lacking, f"{place} os.{node.attr}"


def test_a_program_that_has_a_file_open_for_writing_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    reader = os.open(path, system_calls.READ)
    try:
        with path.open("ab"):
            assert system_calls.has_writer(reader) in (True, None)
        with path.open("rb"):
            assert system_calls.has_writer(reader) in (False, None)
    finally:
        os.close(reader)


class _MacosLibrary:
    """The C library of macOS, whose call exchanges two names with that of Linux."""

    def __init__(self, code: int = 0) -> None:
        self._code = code

    @property
    def renameatx_np(self) -> Callable[..., int]:
        def rename(directory: int, one: bytes, at: int, other: bytes, flags: int) -> int:
            assert (directory, flags) == (at, 2)
            ctypes.set_errno(self._code)
            if not self._code:
                between = os.fsdecode(one) + ".between"
                os.rename(one, between, src_dir_fd=directory, dst_dir_fd=directory)
                os.rename(other, one, src_dir_fd=directory, dst_dir_fd=directory)
                os.rename(between, other, src_dir_fd=directory, dst_dir_fd=directory)
            return -1 if self._code else 0

        return rename


@pytest.mark.parametrize("library", [_MacosLibrary(), _MacosLibrary(errno.ENOTSUP), object()])
def test_names_are_exchanged_on_macos_where_its_file_system_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: object
) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda *_args, **_named: library)
    directory = os.open(tmp_path, os.O_RDONLY)
    try:
        if isinstance(library, _MacosLibrary) and not library._code:
            system_calls.exchange(directory, "a", "b")
            assert (tmp_path / "a").read_text() == "b"
            assert (tmp_path / "b").read_text() == "a"
        else:
            with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is what matters
                system_calls.exchange(directory, "a", "b")
            assert caught.value.errno in save._CANNOT_EXCHANGE
    finally:
        os.close(directory)
