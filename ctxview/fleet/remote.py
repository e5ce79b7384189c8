"""Sources behind a URL: what to look at, whether it changed, and reading it through a temporary copy.

A folder with files directly in it is copied and read like a folder on disk. A very large one is not: then
each of its files is looked at by itself, and its folders are searched.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from ctxview.files.reading import path_problem
from ctxview.fleet.source_rows import RowOptions, error_rows, new_row, read_rows
from ctxview.fleet.stamps import digest_bytes
from ctxview.fleet.storage import StorageError, file_system, list_files, modified_time
from ctxview.fleet.tables import SourceRows
from ctxview.formats.discovery import names_below

MOST_FILES = 2_000
MOST_BYTES = 1 << 30

Listing = Mapping[str, dict[str, object]]
"""The facts of files by their names below a place; the name is empty for the place itself."""


def remote_items(url: str) -> Iterator[tuple[str, str]]:
    """Yield the URLs to look at, each with its stamp; raises `StorageError`."""
    url = url.rstrip("/")
    listing = _listing(url)
    if not listing:
        raise StorageError(f"{url}: there is no such file or folder")
    yield from _items(url, listing)


def remote_stamp(url: str) -> str:
    """Return the stamp of what is at a URL now; raises `StorageError`."""
    return _stamp(_listing(url))


def read_remote(url: str, options: RowOptions) -> list[SourceRows]:
    """Return the rows of what is at `url`, its own first; raises `StorageError`."""
    listing = _listing(url)
    stamp = _stamp(listing)
    if (wrong := next((name for name in listing if name and path_problem(name)), None)) is not None:
        rows = [error_rows(new_row(url), Path(url), f"no file can have the name of this object: {wrong}")]
    else:
        with TemporaryDirectory(prefix="ctxview-fleet-") as folder:
            copy = _copied(url, listing, Path(folder))
            rows = [*_read_all(copy, replace(options, name=url, below=copy))]
    moving = remote_stamp(url) != stamp
    own = [stamp, *[""] * len(rows)]
    return [
        replace(
            each,
            source=replace(each.source, stamp=text, moving=moving, parts=None, below=None),
        )
        for each, text in zip(rows, own, strict=False)
    ]


def _listing(url: str) -> Listing:
    system, path = file_system(url)
    system.invalidate_cache()
    found = list_files(system, path)
    return {name.removeprefix(path).lstrip("/"): facts for name, facts in found.items() if name[-1:] != "/"}


def _items(url: str, listing: Listing) -> Iterator[tuple[str, str]]:
    size = sum(_size(facts) for facts in listing.values())
    direct = [name for name in listing if "/" not in name]
    if direct and len(listing) <= MOST_FILES and size <= MOST_BYTES:
        yield url, _stamp(listing)
        return
    for name in direct:
        yield f"{url}/{name}" if name else url, _stamp({"": listing[name]})
    for folder in sorted({name.partition("/")[0] for name in listing if "/" in name}):
        below = {
            name.partition("/")[2]: facts for name, facts in listing.items() if name.startswith(f"{folder}/")
        }
        yield from _items(f"{url}/{folder}", below)


def _stamp(listing: Listing) -> str:
    facts = ((name, _size(each), each.get("ETag") or modified_time(each)) for name, each in listing.items())
    return digest_bytes(repr(sorted(facts)).encode("utf-8", "surrogatepass"))


def _size(facts: dict[str, object]) -> int:
    found = facts.get("size")
    return found if isinstance(found, int) else 0


def _copied(url: str, listing: Listing, folder: Path) -> Path:
    """Copy files with their times below `folder`, under the path that the URL has; raises `StorageError`."""
    system, path = file_system(url)
    copy = folder / path.strip("/")
    for name, facts in listing.items():
        file = copy / name
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            system.get_file(f"{path}/{name}" if name else path, str(file))
        except Exception as error:
            raise StorageError(f"{url}/{name}: cannot be copied: {error}") from error
        if modified := modified_time(facts):
            os.utime(file, (modified, modified))
    return copy


def _read_all(copy: Path, options: RowOptions) -> Iterator[SourceRows]:
    waiting = [copy]
    while waiting:
        path = waiting.pop()
        rows = read_rows(path, options, named=path == copy)
        yield rows
        if (below := rows.source.below) is not None:
            waiting += [path / name for name in names_below(path, below)]
