"""Looking at one folder of the session format, never above it and through no link; drafts stand in for files.

Every name is relative to the folder. What cannot be read is a part with a reason, never an exception.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from pathlib import Path, PurePosixPath

from ctxview.files.json_document import JsonError, parse
from ctxview.files.reading import LIMIT, Unreadable, outside, read_beneath
from ctxview.files.stamps import Stamp, is_settled, lasting, stamp_of
from ctxview.quick_dataclass import dataclass

MOST_ENTRIES = 20_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class EntryKind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "symbolic link"
    OTHER = "other"
    ABSENT = "absent"

    @property
    def told(self) -> str:
        """What stands there, for the end of a sentence that says what it is."""
        return "neither a file nor a folder" if self is EntryKind.OTHER else f"a {self.value}"


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands under a name, as the folder says it: nothing was opened."""

    name: str
    kind: EntryKind
    size: int = 0
    mode: int = 0
    modified: float = 0.0


@dataclass(frozen=True)
class Part:
    """One file of a session: its bytes, or why there are none. `file` is its name in origins and drafts."""

    name: str
    file: str
    kind: EntryKind
    data: bytes | None = None
    problem: str | None = None
    modified: float = 0.0
    stamp: Stamp | None = field(default=None, compare=False)

    @property
    def exists(self) -> bool:
        return self.kind is not EntryKind.ABSENT

    @property
    def readable(self) -> bool:
        return self.data is not None

    @cached_property
    def text(self) -> str:
        """The file as text; empty when it cannot be read."""
        return (self.data or b"").decode("utf-8", "replace")

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()

    @property
    def value(self) -> str | None:
        """The one word or line of a control file, without its line end; None when there is none."""
        lines = [line for line in self.text.split("\n") if line.strip()]
        return lines[0].strip() if lines else None


@dataclass(frozen=True)
class FolderLook:
    """What one look at a folder read, and the stamps by which to know whether another would read the same."""

    before: Mapping[str, Part] = field(default_factory=dict)
    """The parts of the look before."""
    parts: dict[str, Part] = field(default_factory=dict)
    stamps: dict[Path, Stamp | None] = field(default_factory=dict)
    held_back: list[str] = field(default_factory=list)
    """Files that are being written, shown as they were before."""

    def note(self, path: Path, stamp: Stamp | None) -> None:
        self.stamps[path] = lasting(stamp)

    def still_true(self) -> bool:
        return not self.held_back and all(stamp_of(path) == stamp for path, stamp in self.stamps.items())


@dataclass(frozen=True)
class SessionFolder:
    """A folder and the drafts of its files, by their names in origins. Keeps what was read, for `again`."""

    root: Path
    overlay: Mapping[str, bytes] = field(default_factory=dict)
    seen: FolderLook = field(default_factory=lambda: FolderLook(), compare=False, repr=False)

    def again(self) -> SessionFolder:
        """For another look: files that did not change are taken from this one."""
        return SessionFolder(self.root, self.overlay, FolderLook(before=self.seen.parts))

    def file(self, name: str) -> str:
        return str(self.root / name)

    def name_of(self, file: str) -> str | None:
        """The relative name behind a name in an origin; None when it is not of this folder."""
        prefix = "" if self.root == Path() else f"{self.root}{os.sep}"
        name = file.removeprefix(prefix)
        return name if file.startswith(prefix) and outside(name) is None else None

    def read(self, name: str, limit: int = LIMIT) -> Part:
        """The file under that name, or what stands there instead."""
        file = self.file(name)
        draft = self.overlay.get(file)
        if draft is not None:
            return Part(name, file, EntryKind.FILE, draft)
        stamp = stamp_of(self.root / name)
        part = self._read(name, file, stamp, limit)
        self.seen.note(self.root / name, stamp)
        self.seen.parts[name] = part
        return part

    def _read(self, name: str, file: str, stamp: Stamp | None, limit: int) -> Part:
        before = self.seen.before.get(name)
        if before is not None and stamp is not None and before.stamp == stamp:
            return before
        entry = self.entry(name)
        if entry.kind is EntryKind.ABSENT:
            return Part(name, file, entry.kind, problem="there is no such file")
        if entry.kind is not EntryKind.FILE:
            return Part(name, file, entry.kind, problem=f"this is {entry.kind.told}", modified=entry.modified)
        kept = lasting(stamp)
        try:
            data = read_beneath(self.root, name, limit)
        except Unreadable as error:
            return Part(name, file, entry.kind, None, error.reason, entry.modified, kept)
        part = Part(name, file, entry.kind, data, None, entry.modified, kept)
        if before is not None and before.readable and _is_half_written(part):
            self.seen.held_back.append(name)
            return before
        return part

    def entry(self, name: str) -> Entry:
        """What stands under a name; a link anywhere on the way makes it a link."""
        if outside(name) is not None:
            return Entry(name, EntryKind.ABSENT)
        parts = PurePosixPath(name).parts
        try:
            for length in range(1, len(parts)):
                status = os.lstat(self.root.joinpath(*parts[:length]))
                if stat.S_ISLNK(status.st_mode):
                    return Entry(name, EntryKind.LINK)
            return _entry(name, os.lstat(self.root / name))
        except (OSError, ValueError):
            return Entry(name, EntryKind.ABSENT)

    def entries(self, name: str = "") -> tuple[Entry, ...]:
        """What a folder holds, by name, at most `MOST_ENTRIES`; nothing when it is none or is a link."""
        self.seen.note(self.root / name, stamp_of(self.root / name))
        return tuple(sorted(self._scan(name), key=lambda entry: entry.name))

    def _scan(self, name: str) -> Iterator[Entry]:
        try:
            descriptor = self._open_folder(name)
        except OSError:
            return
        try:
            with os.scandir(descriptor) as found:
                for _, each in zip(range(MOST_ENTRIES), found, strict=False):
                    try:
                        yield _entry(each.name, each.stat(follow_symlinks=False))
                    except OSError:
                        yield Entry(each.name, EntryKind.OTHER)
        except OSError:
            return
        finally:
            os.close(descriptor)

    def _open_folder(self, name: str) -> int:
        current = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for part in PurePosixPath(name).parts:
            try:
                following = os.open(part, _FOLDER, dir_fd=current)
            finally:
                os.close(current)
            current = following
        return current


def _is_half_written(part: Part) -> bool:
    """Whether somebody is in the middle of writing this: it does not parse, or its last line has no end."""
    data = part.data or b""
    if not part.name.endswith((".json", ".jsonl")) or is_settled(Path(part.file)):
        return False
    if part.name.endswith(".jsonl"):
        return bool(data) and not data.endswith(b"\n")
    try:
        parse(data)
    except JsonError:
        return True
    return False


def _entry(name: str, status: os.stat_result) -> Entry:
    kinds = (
        (stat.S_ISLNK, EntryKind.LINK),
        (stat.S_ISREG, EntryKind.FILE),
        (stat.S_ISDIR, EntryKind.FOLDER),
    )
    kind = next((word for test, word in kinds if test(status.st_mode)), EntryKind.OTHER)
    return Entry(name, kind, status.st_size, stat.S_IMODE(status.st_mode), status.st_mtime)
