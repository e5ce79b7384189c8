"""One open file that other programs may change at any time, read piece by piece, and digests of its bytes.

The file is never mapped into memory: reading a mapped page of a truncated file ends the process. A read here
returns fewer bytes instead, and is as fast. Only `MOST_OPEN` files have a descriptor at a time: others are
opened again when they are read, if their names still lead to the same files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import blake2b, sha256
from pathlib import Path
from threading import Lock
from typing import Final

from ctxview.files.reading import ReadError, error_text, open_beneath, require_regular
from ctxview.files.recently_used import RecentlyUsed
from ctxview.files.system_calls import copy_range, read_at, read_into, write_all

SLICE: Final = 256 * 1024  # fits the processor's own cache: larger slices are slower
MOST_OPEN: Final = 32
"""The descriptors of files that can be opened again; the shell often allows 1,024 for everything."""

_COPIED_AT_ONCE: Final = 1024**3
_SAMPLES: Final = 16
_SAMPLE: Final = 4096
_CACHED_DIGESTS: Final = 8


class OpenFile:
    """A regular file, open for reading until the object is deleted.

    With `reopen` its descriptor may be closed between two reads, and `reopen` makes another one.
    """

    def __init__(self, path: Path, descriptor: int, reopen: Callable[[], int] | None = None) -> None:
        self.path = path
        self._descriptor: int | None = descriptor
        self._reopen = reopen
        self._users = 0
        self._lock = Lock()
        status = self.status()
        require_regular(status, path)
        self.identity = (status.st_dev, status.st_ino)
        if reopen is not None:
            _OPEN.use(self)

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        # `close` is bound here, because at the end of a process the module may be gone before the file.
        if self._descriptor is not None:
            close(self._descriptor)

    def release(self) -> bool:
        """Close the descriptor until the next read; False during a read."""
        with self._lock:
            if self._users:
                return False
            descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
        return True

    def status(self) -> os.stat_result:
        descriptor = self._borrow()
        try:
            return os.fstat(descriptor)
        except OSError as error:
            raise ReadError(self.path, error_text(error)) from None
        finally:
            self._give_back()

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`, or fewer when the file ends before."""
        descriptor = self._borrow()
        try:
            content = read_at(descriptor, start, end - start) if end > start else b""
            # Some file systems return fewer bytes than they have, and none more than 2 GiB at once.
            while content and len(content) < end - start:
                more = read_at(descriptor, start + len(content), end - start - len(content))
                if not more:
                    break
                content += more
        except OSError as error:
            raise ReadError(self.path, error_text(error)) from None
        finally:
            self._give_back()
        return content

    def read_into(self, buffer: memoryview, start: int) -> int:
        """Fill `buffer` with the bytes from `start`; return their number."""
        filled = 0
        descriptor = self._borrow()
        try:
            while filled < len(buffer):
                read = read_into(descriptor, buffer[filled:], start + filled)
                if not read:
                    break
                filled += read
        except OSError as error:
            raise ReadError(self.path, error_text(error)) from None
        finally:
            self._give_back()
        return filled

    def copy_to(self, descriptor: int, length: int) -> bool:
        """Write the first `length` bytes at the position of a descriptor; False when there are fewer.

        The system copies them, or lets both files share them, where it can; raises `OSError` for a full disk.
        """
        done = 0
        while done < length:
            copied = self._copied(descriptor, done, min(length - done, _COPIED_AT_ONCE))
            if not copied:
                return False
            done += copied
        return True

    def _copied(self, descriptor: int, start: int, length: int) -> int:
        own = self._borrow()
        try:
            copied = copy_range(own, descriptor, start, length)
        finally:
            self._give_back()
        if copied is not None:
            return copied
        content = self.read(start, min(start + SLICE, start + length))
        write_all(descriptor, content)
        return len(content)

    def next_newline(self, start: int, end: int) -> int | None:
        """Return the offset of the first newline from `start` to `end`, or None."""
        for offset, data in self._slices(start, end):
            if (found := data.find(b"\n")) >= 0:
                return offset + found
        return None

    def previous_newline(self, end: int) -> int | None:
        """Return the offset of the last newline before `end`, or None."""
        width = _SAMPLE
        while end > 0:
            start = max(end - width, 0)
            if (found := self.read(start, end).rfind(b"\n")) >= 0:
                return start + found
            end, width = start, min(width * 4, SLICE)
        return None

    def digests(self, lengths: Sequence[int], cancelled: Callable[[], bool]) -> tuple[str, ...] | None:
        """Return the SHA-256 of the first bytes for each of the rising `lengths`, in one pass.

        None when cancelled, or when the file is shorter.
        """
        running, reached, found = sha256(), 0, []
        for length in lengths:
            for offset, data in self._slices(reached, length):
                if cancelled():
                    return None
                running.update(data)
                reached = offset + len(data)
            if reached < length:
                return None
            found.append(running.hexdigest())
        return tuple(found)

    def fingerprint(self, size: int) -> bytes:
        """Return a hash of samples of the first `size` bytes; most changes of these bytes change it."""
        starts = {size * number // _SAMPLES for number in range(_SAMPLES)} | {max(size - _SAMPLE, 0)}
        hashed = blake2b(digest_size=16)
        for start in sorted(starts):
            hashed.update(self.read(start, min(start + _SAMPLE, size)))
        return hashed.digest()

    def _borrow(self) -> int:
        """Return the descriptor, which stays open until `_give_back`; raises `ReadError`."""
        with self._lock:
            if self._descriptor is not None:
                self._users += 1
                return self._descriptor
            if self._reopen is None:
                raise ReadError(self.path, "it was closed")
            descriptor = self._reopen()
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) != self.identity:
                os.close(descriptor)
                raise ReadError(self.path, "another file has this name now")
            self._descriptor = descriptor
            self._users += 1
        _OPEN.use(self)
        return descriptor

    def _give_back(self) -> None:
        with self._lock:
            self._users -= 1

    def _slices(self, start: int, end: int) -> Iterator[tuple[int, bytes]]:
        while start < end and (data := self.read(start, min(start + SLICE, end))):
            yield start, data
            start += len(data)


_OPEN: Final = RecentlyUsed[OpenFile](MOST_OPEN)


def open_file_beneath(root: Path, relative: str) -> OpenFile:
    """Open the regular file `relative` below `root` without following links; raises `ReadError`."""
    # Absolute, because the program may change its folder between two reads.
    beneath = partial(open_beneath, root.absolute(), relative)
    return OpenFile(root / relative, beneath(), beneath)


class PrefixDigest:
    """Digests of the first bytes of a file, by their number; for any thread."""

    def __init__(self) -> None:
        self._running = sha256()
        self._reached = 0
        self._known: dict[int, str] = {}
        self._lock = Lock()

    def copy(self) -> PrefixDigest:
        """Return an independent copy, for a file that begins with the same bytes."""
        made = PrefixDigest()
        with self._lock:
            made._running, made._reached = self._running.copy(), self._reached
            made._known = dict(self._known)
        return made

    def digests(
        self, read: Callable[[int, int], bytes], lengths: Sequence[int], cancelled: Callable[[], bool]
    ) -> tuple[str, ...] | None:
        """Return the digest for each of the rising `lengths`; None if cancelled or if the file is shorter."""
        found = []
        with self._lock:
            for length in lengths:
                digest = self._known.get(length) or self._digest(read, length, cancelled)
                if digest is None:
                    return None
                found.append(digest)
        return tuple(found)

    def _digest(
        self, read: Callable[[int, int], bytes], length: int, cancelled: Callable[[], bool]
    ) -> str | None:
        if length < self._reached:
            self._running, self._reached = sha256(), 0
        while self._reached < length:
            data = read(self._reached, min(self._reached + SLICE, length))
            if cancelled() or not data:
                return None
            self._running.update(data)
            self._reached += len(data)
        if len(self._known) >= _CACHED_DIGESTS:
            self._known.pop(next(iter(self._known)))
        self._known[length] = self._running.hexdigest()
        return self._known[length]
