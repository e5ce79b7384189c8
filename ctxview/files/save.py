"""Saving one file, all or nothing, and never over somebody else's write; it does not care what it holds.

The new file is written beside the old one, and the two names are exchanged in one step. What came out is then
compared with what was loaded: if an agent wrote in between, the exchange is undone and there is a `Conflict`.
No check before a plain rename could do that, because an agent can still write between the two.

The old file becomes the undo copy. It moves to the user's state directory, so that nothing stays behind near
the agent: by rename where that is the same file system (a program that still writes into it then writes into
the copy), else by copying, and it goes only after it was compared once more. A crash can leave one hidden
file beside the target; the next save of that target takes it into the undo copies.

Where names cannot be exchanged (macOS, some network file systems) the file is compared immediately before a
plain rename, and a write within those microseconds would go unseen.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

from ctxview.files import linux_calls, undo_copies
from ctxview.files.undo_copies import UndoCopies, close, flush, read_all, write_all
from ctxview.quick_dataclass import dataclass

_OPEN_OLD: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIN: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC
_CANNOT_EXCHANGE: Final = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)
_LATE_WRITE: Final = (
    "another program wrote into the file while it was saved; what it wrote is in the undo copy"
)

_Identity: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Saved:
    """A save that happened: where the old bytes are, and what the person should know besides."""

    path: Path
    backup: Path
    warning: str | None
    written: bytes = field(repr=False)


class Conflict(Exception):
    """The file is not what was loaded: `current` is what it holds now, `wanted` what was to be saved."""

    def __init__(self, current: bytes, wanted: bytes) -> None:
        super().__init__("the file was changed by another program since it was opened")
        self.current = current
        self.wanted = wanted


class SaveRefused(Exception):
    """A save that did not happen, with the reason; the file is as it was, or the message says where."""


def save(path: Path, new: bytes, expected: bytes) -> Saved:
    """Make `path` hold `new` if it holds `expected`; raises `Conflict` or `SaveRefused`."""
    if new == expected:
        raise SaveRefused("nothing was changed, so there is nothing to save")
    try:
        with undo_copies.lock(), _directory_of(path) as directory:
            return _Save(path, directory, new, expected).run()
    except undo_copies.Busy:
        raise SaveRefused("another ctxview has been saving for a long time") from None
    except OSError as error:
        raise SaveRefused(f"saving failed: {error.strerror or error}") from None


class _Save:
    """One save under the lock. `beside` is the hidden name in the same directory that the steps work with."""

    def __init__(self, path: Path, directory: int, new: bytes, expected: bytes) -> None:
        self._path = path
        self._directory = directory
        self._name = path.name
        self._beside = f".ctxview-{sha256(os.fsencode(path.name)).hexdigest()[:16]}.tmp"
        self._new = new
        self._expected = expected
        self._copies = UndoCopies(path)
        self._warnings: list[str] = []
        # Files are told apart by their inode, whose number another file may get as soon as the last name and
        # descriptor of this one are gone. So whatever is to be recognised later stays open until the end.
        self._pinned: list[int] = []

    def run(self) -> Saved:
        try:
            return self._run()
        finally:
            for descriptor in self._pinned:
                close(descriptor)

    def _run(self) -> Saved:
        self._take_in_leftover()
        old = self._open_ordinary_file()
        try:
            current = read_all(old)
            if current != self._expected:
                raise Conflict(current, self._new)
            ours = self._write_beside(old)
            try:
                linux_calls.exchange(self._directory, self._beside, self._name)
            except OSError as error:
                if error.errno in _CANNOT_EXCHANGE:
                    return self._rename_over(old, ours)
                self._discard(ours)
                raise
        finally:
            close(old)
        return self._after_exchange(ours)

    def _take_in_leftover(self) -> None:
        """A crash may have left the hidden file. It can be the only copy of something, so it is kept."""
        try:
            status = os.stat(self._beside, dir_fd=self._directory, follow_symlinks=False)
        except FileNotFoundError:
            return
        if not stat.S_ISREG(status.st_mode):
            raise SaveRefused(f"{self._beside} is in the way and is not a file")
        self._copies.adopt(self._directory, self._beside)

    def _open_ordinary_file(self) -> int:
        try:
            old = os.open(self._name, _OPEN_OLD, dir_fd=self._directory)
        except FileNotFoundError:
            raise SaveRefused("the file is no longer there") from None
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise SaveRefused("the file is a symbolic link: open the file it leads to") from None
            raise
        try:
            if reason := self._reason_not_to_write(os.fstat(old)):
                raise SaveRefused(reason)
        except BaseException:
            close(old)
            raise
        return old

    def _reason_not_to_write(self, status: os.stat_result) -> str | None:
        if not stat.S_ISREG(status.st_mode):
            return "this is not an ordinary file"
        if status.st_nlink > 1:
            return f"the file has {status.st_nlink} names (hard links), and saving would change only one"
        if not os.access(self._name, os.W_OK, dir_fd=self._directory):
            return "the file is write-protected"
        return None

    def _write_beside(self, old: int) -> _Identity:
        """The new file under the hidden name, on disk, with the mode, owner and attributes of `old`."""
        new = os.open(self._beside, _CREATE_NEW, 0o600, dir_fd=self._directory)
        self._pinned.append(new)
        try:
            write_all(new, self._new)
            self._copy_owner(old, new)
            os.fchmod(new, stat.S_IMODE(os.fstat(old).st_mode))
            self._copy_attributes(old, new)
            flush(new)
            return _identity(os.fstat(new))
        except BaseException:
            os.unlink(self._beside, dir_fd=self._directory)
            raise

    def _copy_owner(self, old: int, new: int) -> None:
        wanted, given = os.fstat(old), os.fstat(new)
        if _same_owner(wanted, given):
            return
        try:
            os.fchown(new, wanted.st_uid, wanted.st_gid)
        except PermissionError:
            raise SaveRefused("the file has an owner or a group that you could not give it again") from None

    def _copy_attributes(self, old: int, new: int) -> None:
        """Extended attributes, access lists among them; only Linux has this in Python."""
        if not hasattr(os, "listxattr"):
            return
        with suppress(OSError):
            for name in os.listxattr(old):
                try:
                    os.setxattr(new, name, os.getxattr(old, name))
                except OSError:
                    self._warnings.append(f"the attribute {name} could not be kept")

    def _after_exchange(self, ours: _Identity) -> Saved:
        """The new file is in place. See what came out: keep that as undo copy, or take everything back."""
        held = -1
        try:
            held = os.open(self._beside, _OPEN_OLD, dir_fd=self._directory)
            unchanged = stat.S_ISREG(os.fstat(held).st_mode) and read_all(held) == self._expected
            if unchanged:
                return self._finished(held, self._copies.adopt(self._directory, self._beside))
        except OSError:
            self._give_back(ours)
            raise
        finally:
            close(held)
        self._give_back(ours)
        raise Conflict(self._current(), self._new)

    def _give_back(self, ours: _Identity) -> None:
        """Exchange again until nobody wrote in the meantime: the name must have the last foreign write."""
        placed = ours
        try:
            while True:
                placed_next = self._pin_beside()
                linux_calls.exchange(self._directory, self._beside, self._name)
                if self._identity_beside() == placed:
                    break
                placed = placed_next
        except OSError as error:
            place = self._path.with_name(self._beside)
            reason = error.strerror or error
            raise SaveRefused(
                f"saving failed half-way ({reason}): what the file held before is in {place}"
            ) from None
        if placed == ours:
            self._discard(ours)
        else:
            self._copies.adopt(self._directory, self._beside)

    def _rename_over(self, old: int, ours: _Identity) -> Saved:
        """The portable way. It cannot be taken back, so look as late as possible."""
        try:
            backup = self._copies.add(self._expected)
            now = os.stat(self._name, dir_fd=self._directory, follow_symlinks=False)
            if _identity(now) != _identity(os.fstat(old)) or read_all(old) != self._expected:
                backup.unlink()
                raise Conflict(self._current(), self._new)
            os.rename(self._beside, self._name, src_dir_fd=self._directory, dst_dir_fd=self._directory)
        except BaseException:
            self._discard(ours)
            raise
        return self._finished(old, backup)

    def _finished(self, held: int, backup: Path) -> Saved:
        """The save has happened: from here on trouble is worth a warning, not an error."""
        try:
            flush(self._directory)
            self._copies.flush()
            late = read_all(held)
            if late != self._expected:
                self._warnings.append(_LATE_WRITE)
                if not os.path.samestat(os.fstat(held), backup.stat()):
                    backup = self._copies.add(late)
            self._copies.prune(keep=backup)
        except OSError as error:
            self._warnings.append(f"the file was saved, but then: {error.strerror or error}")
        return Saved(self._path, backup, "; ".join(self._warnings) or None, self._new)

    def _discard(self, ours: _Identity) -> None:
        """Remove the hidden file if it is the one written here: never what somebody else wrote."""
        with suppress(OSError):
            if self._identity_beside() == ours:
                os.unlink(self._beside, dir_fd=self._directory)

    def _pin_beside(self) -> _Identity:
        descriptor = os.open(self._beside, _PIN, dir_fd=self._directory)
        self._pinned.append(descriptor)
        return _identity(os.fstat(descriptor))

    def _identity_beside(self) -> _Identity:
        return _identity(os.stat(self._beside, dir_fd=self._directory, follow_symlinks=False))

    def _current(self) -> bytes:
        current = os.open(self._name, _OPEN_OLD, dir_fd=self._directory)
        try:
            return read_all(current)
        finally:
            close(current)


@contextmanager
def _directory_of(path: Path) -> Iterator[int]:
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield directory
    finally:
        close(directory)


def _same_owner(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_uid, one.st_gid) == (other.st_uid, other.st_gid)


def _identity(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino
