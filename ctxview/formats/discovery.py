"""Discovery: lists every source at or below a path that a format recognises, within reported bounds.

It opens no source and follows no links.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.format_spec import FormatMatch
from ctxview.files.reading import SKIPPED_FOLDERS, error_text, is_leftover, is_review_file
from ctxview.formats.interface import OpenError, Source
from ctxview.formats.path_hints import missing_path_reason, unlisted_reason
from ctxview.formats.peek import FOLDERS, Peek
from ctxview.formats.registry import RAW, detect_peek, open_peek

DEEPEST = 12
MOST_ENTRIES = 20_000
NEAR = 4
"""Parent folders in which the source of a single file is looked for."""
MOST_KEPT = 64 * 1024 * 1024
"""Bytes that are kept until their source is opened; further ones are read again."""
A_UNIT = 50
"""A folder with a lower score is searched instead of being listed as one source."""


class DiscoveredSource(Struct, frozen=True):
    """A source that can be opened, the reason why, and every format that fits it, best first."""

    peek: Peek
    format: str
    why: str
    matches: tuple[FormatMatch, ...] = ()

    @property
    def path(self) -> Path:
        return self.peek.path

    def open(self) -> Source:
        """Open the source with what was read to recognise it, once; raises `OpenError`."""
        try:
            return open_peek(self.peek, matches=self.matches)
        finally:
            self.peek.release()


Below = Literal["folders", "everything"]
"""What of a folder is searched for further sources."""


class Look(Struct, frozen=True):
    """The source at a path, if any, and what is searched below the path."""

    found: DiscoveredSource | None
    below: Below | None = None


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


def discover(path: Path, *, into_lists: bool = True) -> Discovery:
    """Find every source at or below `path`; a single unrecognised file is offered as raw.

    Of a folder that a source lists, all sources are found, or without `into_lists` only the list. Raises
    `OpenError`.
    """
    why = missing_path_reason(path) or (unlisted_reason(path) if path.is_dir() else None)
    if why is not None:
        raise OpenError(f"{path}: {why}")
    if not path.is_dir():
        peek = Peek(path)
        single = _recognised(peek) or DiscoveredSource(peek, RAW, "no format recognised it")
        return Discovery(path, tuple(_members(single, into_lists=into_lists)), 1)
    search = _Search(into_lists=into_lists)
    # A file comes before the folder of its name, such as a session before its sub-agents.
    found = tuple(
        sorted(search.through(path), key=lambda each: ((*each.path.parent.parts, each.path.stem), each.path))
    )
    notes = tuple(search.notes)
    unread, folders = tuple(search.unread), tuple(search.folders)
    return Discovery(path, found, search.looked_at, search.capped, notes, unread, folders)


def enclosing_source(file: Path) -> DiscoveredSource | None:
    """Return the source that `file` is a part of, such as a session, or None."""
    for above, folder in enumerate(file.absolute().parents[:NEAR]):
        found = _recognised(Peek(folder if file.is_absolute() else Path(os.path.relpath(folder))))
        if found is not None and found.matches[0].score >= A_UNIT and not (above and found.matches[0].flat):
            return found
    return None


class _Search:
    def __init__(self, *, into_lists: bool) -> None:
        self._into_lists = into_lists
        self.looked_at = 0
        self.capped: str | None = None
        self.notes: list[str] = []
        self.unread: list[UnreadFolder] = []
        self.folders: list[Path] = []
        self._room = MOST_KEPT

    def through(self, root: Path) -> Iterator[DiscoveredSource]:
        """Yield sources breadth first. What belongs to a recognised folder is not searched again."""
        waiting = deque([(Peek(root), 0)])
        while waiting and self.capped is None:
            peek, depth = waiting.popleft()
            self.looked_at += 1
            look = look_at(peek, into_lists=self._into_lists)
            if look.below == "everything":
                self.folders.append(peek.path)
            if look.below is not None:
                waiting.extend((each, depth + 1) for each in self._entries(peek, depth, look.below))
            if look.found is None and look.below is None:
                peek.release()
            else:
                self._keep(peek)
            if look.found is not None:
                yield from _members(look.found, into_lists=self._into_lists)
            if self.looked_at >= MOST_ENTRIES:
                self.capped = f"stopped after looking at {MOST_ENTRIES:,} files and folders"

    def _keep(self, peek: Peek) -> None:
        """Keep what was read until the source is opened or the path is reached, as long as there is room."""
        self._room -= peek.held
        if self._room < 0:
            peek.release()

    def _entries(self, peek: Peek, depth: int, below: Below) -> list[Peek]:
        if depth >= DEEPEST:
            self.notes.append(f"{peek.path}: deeper than {DEEPEST} folders, not searched")
            return []
        try:
            return [peek.below(name) for name in names_below(peek.path, below)]
        except OSError as error:
            self.unread.append(UnreadFolder(peek.path, error_text(error)))
            return []


def look_at(peek: Peek, *, into_lists: bool = True) -> Look:
    """Recognise the source at a peek. What belongs to a recognised folder is not searched again."""
    found = _recognised(peek)
    if found is not None and found.matches[0].lists and not found.matches[0].members and into_lists:
        return Look(None, "everything")
    if found is not None and (found.matches[0].score >= A_UNIT or not peek.is_folder):
        return Look(found, "folders" if found.matches[0].flat and peek.is_folder else None)
    if peek.is_folder:
        return Look(None, "everything")
    if peek.is_broken_json:
        settings = peek.without_comments
        if settings is None or _recognised(settings) is not None:
            # It may have been anything, and is worth a look for that reason.
            return Look(DiscoveredSource(peek, RAW, "called JSON, but it is not"))
    if peek.is_unreadable:
        return Look(DiscoveredSource(peek, RAW, "it may be a source by its name, but it cannot be read"))
    return Look(None)


def names_below(folder: Path, below: str) -> list[str]:
    """Return the names to look at, folders first: many files must not hide one. Raises `OSError`.

    `below` is a `Below`.
    """
    with os.scandir(folder) as entries:
        names = sorted(
            (not entry.is_dir() and entry.name not in FOLDERS, entry.name)
            for entry in entries
            if entry.name not in SKIPPED_FOLDERS
            and not entry.is_symlink()
            and not is_leftover(entry.name)
            and not is_review_file(entry.name)
        )
    return [name for is_file, name in names if below == "everything" or not is_file]


def _members(found: DiscoveredSource, *, into_lists: bool) -> Iterator[DiscoveredSource]:
    several = len(found.matches[0].members) if found.matches else 0
    if not several or (several > 1 and not into_lists):
        yield found
    else:
        yield from members_of(found)


def members_of(found: DiscoveredSource) -> Iterator[DiscoveredSource]:
    """Yield the sources that a recognised store holds."""
    match = replace(found.matches[0], members=())
    for name in found.matches[0].members:
        yield DiscoveredSource(Peek(found.path / name), found.format, found.why, (match,))


def _recognised(peek: Peek) -> DiscoveredSource | None:
    matches = tuple(detect_peek(peek))
    return DiscoveredSource(peek, matches[0].format, matches[0].why, matches) if matches else None
