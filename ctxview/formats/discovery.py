"""Looks through a file, a session or a tree for all that can be recognised, within bounds that are said.

Opens nothing and follows no links.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ctxview.files.reading import in_words
from ctxview.formats.interface import CannotOpen, Match
from ctxview.formats.nearest import absence, unlisted
from ctxview.formats.peek import Peek
from ctxview.formats.registry import RAW, detect_peek, plugin_problems
from ctxview.quick_dataclass import dataclass

SKIPPED = frozenset(
    (
        *(".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", "site-packages"),
        *(".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
    )
)
DEEPEST = 12
MOST_ENTRIES = 20_000
MOST_FOUND = 2_000
NEAR = 4
"""So many folders up one looks for what a file may belong to."""
A_UNIT = 50
"""A folder that fits a format less well is looked into instead of being listed as one thing."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that can be opened, what it was recognised by, and every format that fits it, best first."""

    path: Path
    format: str
    why: str
    matches: tuple[Match, ...] = ()


class Unread(NamedTuple):
    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found below a path. `capped` says where the search stopped, `notes` what went wrong.

    `unread` are folders nobody could look into.
    """

    path: Path
    found: tuple[Found, ...]
    looked_at: int
    capped: str | None = None
    notes: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
    folders: tuple[Path, ...] = ()
    """The folders that were looked into: where something else may appear."""


def discover(path: Path) -> Discovery:
    """Everything below `path` that a format recognises; a single unrecognised file is offered as raw."""
    why = absence(path) or (unlisted(path) if path.is_dir() else None)
    if why is not None:
        raise CannotOpen(f"{path}: {why}")
    if not path.is_dir():
        return Discovery(path, (_recognised(path) or Found(path, RAW, "no format recognised it"),), 1)
    search = _Search()
    found = tuple(sorted(search.through(path), key=lambda each: each.path.parts))
    failed = (f"the format {name} cannot be used: {why}" for name, why in plugin_problems().items())
    notes = (*search.notes, *failed)
    unread, folders = tuple(search.unread), tuple(search.folders)
    return Discovery(path, found, search.looked_at, search.capped, notes, unread, folders)


def home_of(file: Path) -> Found | None:
    """The folder around a file that is one thing by itself, such as a session; None when there is none."""
    for folder in file.absolute().parents[:NEAR]:
        found = _recognised(folder if file.is_absolute() else Path(os.path.relpath(folder)))
        if found is not None and found.matches[0].score >= A_UNIT:
            return found
    return None


class _Search:
    def __init__(self) -> None:
        self.looked_at = 0
        self.capped: str | None = None
        self.notes: list[str] = []
        self.unread: list[Unread] = []
        self.folders: list[Path] = []

    def through(self, root: Path) -> Iterator[Found]:
        """What is near first. What is inside a recognised folder belongs to it and is not listed again."""
        waiting = deque([(root, 0)])
        count = 0
        while waiting and self.capped is None:
            path, depth = waiting.popleft()
            self.looked_at += 1
            found = _recognised(path)
            if found is not None and (found.matches[0].score >= A_UNIT or not path.is_dir()):
                count += 1
                yield found
            elif path.is_dir() and not path.is_symlink():
                self.folders.append(path)
                waiting.extend((below, depth + 1) for below in self._entries(path, depth))
            self.capped = self.capped or self._over(count)

    def _over(self, found: int) -> str | None:
        if self.looked_at >= MOST_ENTRIES:
            return f"stopped after looking at {MOST_ENTRIES:,} files and folders"
        return f"stopped after finding {MOST_FOUND:,} things" if found >= MOST_FOUND else None

    def _entries(self, folder: Path, depth: int) -> list[Path]:
        """By name, folders first: where there are too many files, they hide nothing."""
        if depth >= DEEPEST:
            self.notes.append(f"{folder}: deeper than {DEEPEST} folders, not looked into")
            return []
        try:
            with os.scandir(folder) as entries:
                kept = sorted(
                    (not entry.is_dir(), entry.name)
                    for entry in entries
                    if entry.name not in SKIPPED and not entry.is_symlink()
                )
        except OSError as error:
            self.unread.append(Unread(folder, in_words(error)))
            return []
        return [folder / name for _, name in kept]


def _recognised(path: Path) -> Found | None:
    matches = tuple(detect_peek(Peek(path)))
    return Found(path, matches[0].format, matches[0].why, matches) if matches else None
