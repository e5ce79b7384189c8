"""The folder of a source: reads its files and lists its entries, without following links or leaving it.

Names are relative to the folder. A file that cannot be read is a `FolderFile` with a reason, not an error.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec import field as struct_field

from ctxview.files.change_detector import Stamp, is_settled, stable_stamp, stamp_of
from ctxview.files.reading import LIMIT, ReadError, error_text, is_review_file, path_problem, read_beneath
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.files.system_calls import FOLDER, FOLDER_NO_LINK
from ctxview.formats.peek import Peek

MOST_ENTRIES = 20_000


class EntryKind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "symbolic link"
    OTHER = "other"
    ABSENT = "absent"
    UNKNOWN = "unknown"
    """A folder on the way to the entry is not a folder or cannot be searched: the entry may exist or not."""

    @property
    def description(self) -> str:
        """A noun phrase for the end of a sentence: "this is a folder"."""
        phrases = {
            EntryKind.OTHER: "neither a file nor a folder",
            EntryKind.UNKNOWN: "in a folder that cannot be searched",
        }
        return phrases.get(self, f"a {self.value}")


class FolderEntry(Struct, frozen=True):
    """One entry of a folder, from its status alone: nothing was opened."""

    name: str
    kind: EntryKind
    size: int = 0
    mode: int = 0
    modified: float = 0.0


class FolderWalk(Struct, frozen=True):
    """The entries of a folder and its subfolders by relative name, and the folders that were not entered."""

    entries: tuple[tuple[str, FolderEntry], ...]
    unsearched: tuple[str, ...]
    listings: Mapping[str, Mapping[str, FolderEntry]]
    """The folders that were listed whole, each with all its entries by their names."""

    def lacks(self, name: str) -> bool:
        """Whether the walk shows that there is nothing of this relative name."""
        folder, _, own = name.rpartition("/")
        listing = self.listings.get(folder)
        return own not in listing if listing is not None else bool(folder) and self.lacks(folder)

    def entry(self, name: str) -> FolderEntry | None:
        """Return the entry of this relative name, or None when its folder was not listed whole."""
        folder, _, own = name.rpartition("/")
        return self.listings.get(folder, {}).get(own)


@dataclass(frozen=True)
class FolderFile:
    """One file: its bytes, or why it has none. `file` is its name in origins and drafts."""

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
        """The first non-blank line of a control file, stripped; None when it has none."""
        lines = [line for line in self.text.split("\n") if line.strip()]
        return lines[0].strip() if lines else None


class FolderReading(Struct, frozen=True):
    """The files that were read from a folder, and the stamps that show whether they have changed."""

    before: Mapping[str, FolderFile] = struct_field(default_factory=dict)
    """The files of the reading before."""
    parts: dict[str, FolderFile] = struct_field(default_factory=dict)
    stamps: dict[str, Stamp | None] = struct_field(default_factory=dict)
    held_back: list[str] = struct_field(default_factory=list)
    """Files that are being written; their earlier content is used."""
    closed: dict[str, str] = struct_field(default_factory=dict)
    """Folders that cannot be listed or searched, each with the reason. Links are not among them."""
    capped: dict[str, int] = struct_field(default_factory=dict)
    """The folders with more than `MOST_ENTRIES` entries, and how many were left out."""

    def note(self, path: str, stamp: Stamp | None) -> None:
        self.stamps[path] = stable_stamp(stamp)

    def still_true(self) -> bool:
        return not self.held_back and all(stamp_of(path) == stamp for path, stamp in self.stamps.items())


@dataclass(frozen=True)
class SourceFolder:
    """A folder, the drafts of its files by their names in origins, and what was read, for `again`."""

    root: Path
    overlay: Mapping[str, bytes] = field(default_factory=dict)
    seen: FolderReading = field(default_factory=lambda: FolderReading(), compare=False, repr=False)

    def again(self) -> SourceFolder:
        """Return the folder for another reading, which reuses unchanged files of this one."""
        return SourceFolder(self.root, self.overlay, FolderReading(before=self.seen.parts))

    @classmethod
    def at(cls, peek: Peek) -> SourceFolder:
        """Return the folder at a peek, with the files that were read to recognise it."""
        return cls(peek.path, seen=FolderReading(before=dict(_peeked(peek, ""))))

    @cached_property
    def _prefix(self) -> str:
        return "" if self.root == Path() else os.path.join(self.root, "")  # noqa: PTH118 - keeps the slash

    def file(self, name: str) -> str:
        # Joining strings is twenty times as fast as joining paths, which also removes `./` and `//`.
        plain = name and name[0] != "/" and name[-1] not in "/." and "//" not in name and "./" not in name
        return f"{self._prefix}{name}" if plain else str(self.root / name)

    def name_of(self, file: str) -> str | None:
        """Return the relative name of a file in an origin; None when it is not in this folder."""
        name = file.removeprefix(self._prefix)
        return name if file.startswith(self._prefix) and path_problem(name) is None else None

    def read(self, name: str, limit: int = LIMIT, walked: FolderWalk | None = None) -> FolderFile:
        """Read the file `name`; its kind and problem say what is there instead of a file.

        What `walked` shows to be absent costs no call to the system.
        """
        file = self.file(name)
        draft = self.overlay.get(file)
        if draft is not None:
            return FolderFile(name, file, EntryKind.FILE, draft)
        if walked is not None and walked.lacks(name):
            stamp, part = None, FolderFile(name, file, EntryKind.ABSENT, problem="there is no such file")
        else:
            stamp = stamp_of(file)
            part = self._read(name, file, stamp, limit, walked.entry(name) if walked is not None else None)
        self.seen.note(file, stamp)
        self.seen.parts[name] = part
        return part

    def _read(
        self, name: str, file: str, stamp: Stamp | None, limit: int, listed: FolderEntry | None
    ) -> FolderFile:
        before = self.seen.before.get(name)
        if before is not None and stamp is not None and before.stamp == stamp:
            return before
        entry = listed or self.entry(name)
        if entry.kind is EntryKind.ABSENT:
            return FolderFile(name, file, entry.kind, problem="there is no such file")
        if entry.kind is not EntryKind.FILE:
            return FolderFile(
                name, file, entry.kind, problem=f"this is {entry.kind.description}", modified=entry.modified
            )
        lasting_stamp = stable_stamp(stamp)
        try:
            data = read_beneath(self.root, name, limit)
        except ReadError as error:
            return FolderFile(name, file, entry.kind, None, error.reason, entry.modified, lasting_stamp)
        part = FolderFile(name, file, entry.kind, data, None, entry.modified, lasting_stamp)
        if before is not None and before.readable and _is_half_written(part):
            self.seen.held_back.append(name)
            return before
        return part

    def entry(self, name: str) -> FolderEntry:
        """Return the entry `name`; when any folder of its path is a link, it counts as a link."""
        if path_problem(name) is not None:
            return FolderEntry(name, EntryKind.ABSENT)
        place = ""
        try:
            for part in PurePosixPath(name).parts[:-1] if "/" in name else ():
                above = _entry(part, os.lstat(self.file(f"{place}/{part}" if place else part)))
                if above.kind is EntryKind.LINK:
                    return FolderEntry(name, EntryKind.LINK)
                place = f"{place}/{part}" if place else part
                wrong = above.kind is EntryKind.FILE and place in self.seen.closed
                if wrong or above.kind is EntryKind.OTHER:
                    return FolderEntry(name, EntryKind.UNKNOWN)
            return _entry(name, os.lstat(self.file(name)))
        except PermissionError as error:
            self.seen.closed[place] = error_text(error)
            return FolderEntry(name, EntryKind.UNKNOWN)
        except (OSError, ValueError):
            return FolderEntry(name, EntryKind.ABSENT)

    def entries(self, name: str = "", walked: FolderWalk | None = None) -> tuple[FolderEntry, ...]:
        """List a folder by name, at most `MOST_ENTRIES`; empty when it is not a folder or is a link.

        What `walked` has listed is not listed again.
        """
        if walked is not None and (listing := walked.listings.get(name)) is not None:
            return tuple(listing.values())
        file = self.file(name)
        if walked is not None and walked.lacks(name):
            self.seen.note(file, None)
            return ()
        self.seen.note(file, stamp_of(file))
        return tuple(sorted(self._scan(name), key=lambda entry: entry.name))

    def walk(
        self, place: str, deepest: int, most: int, skip: Callable[[str], bool] = lambda _name: False
    ) -> FolderWalk:
        """List everything below a folder until there are `most` entries, without following links.

        An entry whose relative name `skip` accepts is left out with everything in it.
        """
        found: list[tuple[str, FolderEntry]] = []
        too_deep: list[str] = []
        listings: dict[str, dict[str, FolderEntry]] = {}
        waiting = [(place, 0)]
        while waiting and len(found) < most:
            folder, depth = waiting.pop()
            entries = self.entries(folder)
            if folder not in self.seen.closed and folder not in self.seen.capped:
                listings[folder] = {entry.name: entry for entry in entries}
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if skip(name):
                    continue
                found.append((name, entry))
                if entry.kind is EntryKind.FOLDER and depth < deepest:
                    waiting.append((name, depth + 1))
                elif entry.kind is EntryKind.FOLDER:
                    too_deep.append(name)
        unsearched = sorted((*too_deep, *(name for name, _ in waiting)))
        return FolderWalk(tuple(found), tuple(unsearched), listings)

    def _scan(self, name: str) -> Iterator[FolderEntry]:
        try:
            descriptor = self._open_folder(name)
        except OSError as error:
            self._note_closed(name, error)
            return
        try:
            with os.scandir(descriptor) as found:
                for each in islice(found, MOST_ENTRIES):
                    if is_review_file(each.name):
                        continue
                    try:
                        yield _entry(each.name, each.stat(follow_symlinks=False))
                    except PermissionError as error:
                        self.seen.closed[name] = error_text(error)
                        yield FolderEntry(each.name, EntryKind.UNKNOWN)
                    except OSError:
                        yield FolderEntry(each.name, EntryKind.OTHER)
                if more := sum(1 for _ in found):
                    self.seen.capped[name] = more
        except OSError as error:
            self.seen.closed[name] = error_text(error)
        finally:
            os.close(descriptor)

    def _note_closed(self, name: str, error: OSError) -> None:
        """Note what keeps a folder from being listed, unless it is absent or behind a link."""
        parts = PurePosixPath(name).parts
        for length in range(1, len(parts) + 1):
            place = "/".join(parts[:length])
            kind = self.entry(place).kind
            if kind is EntryKind.FILE:
                self.seen.closed[place] = "this is a file, not a folder"
            elif kind is EntryKind.OTHER:
                self.seen.closed[place] = f"this is {kind.description}"
            if kind is not EntryKind.FOLDER:
                return
        self.seen.closed[name] = error_text(error)

    def _open_folder(self, name: str) -> int:
        current = os.open(self.root, FOLDER)
        for part in PurePosixPath(name).parts if name else ():
            try:
                below = os.open(part, FOLDER_NO_LINK, dir_fd=current)
            finally:
                os.close(current)
            current = below
        return current


def _is_half_written(part: FolderFile) -> bool:
    """Whether another program is writing the file: it does not parse, or its last line has no end."""
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


_KINDS = {stat.S_IFLNK: EntryKind.LINK, stat.S_IFREG: EntryKind.FILE, stat.S_IFDIR: EntryKind.FOLDER}


def _peeked(peek: Peek, place: str) -> Iterator[tuple[str, FolderFile]]:
    for each in peek.seen_below:
        name = place + each.path.name
        yield from _peeked(each, f"{name}/")
        if (data := each.read_already) is not None and each.stamp is not None:
            stamp, modified = stable_stamp(each.stamp), each.stamp.modified / 1e9
            yield name, FolderFile(name, str(each.path), EntryKind.FILE, data, None, modified, stamp)


def _entry(name: str, status: os.stat_result) -> FolderEntry:
    mode = status.st_mode
    kind = _KINDS.get(stat.S_IFMT(mode), EntryKind.OTHER)
    return FolderEntry(name, kind, status.st_size, stat.S_IMODE(mode), status.st_mtime)
