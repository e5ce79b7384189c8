"""Notices what becomes of files and folders by asking for their stamps, again and again. Never opens a file.

Knows no format and no screen. Somebody calls `look` as often as they like; nothing here waits or runs alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

from ctxview.files.stamps import Stamp, stamp_of
from ctxview.quick_dataclass import dataclass

MOST: Final = 20_000
"""So many paths are followed; what comes behind them is not."""
AT_ONCE: Final = 64
"""So many, the first ones, are looked at every time; as many of the others, in turn."""
MOST_NAMES: Final = 20_000


class What(StrEnum):
    """What became of a file. A folder is rewritten when its entries are."""

    APPENDED = "grew"
    REWRITTEN = "rewritten"
    TRUNCATED = "truncated"
    REPLACED = "replaced"
    APPEARED = "appeared"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class News:
    """Something that happened to a path. Bytes may turn out to be the same: whoever cares has to look."""

    path: Path
    what: What
    sure: bool = True
    """False when it may have happened unseen, or to a folder whose names tell what happened."""

    def __str__(self) -> str:
        return f"{self.path.name} {self.what}"


class Follower:
    """For one thread. Survives whatever happens to the paths: it goes by their names."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._known: dict[Path, _Known] = {}
        self._turn = 0

    def watch(self, paths: Iterable[Path], since: float | None = None) -> None:
        """Follow these from now on, the busiest first; what is known of them already stays known.

        What was changed after `since`, the time at which somebody read it, is told at the next look.
        """
        since = self._clock() if since is None else since
        wanted = dict.fromkeys(path for _, path in zip(range(MOST), dict.fromkeys(paths), strict=False))
        self._known = {path: self._known.get(path) or _first_look(path, since) for path in wanted}

    def look(self) -> list[News]:
        """Everything that changed since the last look."""
        now = self._clock()
        return [news for path in self._due() for news in self._look_at(path, now)]

    def _due(self) -> list[Path]:
        paths = list(self._known)
        first, others = paths[:AT_ONCE], paths[AT_ONCE:]
        if others:
            self._turn %= len(others)
            turn = others[self._turn : self._turn + AT_ONCE]
            self._turn += len(turn)
            first += turn
        return first

    def _look_at(self, path: Path, now: float) -> Iterator[News]:
        before, stamp = self._known[path], stamp_of(path)
        if stamp == before.stamp and not before.unsure:
            return
        names = _names(path) if stamp is not None and stamp.folder else frozenset()
        self._known[path] = _Known(stamp, stamp is not None and stamp.fresh(now), names)
        what = _what(before.stamp, stamp)
        within = stamp is not None and stamp.folder and what is What.REWRITTEN
        yield News(path, what, stamp != before.stamp and not within)
        yield from (News(path / name, What.APPEARED) for name in sorted(names - before.names))
        yield from (News(path / name, What.GONE) for name in sorted(before.names - names))


@dataclass(frozen=True, slots=True)
class _Known:
    stamp: Stamp | None
    unsure: bool
    """Whether a change could have left the stamp as it is: then it is told, once."""
    names: frozenset[str]


def _first_look(path: Path, since: float) -> _Known:
    stamp = stamp_of(path)
    changed_since = stamp is not None and (stamp.changed / 1e9 >= since or stamp.fresh(since))
    return _Known(stamp, changed_since, _names(path) if stamp is not None and stamp.folder else frozenset())


def _what(before: Stamp | None, now: Stamp | None) -> What:
    if now is None:
        return What.GONE
    if before is None:
        return What.APPEARED
    if (before.device, before.inode, before.link) != (now.device, now.inode, now.link):
        return What.REPLACED
    if now.folder or now.size == before.size:
        return What.REWRITTEN
    return What.APPENDED if now.size > before.size else What.TRUNCATED


def _names(folder: Path) -> frozenset[str]:
    try:
        with os.scandir(folder) as entries:
            return frozenset(entry.name for _, entry in zip(range(MOST_NAMES), entries, strict=False))
    except OSError:
        return frozenset()
