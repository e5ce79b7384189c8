"""One open file that others may change at any time, read piece by piece; it knows no lines.

The file is never mapped into memory: touching a mapped page of a file that was cut short ends the process.
A read here comes back short instead, and is as fast.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Final

from ctxview.files.reading import Unreadable, in_words, open_beneath, require_regular
from ctxview.files.undo_copies import write_all

SLICE: Final = 256 * 1024  # fits the processor's own cache: larger slices are slower

_COPIED_AT_ONCE: Final = 1024**3
_CANNOT_COPY: Final = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM)
_SAMPLES: Final = 16
_SAMPLE: Final = 4096


class HeldFile:
    """A regular file, opened for reading; closed when nobody refers to it any more."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        status = self.status()
        require_regular(status, path)
        self.identity = (status.st_dev, status.st_ino)

    def __del__(self) -> None:
        os.close(self._descriptor)

    def status(self) -> os.stat_result:
        try:
            return os.fstat(self._descriptor)
        except OSError as error:
            raise Unreadable(self.path, in_words(error)) from None

    def read(self, start: int, end: int) -> bytes:
        """The bytes from `start` to `end`, or fewer when the file ends before."""
        try:
            content = os.pread(self._descriptor, end - start, start) if end > start else b""
            # Some file systems hand out less than there is, and none more than 2 GiB at once.
            while content and len(content) < end - start:
                more = os.pread(self._descriptor, end - start - len(content), start + len(content))
                if not more:
                    break
                content += more
        except OSError as error:
            raise Unreadable(self.path, in_words(error)) from None
        return content

    def read_into(self, buffer: memoryview, start: int) -> int:
        """Fill `buffer` from `start`; returns how many bytes there were."""
        filled = 0
        try:
            while filled < len(buffer):
                read = os.preadv(self._descriptor, [buffer[filled:]], start + filled)
                if not read:
                    break
                filled += read
        except OSError as error:
            raise Unreadable(self.path, in_words(error)) from None
        return filled

    def copy_to(self, descriptor: int, length: int) -> bool:
        """Write the first `length` bytes where a descriptor stands; False when there are fewer.

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
        if hasattr(os, "copy_file_range"):
            try:
                return os.copy_file_range(self._descriptor, descriptor, length, start)
            except OSError as error:
                if error.errno not in _CANNOT_COPY:
                    raise
        content = self.read(start, min(start + SLICE, start + length))
        write_all(descriptor, content)
        return len(content)

    def next_newline(self, start: int, end: int) -> int | None:
        """Where the first newline at or after `start` is."""
        for offset, data in self._slices(start, end):
            if (found := data.find(b"\n")) >= 0:
                return offset + found
        return None

    def previous_newline(self, end: int) -> int | None:
        """Where the last newline before `end` is."""
        width = _SAMPLE
        while end > 0:
            start = max(end - width, 0)
            if (found := self.read(start, end).rfind(b"\n")) >= 0:
                return start + found
            end, width = start, min(width * 4, SLICE)
        return None

    def digests(self, lengths: Sequence[int], cancelled: Callable[[], bool]) -> tuple[str, ...] | None:
        """The SHA-256 of the first bytes, for each of some lengths in rising order, in one go.

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
        """Samples from all over the first `size` bytes, hashed: it mostly differs when any of them do."""
        starts = {size * number // _SAMPLES for number in range(_SAMPLES)} | {max(size - _SAMPLE, 0)}
        hashed = blake2b(digest_size=16)
        for start in sorted(starts):
            hashed.update(self.read(start, min(start + _SAMPLE, size)))
        return hashed.digest()

    def _slices(self, start: int, end: int) -> Iterator[tuple[int, bytes]]:
        while start < end and (data := self.read(start, min(start + SLICE, end))):
            yield start, data
            start += len(data)


def hold_beneath(root: Path, relative: str) -> HeldFile:
    """Open what `relative` names below `root`, links and everything but regular files refused."""
    return HeldFile(root / relative, open_beneath(root, relative))
