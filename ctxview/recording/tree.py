"""One look at a tree of files by their status alone: nothing is opened, no link is followed."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from ctxview.files.reading import in_words
from ctxview.files.stamps import Stamp, stamp_from
from ctxview.formats.discovery import SKIPPED
from ctxview.quick_dataclass import dataclass

MOST_ENTRIES: Final = 20_000
DEEPEST: Final = 24

_TOO_DEEP: Final = f"deeper than {DEEPEST} folders, not looked into"


@dataclass(frozen=True, slots=True)
class Scope:
    """What is recorded: below the folder `root`, the trees and files that `parts` name ("" is all of it)."""

    root: Path
    parts: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True)
class Stand:
    """What stands under a name: a file with its stamp and permissions, a folder, or why it is neither."""

    stamp: Stamp | None = None
    mode: int = 0
    problem: str | None = None

    @property
    def is_folder(self) -> bool:
        return self.stamp is None and self.problem is None


def stand_of(status: os.stat_result) -> Stand:
    kind = status.st_mode
    if stat.S_ISREG(kind):
        return Stand(stamp_from(status), stat.S_IMODE(kind) & 0o777)
    if stat.S_ISLNK(kind):
        return Stand(problem="a symbolic link, which is not followed")
    return Stand() if stat.S_ISDIR(kind) else Stand(problem="neither a file nor a folder")


def stand_at(path: Path) -> Stand | None:
    """None when nothing is there."""
    try:
        return stand_of(os.lstat(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        return Stand(problem=in_words(error))


@dataclass(frozen=True, slots=True)
class Tree:
    """Everything in scope by name; `notes` say what could not be looked at."""

    stands: dict[str, Stand]
    notes: tuple[str, ...] = ()


def look_at(scope: Scope, most: int = MOST_ENTRIES) -> Tree:
    """By name, so that the same ones are kept when there are too many."""
    stands: dict[str, Stand] = {}
    notes: list[str] = []
    waiting = [(part, 0) for part in sorted(scope.parts, reverse=True)]
    while waiting:
        name, depth = waiting.pop()
        stand = stand_at(scope.root / name)
        if stand is None:
            continue
        if len(stands) >= most:
            notes.append(f"only the first {most:,} files and folders are kept")
            break
        below: list[str] = []
        if stand.is_folder:
            below, problem = _names(scope.root / name) if depth < DEEPEST else ([], _TOO_DEEP)
            if problem is not None:
                stand = Stand(problem=problem)
        if name:
            stands[name] = stand
        elif stand.problem is not None:
            notes.append(stand.problem)
        waiting += [(f"{name}/{each}" if name else each, depth + 1) for each in reversed(below)]
    return Tree(stands, tuple(notes))


def _names(folder: Path) -> tuple[list[str], str | None]:
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if entry.name not in SKIPPED]
    except FileNotFoundError:
        return [], None
    except OSError as error:
        return [], in_words(error)
    return sorted(found), None
