"""For tests of things that change on disk: time as the test wants it, never the clock."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxview.files import stamps


class Time:
    """Whether files count as just written; nothing waits for that."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self.passes()

    def passes(self) -> None:
        """Everything was written long ago: stamps can be believed, and what is broken is broken."""
        self._patch.setattr(stamps, "GRAIN", 0.0)
        self._patch.setattr(stamps, "SETTLES_AFTER", 0.0)

    def stands_still(self) -> None:
        """Everything was written just now."""
        self._patch.setattr(stamps, "SETTLES_AFTER", float("inf"))


def write(path: Path, data: bytes) -> None:
    """In place, with another time than before, however coarse the clock of the file system is."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_bytes(data)
    now = path.stat().st_mtime_ns
    if now <= before:
        os.utime(path, ns=(now, before + 1_000_000))


def replace(path: Path, data: bytes) -> None:
    """As careful programs do: another file takes the name."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(data)
    beside.replace(path)
