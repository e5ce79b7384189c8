"""The files of one moment, laid out in a private folder, for a format to read as if it were then.

What two moments share is linked or copied from the one that is laid out already. Names were refused before
they come here; what cannot be laid out is told, and the rest is there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path
from typing import Final
from weakref import finalize

from ctxview.files.held_file import hold_beneath
from ctxview.files.reading import Unreadable
from ctxview.files.undo_copies import close, write_all
from ctxview.quick_dataclass import dataclass
from ctxview.recording.about import About
from ctxview.recording.frames import Damaged
from ctxview.recording.manifest import Entry, File, Folder, LeftOut, Lent, Manifest, Refused
from ctxview.recording.reader import Recording
from ctxview.recording.workshop import new_folder, remove

MOST_BYTES: Final = 64 * 1024**3
"""More than this is never laid out, nor more than half of what the disk has left."""

_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class LaidOut:
    """A moment on disk, until nobody refers to it any more.

    `folder` holds the files; `path` is what was recorded, the folder itself or the one file in it.
    """

    base: Path
    folder: Path
    path: Path
    manifest: Manifest
    size: int
    refused: tuple[Refused, ...]
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Names whose content is not there, and why."""

    @property
    def left_out(self) -> Iterator[tuple[str, str]]:
        """What the recorder could not keep, and why."""
        return ((name, each.reason) for name, each in self.manifest.items() if isinstance(each, LeftOut))


def lay_out(
    recording: Recording, number: int, others: Iterable[LaidOut] = (), lender: Path | None = None
) -> LaidOut:
    """Raises `Damaged` when nothing is known of the moment, `OSError` when there is no room for it."""
    recorded = recording.at(number)
    size = sum(entry.size for entry in recorded.manifest.values() if isinstance(entry, File | Lent))
    base = new_folder()
    done = _places(base, recording.about, recorded.manifest, size, recorded.refused)
    # Before anything is in it, so that it goes whatever happens.
    finalize(done, remove, base)
    space = os.statvfs(base)
    if size > min(MOST_BYTES, space.f_bavail * space.f_frsize // 2):
        raise Damaged(f"it holds {size:,} bytes, more than can be laid out to be looked at")
    near = list(others)
    done.folder.mkdir(parents=True, mode=0o700)
    for name, entry in sorted(recorded.manifest.items()):
        try:
            _put(recording, done.folder / name, name, entry, near, lender)
        except (Damaged, Unreadable) as error:
            reason = error.reason if isinstance(error, Unreadable) else str(error)
            done.problems.append((name, reason))
        except OSError as error:
            done.problems.append((name, f"it cannot be laid out: {error.strerror or error}"))
    return done


def _places(base: Path, about: About, manifest: Manifest, size: int, refused: tuple[Refused, ...]) -> LaidOut:
    path = base / about.place
    folder = path if about.is_folder else path.parent
    return LaidOut(base, folder, path, manifest, size, refused)


def _put(
    recording: Recording, path: Path, name: str, entry: Entry, near: list[LaidOut], lender: Path | None
) -> None:
    match entry:
        case Folder():
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        case File():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not any(_linked(other, name, entry, path) for other in near):
                _write(recording, path, name, entry, near)
        case Lent():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _borrow(path, name, entry, lender)
        case LeftOut():
            pass


def _linked(other: LaidOut, name: str, entry: File, path: Path) -> bool:
    """Whether another moment has the very same file, which then gets one more name."""
    if other.manifest.get(name) != entry:
        return False
    with suppress(OSError):
        os.link(other.folder / name, path, follow_symlinks=False)
        return True
    return False


def _write(recording: Recording, path: Path, name: str, entry: File, near: list[LaidOut]) -> None:
    if sum(ref.length for ref in entry.refs) != entry.size:
        raise Damaged("its size is not that of its content")
    with _new_file(path, entry) as descriptor:
        done = _begun(descriptor, name, entry, near)
        for ref in entry.refs.behind(done):
            write_all(descriptor, recording.content(ref))


def _begun(descriptor: int, name: str, entry: File, near: list[LaidOut]) -> int:
    """Copy the beginning from where it is laid out already; how many chunks that was."""
    for other in near:
        earlier = other.manifest.get(name)
        shared = entry.refs.shared(earlier.refs) if isinstance(earlier, File) else 0
        if shared * 2 > len(entry.refs):
            length = sum(ref.length for ref in entry.refs.first(shared))
            with suppress(Unreadable):
                if hold_beneath(other.folder, name).copy_to(descriptor, length):
                    return shared
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
    return 0


def _borrow(path: Path, name: str, entry: Lent, lender: Path | None) -> None:
    if lender is None:
        raise Damaged("its content is not in the recording")
    held = hold_beneath(lender, name)
    with _new_file(path, entry) as descriptor:
        if not held.copy_to(descriptor, entry.size) or _changed(path, entry):
            raise Damaged("it was too large to be copied then, and has been rewritten since")


def _changed(path: Path, entry: Lent) -> bool:
    return hold_beneath(path.parent, path.name).fingerprint(entry.size) != entry.fingerprint


@contextmanager
def _new_file(path: Path, entry: File | Lent) -> Iterator[int]:
    """A descriptor to write a new file with, which gets the mode and time of `entry`, or is taken back."""
    descriptor = os.open(path, _NEW, 0o600)
    try:
        yield descriptor
        os.fchmod(descriptor, entry.mode & 0o777 | 0o400)
        with suppress(OSError, OverflowError):
            os.utime(descriptor, ns=(entry.modified, entry.modified))
    except BaseException:
        path.unlink()
        raise
    finally:
        close(descriptor)
