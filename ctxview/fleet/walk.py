"""The walk over everything below the named places, without a bound; what is unchanged is passed over.

It opens no file. Workers say which folders do not belong to a source, and these are searched further.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from ctxview.fleet.jobs import Item
from ctxview.fleet.remote import RemoteTree
from ctxview.fleet.source_rows import name_in_rows
from ctxview.fleet.stamps import digest_source, stamp_source
from ctxview.fleet.storage import is_url
from ctxview.formats.discovery import names_below


class KnownSource(Struct, frozen=True):
    """What an earlier run found out about a path."""

    stamp: str
    digest: str
    parts: tuple[str, ...] | None
    below: str | None
    is_source: bool


class Walk:
    """The items that are to be read, as far as the walk got, and counts of the others."""

    def __init__(self, known: Mapping[str, KnownSource], into: str, *, verify: bool) -> None:
        self.items: deque[Item] = deque()
        self.found = 0
        """How many items there were so far, also those that were taken since."""
        self.unchanged = 0
        """Sources that need not be read again."""
        self._known = known
        self._into = into
        self._verify = verify
        self._seen: set[str] = set()
        self._trees: dict[str, RemoteTree] = {}

    def begin(self, places: Sequence[str]) -> None:
        """Walk over the named paths and URLs; raises `StorageError`."""
        for place in places:
            if is_url(place):
                tree = RemoteTree(place)
                self._trees[tree.url], place = tree, tree.url
            self._walk([Item(place, named=True)])

    def go_below(self, folder: str, below: str) -> None:
        """Search a folder that does not belong to a source, or not with its subfolders."""
        self._walk(self._below(folder, below))

    def _walk(self, items: Sequence[Item]) -> None:
        waiting = deque(items)
        while waiting:
            item = waiting.popleft()
            if item.place in self._seen or item.place == self._into:
                continue
            self._seen.add(item.place)
            known = self._known.get(name_in_rows(item.place))
            if known is None or not self._is_unchanged(item.place, known):
                self.items.append(item)
                self.found += 1
                continue
            self.unchanged += known.is_source
            if known.below is not None:
                waiting.extend(self._below(item.place, known.below))

    def _below(self, folder: str, below: str) -> list[Item]:
        if (tree := self._tree(folder)) is not None:
            return [Item(url) for url in tree.below(folder, below)]
        names: list[str] = []
        with suppress(OSError):  # a worker that could list it reported nothing; it is gone since
            names = names_below(Path(folder), below)
        return [Item(f"{folder.rstrip('/')}/{name}") for name in names]

    def _is_unchanged(self, place: str, known: KnownSource) -> bool:
        if (tree := self._tree(place)) is not None:
            return not self._verify and tree.stamp(place, known.parts, known.below) == known.stamp
        if self._verify and known.is_source:
            return digest_source(Path(place), known.parts, known.below) == known.digest
        return stamp_source(Path(place), known.parts, known.below).text == known.stamp

    def _tree(self, place: str) -> RemoteTree | None:
        """Return the listing that a URL is in; None for a path on disk."""
        return next((tree for url, tree in self._trees.items() if f"{place}/".startswith(f"{url}/")), None)
