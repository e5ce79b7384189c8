"""Save one file, all or nothing, and never over a write of another program; any content.

The new file is written beside the old one, and the two names are exchanged in one step. The replaced file is
then compared with the loaded bytes: if an agent wrote in between, the exchange is undone and `SaveConflict`
is raised. A check before a plain rename is not enough, because an agent can write between the two.

A program that has the replaced file open still writes into it. So the save waits until that file is quiet:
bytes that were appended to it are appended to the new file, and any other late write is reported.

The old file becomes the undo copy. It moves to the user's state directory, so that no extra file stays near
the agent: by rename on the same file system (a program that still writes into it then writes into the copy),
else by copying. Then it is deleted, unless a program still has it open. A crash can leave one hidden file
beside the target; the next save of that target moves it into the undo copies.

Where names cannot be exchanged (HFS+, some network file systems) the file is compared immediately before a
plain rename, and a rename by another program within those microseconds would not be noticed. To move the old
file away first and to link the new one would notice it, but for a moment, or after a crash, the file would be
missing, and an agent that finds no file starts anew.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from ctxview.files import system_calls, undo_copies
from ctxview.files.system_calls import (
    APPEND,
    CREATE,
    FOLDER,
    PIN,
    READ_NO_LINK,
    close,
    flush,
    read_all,
    write_all,
)
from ctxview.files.undo_copies import UndoCopies
from ctxview.files.write_lock import write_refusal

_CANNOT_EXCHANGE: Final = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP)
_LATE_WRITE: Final = (
    "another program wrote into the file while it was saved; what it wrote is in the undo copy"
)
_LATE_BYTES: Final = "another program appended {:,} bytes while the file was saved; they were added to it"
_STILL_OPEN: Final = "a program still has the previous file open, and what it writes from now on is "
_MAY_BE_OPEN: Final = "a program may still have the previous file open; what it writes from now on is "

_STEP: Final = 0.05
_QUIET: Final = 0.2
_LONGEST: Final = 2.0
"""Seconds: between two looks at the replaced file, without a write until it is quiet, and at most."""
_RECENT: Final = 10.0
"""Seconds in which a change of the file means that a program is at work, where the system cannot tell."""

_Identity: TypeAlias = tuple[int, int]


class SavedFile(Struct, frozen=True):
    """A finished save: the path of the undo copy, and a warning or None."""

    path: Path
    backup: Path
    warning: str | None
    written: bytes


class SaveConflict(Exception):
    """The file changed since it was loaded: `current` are its bytes now, `wanted` those to save."""

    def __init__(self, current: bytes, wanted: bytes, warning: str | None = None) -> None:
        super().__init__("the file was changed by another program since it was opened")
        self.current = current
        self.wanted = wanted
        self.warning = warning


class SaveRefused(Exception):
    """A save that failed, with the reason; the file is unchanged, or the message says where its bytes are."""


def save(path: Path, new: bytes, expected: bytes, wait: Callable[[float], object] = time.sleep) -> SavedFile:
    """Write `new` to `path` if it holds `expected`; raises `SaveConflict` or `SaveRefused`.

    `wait` is called with seconds while another program has the replaced file open.
    """
    if (reason := write_refusal()) is not None:
        raise SaveRefused(reason)
    if new == expected:
        raise SaveRefused("nothing was changed, so there is nothing to save")
    try:
        with undo_copies.lock(), _directory_of(path) as directory:
            return _Save(path, directory, new, expected, wait).run()
    except undo_copies.LockError:
        raise SaveRefused("another ctxview is saving and has not finished; try again") from None
    except OSError as error:
        raise SaveRefused(f"saving failed: {error.strerror or error}") from None


def adopt_leftover(path: Path) -> None:
    """Move what a killed save of `path` left beside it into the undo copies, if there is anything."""
    try:
        with undo_copies.lock(), _directory_of(path) as directory:
            _Save(path, directory, b"", b"", time.sleep).adopt_leftover()
    except (undo_copies.LockError, OSError, SaveRefused):
        # The next save of the file tries again, and says why it cannot.
        return


class _Save:
    """One save under the lock. `beside` is the hidden name in the same directory that the steps work with."""

    def __init__(
        self, path: Path, directory: int, new: bytes, expected: bytes, wait: Callable[[float], object]
    ) -> None:
        self._path = path
        self._directory = directory
        self._name = path.name
        self._beside = f".ctxview-{sha256(os.fsencode(path.name)).hexdigest()[:16]}.tmp"
        self._new = new
        self._expected = expected
        self._wait = wait
        self._copies = UndoCopies(path)
        self._warnings: list[str] = []
        self._is_busy = False
        self._is_in_use = False
        # Files are recognised by their inode, whose number another file may get as soon as the last name and
        # descriptor of this one are gone. So each file to recognise later stays open until the end.
        self._pinned: list[int] = []

    def run(self) -> SavedFile:
        try:
            return self._run()
        finally:
            for descriptor in self._pinned:
                close(descriptor)

    def _run(self) -> SavedFile:
        self.adopt_leftover()
        old = self._open_ordinary_file()
        try:
            current = read_all(old)
            if current != self._expected:
                raise SaveConflict(current, self._new)
            ours = self._write_beside(old)
            try:
                system_calls.exchange(self._directory, self._beside, self._name)
            except OSError as error:
                if error.errno in _CANNOT_EXCHANGE:
                    return self._rename_over(old, ours)
                self._discard(ours)
                raise
        finally:
            close(old)
        return self._after_exchange(ours)

    def adopt_leftover(self) -> None:
        """Move a hidden file that a crash left into the undo copies: it can be the only copy."""
        try:
            status = os.stat(self._beside, dir_fd=self._directory, follow_symlinks=False)
        except FileNotFoundError:
            return
        if not stat.S_ISREG(status.st_mode):
            raise SaveRefused(f"{self._beside} is in the way and is not a file")
        self._copies.adopt(self._directory, self._beside)
        if self._is_beside():
            place = self._path.with_name(self._beside)
            raise SaveRefused(f"a program still has {place} open: it was this file before the last save")

    def _open_ordinary_file(self) -> int:
        try:
            old = os.open(self._name, READ_NO_LINK, dir_fd=self._directory)
        except FileNotFoundError:
            raise SaveRefused("the file is no longer there") from None
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise SaveRefused("the file is a symbolic link: open the file it leads to") from None
            raise
        try:
            status = os.fstat(old)
            if not stat.S_ISREG(status.st_mode):
                raise SaveRefused("this is not an ordinary file")
            if status.st_nlink > 1:
                self._copies.unlink(status)
                status = os.fstat(old)
            if status.st_nlink > 1:
                names = f"the file has {status.st_nlink} names (hard links)"
                raise SaveRefused(f"{names}, and saving would change only one")
            self._is_in_use = time.time() - status.st_mtime < _RECENT
            if not os.access(self._name, os.W_OK, dir_fd=self._directory):
                raise SaveRefused("the file is write-protected")
        except BaseException:
            close(old)
            raise
        return old

    def _write_beside(self, old: int) -> _Identity:
        """Write the new file under the hidden name with the mode, owner and attributes of `old`."""
        new = os.open(self._beside, CREATE, 0o600, dir_fd=self._directory)
        try:
            write_all(new, self._new)
            wanted, given = os.fstat(old), os.fstat(new)
            if not _same_owner(wanted, given):
                try:
                    os.fchown(new, wanted.st_uid, wanted.st_gid)
                except PermissionError:
                    reason = "you may not give the new file the owner and group of the old one"
                    raise SaveRefused(reason) from None
            os.fchmod(new, stat.S_IMODE(os.fstat(old).st_mode))
            for name in system_calls.copy_attributes(old, new):
                self._warnings.append(f"the attribute {name} could not be copied")
            flush(new)
            self._pinned.append(os.open(self._beside, PIN, dir_fd=self._directory))
            return _identity(os.fstat(new))
        except BaseException:
            os.unlink(self._beside, dir_fd=self._directory)
            raise
        finally:
            # Open for writing, it would hide whether another program has the file open.
            close(new)

    def _after_exchange(self, ours: _Identity) -> SavedFile:
        """Keep the replaced file as undo copy, or undo the exchange if it is not the expected one."""
        held = -1
        try:
            held = os.open(self._beside, READ_NO_LINK, dir_fd=self._directory)
            unchanged = stat.S_ISREG(os.fstat(held).st_mode) and read_all(held) == self._expected
            if unchanged:
                self._wait_until_quiet(held)
                return self._finished(held, ours, self._copies.adopt(self._directory, self._beside))
        except OSError:
            self._undo_exchange(ours)
            raise
        finally:
            close(held)
        self._undo_exchange(ours)
        raise SaveConflict(self._current(), self._new, "; ".join(self._warnings) or None)

    def _undo_exchange(self, ours: _Identity) -> None:
        """Exchange until no program wrote in between: the last foreign write must keep the name."""
        placed = ours
        try:
            while True:
                self._pinned.append(os.open(self._beside, PIN, dir_fd=self._directory))
                placed_next = _identity(os.fstat(self._pinned[-1]))
                system_calls.exchange(self._directory, self._beside, self._name)
                if self._identity_beside() == placed:
                    break
                placed = placed_next
        except OSError as error:
            place = self._path.with_name(self._beside)
            reason = error.strerror or error
            raise SaveRefused(
                f"saving failed half-way ({reason}): the previous content is in {place}"
            ) from None
        if placed != ours:
            self._copies.adopt(self._directory, self._beside)
            return
        # The new file had the name for a moment, in which a program may have opened it.
        written = os.open(self._beside, READ_NO_LINK, dir_fd=self._directory)
        try:
            self._wait_until_quiet(written)
            late = read_all(written)
            if late == self._new:
                self._discard(ours)
                return
            backup = self._copies.adopt(self._directory, self._beside)
            if late.startswith(self._new):
                self._append(late[len(self._new) :])
            if (open_note := self._open_note(written)) is not None:
                self._warnings.append(f"{open_note}in {backup}")
        finally:
            close(written)

    def _rename_over(self, old: int, ours: _Identity) -> SavedFile:
        """Save by a plain rename, on any system. It cannot be undone, so compare as late as possible."""
        try:
            backup = self._copies.link(self._directory, self._name) or self._copies.add(self._expected)
            now = os.stat(self._name, dir_fd=self._directory, follow_symlinks=False)
            if _identity(now) != _identity(os.fstat(old)) or read_all(old) != self._expected:
                backup.unlink()
                raise SaveConflict(self._current(), self._new)
            os.rename(self._beside, self._name, src_dir_fd=self._directory, dst_dir_fd=self._directory)
        except BaseException:
            self._discard(ours)
            raise
        self._wait_until_quiet(old)
        return self._finished(old, ours, backup)

    def _wait_until_quiet(self, held: int) -> None:
        """Wait while a program has a file open that lost its name, and writes into it."""
        waited, quiet, before = 0.0, 0.0, os.fstat(held)
        while waited < _LONGEST and quiet < _QUIET and system_calls.has_writer(held) is not False:
            self._wait(_STEP)
            now = os.fstat(held)
            same = (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
            waited, quiet, before = waited + _STEP, quiet + _STEP if same else 0.0, now
        self._is_busy = waited >= _LONGEST

    def _open_note(self, held: int) -> str | None:
        """Say that a program has, or may have, a file open that lost its name."""
        has_writer = system_calls.has_writer(held)
        if has_writer or (has_writer is None and self._is_busy):
            return _STILL_OPEN
        return _MAY_BE_OPEN if has_writer is None and self._is_in_use else None

    def _finished(self, held: int, ours: _Identity, backup: Path) -> SavedFile:
        """Finish a save that has succeeded: any problem from here on is a warning, not an error."""
        written = self._new
        try:
            flush(self._directory)
            self._copies.flush()
            is_copy = os.path.samestat(os.fstat(held), backup.stat())
            if is_copy:
                self._copies.mark_read(backup)
            late = read_all(held)
            if late != self._expected:
                tail = late[len(self._expected) :] if late.startswith(self._expected) else b""
                if tail and self._append(tail, ours):
                    written += tail
                    self._warnings.append(_LATE_BYTES.format(len(tail)))
                else:
                    self._warnings.append(_LATE_WRITE)
                if not is_copy:
                    backup = self._copies.add(late)
            if (open_note := self._open_note(held)) is not None:
                place = backup if is_copy else self._path.with_name(self._beside)
                kept = is_copy or self._is_beside()
                self._warnings.append(open_note + (f"in {place}" if kept else "lost"))
            self._copies.prune(keep=backup)
        except OSError as error:
            self._warnings.append(f"the file was saved, but a later step failed: {error.strerror or error}")
        return SavedFile(self._path, backup, "; ".join(self._warnings) or None, written)

    def _append(self, tail: bytes, ours: _Identity | None = None) -> bool:
        """Append late bytes to the file; False if it is not `ours` any more."""
        target = os.open(self._name, APPEND, dir_fd=self._directory)
        try:
            if ours is not None and _identity(os.fstat(target)) != ours:
                return False
            write_all(target, tail)
            flush(target)
        finally:
            close(target)
        return True

    def _discard(self, ours: _Identity) -> None:
        """Remove the hidden file if it is the one written here, never a file of another program."""
        with suppress(OSError):
            if self._identity_beside() == ours:
                os.unlink(self._beside, dir_fd=self._directory)

    def _is_beside(self) -> bool:
        with suppress(FileNotFoundError):
            self._identity_beside()
            return True
        return False

    def _identity_beside(self) -> _Identity:
        return _identity(os.stat(self._beside, dir_fd=self._directory, follow_symlinks=False))

    def _current(self) -> bytes:
        current = os.open(self._name, READ_NO_LINK, dir_fd=self._directory)
        try:
            return read_all(current)
        finally:
            close(current)


@contextmanager
def _directory_of(path: Path) -> Iterator[int]:
    directory = os.open(path.parent, FOLDER)
    try:
        yield directory
    finally:
        close(directory)


def _same_owner(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_uid, one.st_gid) == (other.st_uid, other.st_gid)


def _identity(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino
