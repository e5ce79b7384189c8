"""Discovery: lists every source at or below a path that a format recognises, within reported bounds.

It opens no source and follows no links.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from ctxview.core.format_spec import FormatMatch
from ctxview.files.reading import SKIPPED_FOLDERS, error_text, is_leftover
from ctxview.formats.interface import OpenError
from ctxview.formats.path_hints import missing_path_reason, unlisted_reason
from ctxview.formats.peek import Peek
from ctxview.formats.registry import RAW, detect_peek, format_problems

DEEPEST = 12
MOST_ENTRIES = 20_000
NEAR = 4
"""Parent folders in which the source of a single file is looked for."""
A_UNIT = 50
"""A folder with a lower score is searched instead of being listed as one source."""


class DiscoveredSource(Struct, frozen=True):
    """A source that can be opened, the reason why, and every format that fits it, best first."""

    path: Path
    format: str
    why: str
    matches: tuple[FormatMatch, ...] = ()


class UnreadFolder(NamedTuple):
    path: Path
    why: str


class Discovery(Struct, frozen=True):
    """The sources at or below `path`.

    `capped` says why the search stopped early, `notes` what went wrong, `unread` which folders could not be
    listed.
    """

    path: Path
    found: tuple[DiscoveredSource, ...]
    looked_at: int
    capped: str | None = None
    notes: tuple[str, ...] = ()
    unread: tuple[UnreadFolder, ...] = ()
    folders: tuple[Path, ...] = ()
    """The folders that were searched; a new source may appear in any of them."""


def discover(path: Path) -> Discovery:
    """Find every source at or below `path`; a single unrecognised file is offered as raw.

    Raises `OpenError`.
    """
    why = missing_path_reason(path) or (unlisted_reason(path) if path.is_dir() else None)
    if why is not None:
        raise OpenError(f"{path}: {why}")
    if not path.is_dir():
        return Discovery(
            path, (_recognised(path) or DiscoveredSource(path, RAW, "no format recognised it"),), 1
        )
    search = _Search()
    found = tuple(sorted(search.through(path), key=lambda each: each.path.parts))
    failed = (f"the format {name} cannot be used: {why}" for name, why in format_problems().items())
    notes = (*search.notes, *failed)
    unread, folders = tuple(search.unread), tuple(search.folders)
    return Discovery(path, found, search.looked_at, search.capped, notes, unread, folders)


def enclosing_source(file: Path) -> DiscoveredSource | None:
    """Return the source that `file` is a part of, such as a session, or None."""
    for above, folder in enumerate(file.absolute().parents[:NEAR]):
        found = _recognised(folder if file.is_absolute() else Path(os.path.relpath(folder)))
        if found is not None and found.matches[0].score >= A_UNIT and not (above and found.matches[0].flat):
            return found
    return None


class _Search:
    def __init__(self) -> None:
        self.looked_at = 0
        self.capped: str | None = None
        self.notes: list[str] = []
        self.unread: list[UnreadFolder] = []
        self.folders: list[Path] = []

    def through(self, root: Path) -> Iterator[DiscoveredSource]:
        """Yield sources breadth first. What belongs to a recognised folder is not searched again."""
        waiting = deque([(root, 0)])
        while waiting and self.capped is None:
            path, depth = waiting.popleft()
            self.looked_at += 1
            found = _recognised(path)
            if found is not None and (found.matches[0].score >= A_UNIT or not path.is_dir()):
                yield found
                if found.matches[0].flat:
                    waiting.extend((each, depth + 1) for each in self._entries(path, depth) if each.is_dir())
            elif path.is_dir() and not path.is_symlink():
                self.folders.append(path)
                waiting.extend((below, depth + 1) for below in self._entries(path, depth))
            elif Peek(path).is_broken_json:
                # It may have been anything, and is worth a look for that reason.
                yield DiscoveredSource(path, RAW, "called JSON, but it is not")
            if self.looked_at >= MOST_ENTRIES:
                self.capped = f"stopped after looking at {MOST_ENTRIES:,} files and folders"

    def _entries(self, folder: Path, depth: int) -> list[Path]:
        """Return the entries by name, folders first, so that many files do not hide a folder."""
        if depth >= DEEPEST:
            self.notes.append(f"{folder}: deeper than {DEEPEST} folders, not searched")
            return []
        try:
            with os.scandir(folder) as entries:
                names = sorted(
                    (not entry.is_dir(), entry.name)
                    for entry in entries
                    if entry.name not in SKIPPED_FOLDERS
                    and not entry.is_symlink()
                    and not is_leftover(entry.name)
                )
        except OSError as error:
            self.unread.append(UnreadFolder(folder, error_text(error)))
            return []
        return [folder / name for _, name in names]


def _recognised(path: Path) -> DiscoveredSource | None:
    matches = tuple(detect_peek(Peek(path)))
    return DiscoveredSource(path, matches[0].format, matches[0].why, matches) if matches else None
