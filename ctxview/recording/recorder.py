"""Looks at some files again and again and writes down what changed, reading no more than it has to.

A large file that only grew is read from where it ended before: that it is the same file, and samples of what
was there, tell so. It writes to the recording and nowhere else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from ctxview.files.following import What
from ctxview.files.held_file import HeldFile, hold_beneath
from ctxview.files.reading import Unreadable
from ctxview.quick_dataclass import dataclass
from ctxview.recording.changes import Change, size_of
from ctxview.recording.chunks import Ref, Refs, digest
from ctxview.recording.cutting import LARGE, Pieces, measure_for
from ctxview.recording.frames import Damaged
from ctxview.recording.manifest import Entry, File, Folder, LeftOut, Lent
from ctxview.recording.reader import read_chunk
from ctxview.recording.tree import Scope, Stand, look_at, stand_at, stand_of
from ctxview.recording.writer import Writer

LARGEST: Final = 16 * 1024**3
"""A file with more bytes is not kept."""
GROWS_FROM: Final = 256 * 1024
"""From this size on a file that seems to have grown is not read again from its beginning."""

_READ_AT_ONCE: Final = 1024 * 1024
_TIDIED: Final = 16


@dataclass(frozen=True, slots=True)
class Kept:
    """One moment that was written."""

    number: int
    time: int
    changes: tuple[Change, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a name; `settled` when the clock of its file cannot hide another change."""

    stand: Stand
    entry: Entry
    settled: bool = True
    fingerprint: bytes = b""
    grew: bool = False


class Recorder:
    """Records what is in scope. Files with more than `lend_above` bytes are not copied but lent."""

    def __init__(self, scope: Scope, writer: Writer, lend_above: int | None = None, first: int = 0) -> None:
        self._scope = scope
        self._writer = writer
        self._held = HeldFile(scope.root, os.dup(writer.descriptor))
        self._lend_above = lend_above
        self._known: dict[str, _Known] = {}
        self._number = first
        self._begun = False
        self._notes: tuple[str, ...] = ()

    def look(self, now: int, scope: Scope | None = None) -> Kept | None:
        """Write down what changed up to `now`, in nanoseconds since 1970; None when nothing did.

        From now on in another scope, if one is given.
        """
        self._scope = scope or self._scope
        tree = look_at(self._scope)
        before, changes = self._known, dict[str, Entry | None]()
        looked = ((name, self._known_of(name, stand)) for name, stand in tree.stands.items())
        after = {name: known for name, known in looked if known is not None}
        for name, known in after.items():
            if name not in before or known.entry != before[name].entry:
                changes[name] = known.entry
        changes |= {name: None for name in before if name not in after}
        self._known = after
        notes = tuple(note for note in tree.notes if note not in self._notes)
        self._notes = tree.notes
        if not changes and not notes and self._begun:
            return None
        self._writer.moment(now, changes, "; ".join(notes))
        self._begun = True
        self._number += 1
        told = tuple(_change(name, before.get(name), after.get(name)) for name in changes)
        return Kept(self._number, now, tuple(each for each in told if each is not None), notes)

    def _known_of(self, name: str, stand: Stand) -> _Known | None:
        """What is under a name now; None when it has gone since somebody looked."""
        known = self._known.get(name)
        if known is not None and known.settled and known.stand == stand:
            return known
        if stand.problem is not None:
            return _Known(stand, LeftOut(stand.problem))
        if stand.stamp is None:
            return _Known(stand, Folder())
        if stand.stamp.size > LARGEST:
            return _Known(stand, LeftOut(f"larger than {LARGEST // 1024**3} GiB"))
        try:
            held = hold_beneath(self._scope.root, name)
            found = self._read(held, known)
        except Unreadable as error:
            gone = stand_at(self._scope.root / name) is None
            return None if gone else _Known(stand, LeftOut(error.reason))
        stamp = found.stand.stamp
        settled = stamp is not None and not stamp.fresh(time.time())
        if known is not None and _same_content(known.entry, found.entry):
            found = replace(found, entry=known.entry)
        return replace(found, settled=settled)

    def _read(self, held: HeldFile, known: _Known | None) -> _Known:
        """A file as it is now, written as far as it is not yet."""
        status = held.status()
        size, modified, mode = status.st_size, status.st_mtime_ns, status.st_mode & 0o777
        stand = stand_of(status)
        if self._lend_above is not None and size > self._lend_above:
            return _Known(stand, Lent(size, modified, mode, held.fingerprint(size)))
        earlier = known.entry if known is not None and isinstance(known.entry, File) else None
        if known is not None and earlier is not None and _goes_on(held, stand, known, earlier):
            start, kept, again = earlier.size, earlier.refs, dict[bytes, Ref]()
        else:
            start, kept = 0, Refs()
            again = {ref.hash: ref for ref in earlier.refs} if earlier is not None else {}
        added = Refs.of(list(self._pieces(held, start, size, again)))
        reached = start + sum(ref.length for ref in added)
        entry = File(reached, modified, mode, self._tidied(kept + added) if len(kept) else added)
        fingerprint = held.fingerprint(reached) if reached >= GROWS_FROM else b""
        return _Known(stand, entry, fingerprint=fingerprint, grew=0 < start < reached)

    def _pieces(self, held: HeldFile, start: int, size: int, again: Mapping[bytes, Ref]) -> Iterator[Ref]:
        pieces = Pieces(measure_for(size))
        while start < size and (content := held.read(start, min(start + _READ_AT_ONCE, size))):
            start += len(content)
            for piece in pieces.add(content):
                yield self._writer.put(piece, again)
        for piece in pieces.rest():
            yield self._writer.put(piece, again)

    def _tidied(self, refs: Refs) -> Refs:
        """Many small pieces at the end, as appending leaves them, become fewer larger ones.

        Sixteen of about the same size become one, so that each byte is written again a few times at most.
        """
        while (run := _small_run(refs)) >= _TIDIED:
            stays = len(refs) - run
            try:
                content = b"".join(
                    read_chunk(self._held, ref, self._writer.salt) for ref in refs.behind(stays)
                )
            except (Damaged, Unreadable):
                # Somebody did something to the recording: then these pieces stay as they are.
                return refs
            refs = refs.first(stays) + Refs.of([self._writer.put(content, {})])
        return refs


def _goes_on(held: HeldFile, stand: Stand, known: _Known, earlier: File) -> bool:
    """Whether a file still begins with all that was known of it."""
    now, before = stand.stamp, known.stand.stamp
    if now is None or before is None or now.size < earlier.size:
        return False
    grew = (now.device, now.inode) == (before.device, before.inode) and now.size > earlier.size
    if known.fingerprint and (grew or stand == known.stand):
        return held.fingerprint(earlier.size) == known.fingerprint
    start = 0
    for ref in earlier.refs:
        if digest(held.read(start, start + ref.length)) != ref.hash:
            return False
        start += ref.length
    return True


def _small_run(refs: Refs) -> int:
    """How many pieces at the end are small and of the same order of size."""
    order, run = 0, 0
    for number in range(len(refs) - 1, max(len(refs) - _TIDIED, 0) - 1, -1):
        length = refs[number].length
        if length >= LARGE.least or (run and length.bit_length() // 4 != order):
            break
        order, run = length.bit_length() // 4, run + 1
    return run


def _same_content(before: Entry, after: Entry) -> bool:
    """Whether two entries differ in their time at most."""
    if isinstance(before, File | Lent) and isinstance(after, File | Lent):
        return replace(after, modified=before.modified) == before
    return before == after


def _change(name: str, before: _Known | None, after: _Known | None) -> Change | None:
    old, new = _size(before), _size(after)
    if after is None:
        return Change(name, What.GONE, old)
    if isinstance(after.entry, LeftOut):
        return Change(name, What.APPEARED if before is None else What.REPLACED, old, None, after.entry.reason)
    if new is None:
        return None
    if before is None or old is None:
        return Change(name, What.APPEARED, None, new)
    if _identity(after) != _identity(before):
        what = What.REPLACED
    elif new < old:
        what = What.TRUNCATED
    else:
        what = What.APPENDED if after.grew else What.REWRITTEN
    return Change(name, what, old, new)


def _identity(known: _Known) -> tuple[int, int] | None:
    stamp = known.stand.stamp
    return (stamp.device, stamp.inode) if stamp is not None else None


def _size(known: _Known | None) -> int | None:
    return size_of(known.entry) if known is not None else None
