"""Sources behind a URL: listed once, recognised and read through temporary copies by the workers.

A folder is recognised by the files directly in it. When it is a source, all of it is copied and read; else
its files and folders are looked at one by one, as on disk.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from ctxview.files.reading import SKIPPED_FOLDERS, path_problem
from ctxview.fleet.source_rows import RowOptions, error_rows, name_in_rows, new_row, read_rows
from ctxview.fleet.stamps import digest_bytes
from ctxview.fleet.storage import StorageError, file_system, list_files, modified_time
from ctxview.fleet.tables import SourceRows
from ctxview.formats.discovery import look_at
from ctxview.formats.peek import MOST_BYTES, Peek

MOST_LOOKED_AT = 200
"""Files of a folder that are copied to recognise it."""
MOST_NAMES, NEAR = 2_000, 2
"""Names that are known when a folder is recognised, and how many folders deep they may be."""

Listing = Mapping[str, dict[str, object]]
"""The facts of files by their names below a place; the name is empty for the place itself."""


class RemoteTree:
    """All files below a URL, with stamps made from sizes and ETags, or times where there are none."""

    def __init__(self, url: str) -> None:
        """Raises `StorageError`."""
        self.url = url.rstrip("/")
        self._listing = _listing(self.url)
        self._names = sorted(self._listing)
        if not self._names:
            raise StorageError(f"{url}: there is no such file or folder")

    def stamp(self, url: str, parts: Sequence[str] | None, below: str | None) -> str:
        return _stamp(self._under(url), parts, below)

    def below(self, url: str, below: str) -> list[str]:
        """Return the URLs directly in a folder, the folders first."""
        names = [*self._under(url)]
        folders = sorted({name.partition("/")[0] for name in names if "/" in name} - SKIPPED_FOLDERS)
        files = [name for name in names if "/" not in name] if below == "everything" else []
        return [f"{url}/{name}" for name in (*folders, *files)]

    def _under(self, url: str) -> Listing:
        place = url.removeprefix(self.url).lstrip("/")
        if not place or place in self._listing:
            return self._listing if not place else {"": self._listing[place]}
        start, end = (bisect_left(self._names, place + mark) for mark in ("/", "0"))  # 0 is next to the slash
        return {name[len(place) + 1 :]: self._listing[name] for name in self._names[start:end]}


def remote_stamp(url: str, parts: Sequence[str] | None = None, below: str | None = None) -> str:
    """Return the stamp of what is at a URL now; raises `StorageError`."""
    return _stamp(_listing(url), parts, below)


def read_remote(url: str, options: RowOptions, *, named: bool) -> list[SourceRows]:
    """Return the rows of what is at `url`, like `read_rows`; raises `StorageError`."""
    listing = _listing(url)
    if (wrong := next((name for name in listing if name and path_problem(name)), None)) is not None:
        rows = [
            error_rows(
                new_row(name_in_rows(url)), Path(url), f"no file can have the name of this object: {wrong}"
            )
        ]
    else:
        with TemporaryDirectory(prefix="ctxview-fleet-") as folder:
            copy = Path(folder) / file_system(url)[1].strip("/")
            _copy(url, _recognised_by(listing), copy)
            for name in _hinted_by(listing):
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                (copy / name).touch()
            is_file = "" in listing
            if is_file or look_at(Peek(copy, inside=copy.parent)).found is not None:
                _copy(url, listing, copy)
            rows = read_rows(copy, replace(options, name=url, below=copy), named=named)
    row = rows[0].source
    stamp = _stamp(listing, row.parts, row.below)
    moving = remote_stamp(url, row.parts, row.below) != stamp
    return [replace(rows[0], source=replace(row, stamp=stamp, moving=moving)), *rows[1:]]


def _listing(url: str) -> Listing:
    system, path = file_system(url)
    system.invalidate_cache()
    found = list_files(system, path)
    return {name.removeprefix(path).lstrip("/"): facts for name, facts in found.items() if name[-1:] != "/"}


def _stamp(listing: Listing, parts: Sequence[str] | None, below: str | None) -> str:
    found: set[tuple[str, object, object]] = set()
    for name, facts in listing.items():
        if parts is not None and not any(name == part or name.startswith(f"{part}/") for part in parts):
            continue
        if parts is None and below is not None and "/" in name:
            found.add((name.partition("/")[0], None, None))
        else:
            found.add((name, facts.get("size"), facts.get("ETag") or modified_time(facts)))
    return digest_bytes(repr(sorted(found, key=repr)).encode("utf-8", "surrogatepass"))


def _recognised_by(listing: Listing) -> Listing:
    """Choose what is copied to recognise a place: the file itself, or the files directly in a folder."""
    direct = [name for name in listing if "/" not in name][:MOST_LOOKED_AT]
    sizes = {name: listing[name].get("size") for name in direct}
    return {
        name: listing[name] for name, size in sizes.items() if isinstance(size, int) and size <= MOST_BYTES
    }


def _hinted_by(listing: Listing) -> list[str]:
    """Choose the names that are there, without their bytes, when a folder is recognised."""
    return [name for name in listing if name.count("/") < NEAR][:MOST_NAMES]


def _copy(url: str, listing: Listing, copy: Path) -> None:
    """Copy files with their times; raises `StorageError`."""
    system, path = file_system(url)
    for name, facts in listing.items():
        file = copy / name
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            system.get_file(f"{path}/{name}" if name else path, str(file))
        except Exception as error:
            raise StorageError(f"{url}/{name}: cannot be copied: {error}") from error
        if modified := modified_time(facts):
            os.utime(file, (modified, modified))
