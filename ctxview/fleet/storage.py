"""Where the tables of a fleet are: a folder on disk, or a URL that fsspec knows. Files are only created.

A file appears whole under its name, and the first one with a name stays: writing it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from ctxview.files.create import CreateRefused, create, remove_leftovers
from ctxview.fleet.tables import TABLES

if TYPE_CHECKING:
    import duckdb
    from fsspec import AbstractFileSystem

SUFFIX = ".parquet"


class StorageError(Exception):
    """A place that cannot be read or written; the message is for the user."""


class StoredFile(Struct, frozen=True):
    """A file of a table by its name below the root, and the time of its writing in seconds."""

    name: str
    written: float

    @property
    def table(self) -> str:
        return self.name.partition("/")[0]

    @property
    def batch(self) -> str:
        return self.name.rpartition("/")[2].removesuffix(SUFFIX)


class Storage(Protocol):
    """The files of the tables, by names such as `sources/day=2026-11-18/KEY.parquet`."""

    @property
    def root(self) -> str:
        """The place as DuckDB spells it, without a final slash."""

    def write(self, name: str, data: bytes) -> None:
        """Create a file, unless it exists. Raises `StorageError`."""

    def files(self) -> Iterator[StoredFile]:
        """Yield all files of all tables. Raises `StorageError`.

        The commits come first, so that all rows that they make count are there too.
        """

    def remove(self, name: str) -> None:
        """Remove a file, unless it is gone already. Raises `StorageError`."""

    def tidy(self) -> None:
        """Remove what killed processes left behind."""

    def connect(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let DuckDB read what is here."""


def is_url(place: str) -> bool:
    return "://" in place


def storage_at(place: str) -> Storage:
    """Return the storage at a path or URL; raises `StorageError`."""
    return RemoteStorage(place) if is_url(place) else FolderStorage(Path(place))


class FolderStorage:
    def __init__(self, root: Path) -> None:
        self._root = root.absolute()

    @property
    def root(self) -> str:
        return str(self._root)

    def write(self, name: str, data: bytes) -> None:
        file = self._root / name
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            if not file.exists():
                create(self._root, name, data)
        except OSError as error:
            raise StorageError(f"{file}: cannot be written: {error.strerror or error}") from None
        except CreateRefused as error:
            if not file.exists():
                raise StorageError(f"{file}: {error}") from None

    def files(self) -> Iterator[StoredFile]:
        for table in reversed([*TABLES]):
            for file in sorted((self._root / table).glob(f"*/*{SUFFIX}")):
                yield StoredFile(file.relative_to(self._root).as_posix(), file.stat().st_mtime)

    def remove(self, name: str) -> None:
        try:
            (self._root / name).unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"{name}: cannot be removed: {error.strerror or error}") from None

    def tidy(self) -> None:
        for table in TABLES:
            for day in (self._root / table).glob("day=*"):
                remove_leftovers(self._root, day.relative_to(self._root).as_posix())

    def connect(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Do nothing: DuckDB reads files on disk by itself."""


class RemoteStorage:
    def __init__(self, url: str) -> None:
        self._system, self._path = file_system(url)
        self._protocol = url.partition("://")[0]
        self._path = self._path.rstrip("/")

    @property
    def root(self) -> str:
        return f"{self._protocol}://{self._path}"

    def write(self, name: str, data: bytes) -> None:
        try:
            self._system.pipe_file(f"{self._path}/{name}", data, mode="create")
        except FileExistsError:
            pass
        except Exception as error:
            raise StorageError(f"{self.root}/{name}: cannot be written: {error}") from error

    def files(self) -> Iterator[StoredFile]:
        self._system.invalidate_cache()
        for table in reversed([*TABLES]):
            for path, facts in list_files(self._system, f"{self._path}/{table}").items():
                if path.endswith(SUFFIX):
                    yield StoredFile(path.removeprefix(f"{self._path}/"), modified_time(facts))

    def remove(self, name: str) -> None:
        try:
            self._system.rm_file(f"{self._path}/{name}")
        except FileNotFoundError:
            pass
        except Exception as error:
            raise StorageError(f"{self.root}/{name}: cannot be removed: {error}") from error

    def tidy(self) -> None:
        """Do nothing: an object appears whole or not at all."""

    def connect(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._system.invalidate_cache()
        connection.register_filesystem(self._system)


def file_system(url: str) -> tuple[AbstractFileSystem, str]:
    """Return the file system of a URL, and the path in it; raises `StorageError`."""
    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(url)
    except ImportError:
        raise StorageError(f"{url}: this needs an extra: pip install 'ctxview[fleet-s3]'") from None
    except ValueError as error:
        raise StorageError(f"{url}: {error}") from None
    return system, str(path)


def list_files(system: AbstractFileSystem, path: str) -> dict[str, dict[str, object]]:
    """Return all files at or below a path with their facts; raises `StorageError`."""
    try:
        found: dict[str, dict[str, object]] = system.find(path, detail=True)
    except FileNotFoundError:
        return {}
    except Exception as error:
        raise StorageError(f"{path}: cannot be listed: {error}") from error
    return found


def modified_time(facts: dict[str, object]) -> float:
    """Return the time of a listed file in seconds, 0 when it is unknown."""
    for name in ("LastModified", "mtime", "created"):
        found = facts.get(name)
        if isinstance(found, int | float):
            return float(found)
        if (seconds := getattr(found, "timestamp", None)) is not None:
            return float(seconds())
    return 0.0
