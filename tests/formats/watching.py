"""Helpers for tests of files that change on disk: a controlled clock, and ways to write a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxview.files import change_detector


class Time:
    """Controls whether files count as just written, without waiting."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self.passes()

    def passes(self) -> None:
        """Let all files count as written long ago: their stamps are reliable, and none is half written."""
        self._patch.setattr(change_detector, "GRAIN", 0.0)
        self._patch.setattr(change_detector, "SETTLES_AFTER", 0.0)

    def stands_still(self) -> None:
        """Let all files count as written just now."""
        self._patch.setattr(change_detector, "SETTLES_AFTER", float("inf"))


def write(path: Path, data: bytes) -> None:
    """Write in place, with a later time than before, however coarse the clock of the file system is."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_bytes(data)
    now = path.stat().st_mtime_ns
    if now <= before:
        os.utime(path, ns=(now, before + 1_000_000))


def replace(path: Path, data: bytes) -> None:
    """Write a new file and rename it, as careful programs do."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(data)
    beside.replace(path)
