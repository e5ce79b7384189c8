"""What became of the files from one moment of a recording to the next, by what stands in it alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from ctxview.files.following import What
from ctxview.quick_dataclass import dataclass
from ctxview.recording.manifest import Entry, File, LeftOut, Lent, Manifest


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a name; sizes in bytes, None without content. `why` tells why it is not kept."""

    name: str
    what: What
    before: int | None = None
    after: int | None = None
    why: str | None = None


def between(before: Manifest, after: Manifest) -> Iterator[Change]:
    """Of every file that is another one, or gone; in the order of names."""
    for name in sorted({**before, **after}):
        old, new = before.get(name), after.get(name)
        if old != new and (change := _change(name, old, new)) is not None:
            yield change


def size_of(entry: Entry | None) -> int | None:
    return entry.size if isinstance(entry, File | Lent) else None


def _change(name: str, old: Entry | None, new: Entry | None) -> Change | None:
    left, right = size_of(old), size_of(new)
    if isinstance(new, LeftOut):
        return Change(name, What.APPEARED if old is None else What.REPLACED, left, None, new.reason)
    if right is None:
        return Change(name, What.GONE, left) if left is not None else None
    if left is None:
        return Change(name, What.APPEARED, None, right)
    if _goes_on(old, new):
        return Change(name, What.APPENDED, left, right) if right > left else None
    return Change(name, What.TRUNCATED if right < left else What.REWRITTEN, left, right)


def _goes_on(old: Entry | None, new: Entry | None) -> bool:
    """Whether a file still begins as it did. What was appended is cut anew now and then: half will do."""
    if not isinstance(old, File) or not isinstance(new, File) or new.size < old.size:
        return False
    shared = takewhile(lambda pair: pair[0].hash == pair[1].hash, zip(old.refs, new.refs, strict=False))
    return sum(ref.length for ref, _ in shared) * 2 >= old.size
