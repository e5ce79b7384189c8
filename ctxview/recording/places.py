"""Where recordings are written: a new file, one to go on with, or one without a name that ends with us."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path
from typing import Final

from ctxview.files.held_file import HeldFile
from ctxview.files.undo_copies import close, write_all
from ctxview.files.user_folders import cache_folder
from ctxview.quick_dataclass import dataclass
from ctxview.recording.about import About, pack_about
from ctxview.recording.frames import HEAD, MAGIC, Damaged, new_head, salt_of
from ctxview.recording.manifest import File
from ctxview.recording.reader import Recording, read_recording
from ctxview.recording.writer import CannotRecord, Writer

_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Opened:
    """A recording to write to; how many moments it has already, and how many torn bytes were cut off."""

    writer: Writer
    moments: int = 0
    cut_off: int = 0


def open_to_write(path: Path, what: About) -> Opened:
    """A new recording, or the one that is there and is of the same thing; raises `CannotRecord`."""
    try:
        return Opened(_begin(os.open(path, _NEW, 0o600), what))
    except FileExistsError:
        pass
    except OSError as error:
        raise CannotRecord(f"{path}: {error.strerror or error}") from None
    try:
        descriptor = os.open(path, _OLD)
    except OSError as error:
        reason = "this is a symbolic link" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise CannotRecord(f"{path}: {reason}") from None
    try:
        return _go_on(path, descriptor, what)
    except BaseException:
        close(descriptor)
        raise


def open_private(what: About) -> tuple[Writer, Recording]:
    """A recording in the cache folder that has no name: it is gone when the last one who holds it is."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"seen-{os.getpid()}-{os.urandom(8).hex()}"
    descriptor = os.open(path, _NEW, 0o600)
    path.unlink()
    writer = _begin(descriptor, what)
    return writer, read_recording(HeldFile(path, os.dup(descriptor)))


def _begin(descriptor: int, what: About) -> Writer:
    head = new_head()
    _lock(descriptor)
    write_all(descriptor, head)
    writer = Writer(descriptor, salt_of(head), len(head))
    writer.about(pack_about(what))
    return writer


def _lock(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CannotRecord("another ctxview is recording into this file") from None


def _go_on(path: Path, descriptor: int, what: About) -> Opened:
    status = os.fstat(descriptor)
    head = os.pread(descriptor, HEAD.size, 0) if stat.S_ISREG(status.st_mode) else None
    if head is None or not (MAGIC.startswith(head[:8]) or head.startswith(MAGIC)):
        raise CannotRecord(f"{path}: this is not a recording, and it is not overwritten")
    _lock(descriptor)
    if len(head) < HEAD.size:
        # Empty, or what is left when a program was killed before it could write the head.
        os.ftruncate(descriptor, 0)
        return Opened(_begin(descriptor, what), cut_off=len(head))
    try:
        recording = read_recording(HeldFile(path, os.dup(descriptor)))
    except Damaged as error:
        raise CannotRecord(f"{path}: {error}") from None
    old, new = recording.about, what
    if len(recording) and (old.place, old.is_folder) != (new.place, new.is_folder):
        raise CannotRecord(f"{path}: this is a recording of {old.place}; choose another file")
    os.ftruncate(descriptor, recording.end)
    writer = Writer(descriptor, recording.salt, recording.end)
    if recording.end == HEAD.size:
        writer.about(pack_about(what))
    _know_the_last(writer, recording)
    return Opened(writer, len(recording), status.st_size - recording.end)


def _know_the_last(writer: Writer, recording: Recording) -> None:
    """What the last moment was made of need not be written again."""
    if not len(recording):
        return
    try:
        manifest = recording.at(len(recording) - 1).manifest
    except Damaged:
        return
    for entry in manifest.values():
        if isinstance(entry, File):
            writer.know(entry.refs)
