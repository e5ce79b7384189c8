"""Append-only files of JSON lines that several processes share, and the lock around every write.

A line is appended with one `write`. The only other change to a file is cutting off an interrupted last line,
or a line that did not fit on the disk. The clock of a folder gives every line a later time than all before.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, RLock
from typing import Final
from uuid import UUID

import orjson

from ctxview.analysis.rfc3339 import parse_time
from ctxview.core.origin import JsonValue
from ctxview.files.reading import error_text
from ctxview.files.system_calls import FOLDER, READ_NO_LINK, UPDATE, flush, lock, read_at
from ctxview.formats.memory.records import text_of

LOCK: Final = "memory.lock"
LONGEST_WAIT: Final = 5.0
"""Seconds to wait for another process that holds the lock."""
LONGEST_PAUSE: Final = 0.005
PIECE: Final = 1024 * 1024
LAST_YEAR: Final = 9000
FIRST_TAIL: Final = 4096
LONGEST_LAST_LINE: Final = 16 * 1024 * 1024
_CREATED: Final = UPDATE | os.O_CREAT
_APPENDED: Final = _CREATED | os.O_APPEND
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class StorageFailed(Exception):
    """A write or read that the disk or the folder did not allow; the message is for the agent."""


class LogFile:
    """One file of lines. `reached` is the end of the lines that were read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reached = 0
        self._replaced = 0
        self._descriptor: int | None = None
        self._writable = False
        self._latest = (0, 0)
        # Threads read and write one file, and opening it again closes the descriptor that another one uses.
        self._using = RLock()

    def current(self) -> int:
        """Open the file that has the name now, and return how often another one took its place."""
        self._open(write=False)
        return self._replaced

    def new_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield offset and content of each whole line behind `reached`, which then moves on."""
        if not self._open(write=False):
            return
        rest = b""
        start = self.reached
        while data := self._read(start + len(rest), PIECE):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield start, line
                start += len(line) + 1
                self.reached = start

    def latest(self) -> int:
        """Return the time of the last whole line in microseconds; 0 when it has none."""
        with self._using:
            if not self._open(write=False):
                return 0
            size = self.size
            if self._latest[0] != size:
                self._latest = size, _microseconds(self._last_line(size))
            return self._latest[1]

    def _last_line(self, size: int) -> bytes:
        length = FIRST_TAIL
        while True:
            tail = self._read(max(0, size - length), min(length, size))
            whole = tail[: tail.rfind(b"\n")]
            if b"\n" in whole or length >= min(size, LONGEST_LAST_LINE):
                return whole.rpartition(b"\n")[2]
            length *= 8

    def read(self, offset: int, length: int) -> bytes:
        return self._read(offset, length) if self._open(write=False) else b""

    @property
    def size(self) -> int:
        return os.fstat(self._descriptor).st_size if self._descriptor is not None else 0

    def append(self, lines: bytes) -> int:
        """Append whole lines with one write; return their offset. Raises `StorageFailed`. Needs the lock."""
        with self._using:
            while True:
                self._open(write=True)
                self.cut_interrupted()
                offset = self.size
                self._write(lines, offset)
                # A save by another program may have put a new file in the place of the one just written.
                if self._is_current():
                    return offset

    def cut_interrupted(self) -> None:
        """Cut off a last line without its end, which a killed process left. Needs the lock."""
        if not self._open(write=True):
            return
        size = self.size
        if not size or self._read(size - 1, 1) == b"\n":
            return
        keep = size
        while keep:
            start = max(0, keep - PIECE)
            newline = self._read(start, keep - start).rfind(b"\n")
            if newline >= 0:
                keep = start + newline + 1
                break
            keep = start
        self._truncate(keep)

    def sync(self) -> None:
        """Wait until the lines are on the disk; raises `StorageFailed`."""
        with self._using:
            if not self._open(write=False) or self._descriptor is None:
                return
            descriptor = os.dup(self._descriptor)
        try:
            flush(descriptor)
        except OSError as error:
            raise self._failure("be made durable", error) from None
        finally:
            os.close(descriptor)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor, self._writable = None, False

    def _open(self, *, write: bool) -> bool:
        """Open the file that has the name now; return False when there is none to read."""
        with self._using:
            return self._opened(write=write)

    def _opened(self, *, write: bool) -> bool:
        if self._descriptor is not None and not self._is_current():
            self.close()
            self.reached = 0
            self._replaced += 1
        if self._descriptor is not None and (self._writable or not write):
            return True
        try:
            descriptor = os.open(self.path, _APPENDED if write else READ_NO_LINK, 0o600)
        except FileNotFoundError as error:
            if write:
                raise self._failure("be written", error) from None
            return False
        except OSError as error:
            raise self._failure("be written" if write else "be read", error) from None
        self.close()
        self._descriptor, self._writable = descriptor, write
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            self.close()
            raise StorageFailed(f"nothing was stored: {self.path.name} is not a regular file")
        return True

    def _is_current(self) -> bool:
        if self._descriptor is None:
            return False
        try:
            named = self.path.lstat()
        except OSError:
            return False
        ours = os.fstat(self._descriptor)
        return (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino)

    def _write(self, lines: bytes, offset: int) -> None:
        if self._descriptor is None:
            raise StorageFailed(f"{self.path.name} is not open")
        try:
            written = os.write(self._descriptor, lines)
        except OSError as error:
            raise self._failure("be written", error) from None
        if written != len(lines):
            self._truncate(offset)
            raise self._failure("be written", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    def _truncate(self, size: int) -> None:
        try:
            if self._descriptor is not None:
                os.ftruncate(self._descriptor, size)
        except OSError as error:
            raise self._failure("be repaired", error) from None

    def _read(self, offset: int, length: int) -> bytes:
        with self._using:
            try:
                return read_at(self._descriptor, offset, length) if self._descriptor is not None else b""
            except OSError as error:
                raise self._failure("be read", error) from None

    def _failure(self, what: str, error: OSError) -> StorageFailed:
        why = error_text(error) if what == "be read" else _reason(error)
        stored = "" if what == "be read" else "nothing was stored: "
        return StorageFailed(f"{stored}{self.path.name} cannot {what}: {why}")


class LogFolder:
    """The files of one bundle, with their lock and clock."""

    def __init__(self, folder: Path, names: tuple[str, ...], wait: float = LONGEST_WAIT) -> None:
        self.folder = folder
        self.files: Mapping[str, LogFile] = {name: LogFile(folder / name) for name in names}
        self.wait = wait
        self._own = RLock()
        self._last = 0
        self._new_names = True
        self._counting, self._syncing = Lock(), Lock()
        self._asked = self._synced = 0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the folder; raises `StorageFailed` when another process keeps it."""
        with self._own:
            path = self.folder / LOCK
            try:
                descriptor = os.open(path, _CREATED, 0o600)
            except OSError as error:
                why = f"nothing was stored: {self.folder} cannot be written: {_reason(error)}"
                raise StorageFailed(why) from None
            try:
                self._take(descriptor)
                yield
            finally:
                os.close(descriptor)

    def _take(self, descriptor: int) -> None:
        until, pause = time.monotonic() + self.wait, 0.0002
        while True:
            try:
                lock(descriptor)
            except BlockingIOError:
                if time.monotonic() > until:
                    why = f"another process has held {LOCK} for {self.wait:g} seconds; try again"
                    raise StorageFailed(f"nothing was stored: {why}") from None
                time.sleep(pause)
                pause = min(pause * 1.5, LONGEST_PAUSE)
            else:
                return

    def repair(self) -> None:
        """Cut off interrupted last lines of the files that exist."""
        with self.locked():
            for file in self.files.values():
                if file.path.exists():
                    file.cut_interrupted()

    def next_time(self) -> tuple[str, str]:
        """Return a time and an id that are later than all in the files. Needs the lock."""
        latest = max(file.latest() for file in self.files.values())
        self._last = max(time.time_ns() // 1000, latest + 1, self._last + 1)
        return _time_text(self._last), _id_at(self._last)

    def append(self, name: str, *records: Mapping[str, JsonValue]) -> int:
        """Append records to a file with one write. Needs the lock."""
        file = self.files[name]
        self._new_names = self._new_names or not file.path.exists()
        return file.append(b"".join(orjson.dumps(record) + b"\n" for record in records))

    def sync(self) -> None:
        """Wait until all files, and their names, are on the disk; raises `StorageFailed`.

        Threads that wait at the same time share the next flush, which begins after all of them asked.
        """
        with self._counting:
            self._asked += 1
            ours = self._asked
        with self._syncing:
            if self._synced >= ours:
                return
            with self._counting:
                covered = self._asked
            self._flush_all()
            self._synced = covered

    def _flush_all(self) -> None:
        names, self._new_names = self._new_names, False
        try:
            for file in self.files.values():
                file.sync()
            if names:
                self._flush_names()
        except StorageFailed:
            self._new_names = self._new_names or names
            raise

    def _flush_names(self) -> None:
        try:
            descriptor = os.open(self.folder, FOLDER)
            try:
                flush(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StorageFailed(f"{self.folder} cannot be made durable: {error_text(error)}") from None

    def close(self) -> None:
        for file in self.files.values():
            file.close()


def _reason(error: OSError) -> str:
    """Return why a file cannot be written."""
    if error.errno in _FULL:
        return "the disk is full"
    denied = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
    return (error.strerror or "permission denied").lower() if denied else error_text(error)


def _microseconds(line: bytes) -> int:
    """Return the time of a record; 0 when it has none."""
    try:
        value = orjson.loads(line) if line else None
    except orjson.JSONDecodeError:
        return 0
    if not isinstance(value, dict):
        return 0
    # A time that no clock can follow is a mistake of another program.
    times = (text_of(value, name) for name in ("creationTime", "updateTime", "timestamp"))
    found = parse_time(next(filter(None, times), None))
    return int(found.timestamp() * 1_000_000) + 1 if found is not None and found.year < LAST_YEAR else 0


def _time_text(microseconds: int) -> str:
    seconds, rest = divmod(microseconds, 1_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:06d}Z"


def _id_at(microseconds: int) -> str:
    """Return a UUID of version 7 that sorts by its time, to the microsecond."""
    milliseconds, rest = divmod(microseconds, 1000)
    number = milliseconds << 80 | 7 << 76 | rest << 64 | 2 << 62 | secrets.randbits(62)
    return str(UUID(int=number))
