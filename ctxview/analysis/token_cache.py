"""Exact token counts of many contents: each is counted once, by all cores, and remembered by its hash.

It runs in the caller's thread and a pool of its own, gives what it has as it goes, and stops when told. Which
text is in a content, say in a line of a history, the caller knows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, NamedTuple

from ctxview.analysis.tokens import DEFAULT_ENCODING, PIECE, Count, TokenCounter, exact_counter, pieces
from ctxview.files.cache import NumberCache, content_key

_BATCH_BYTES: Final = 4 * 1024 * 1024
_BATCH_ITEMS: Final = 4000


def as_text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def never() -> bool:
    return False


class TokenCounts:
    """Counts contents by one encoding. `recipe` names what `text` makes of a content: keys depend on it.

    A content whose count is known is not even looked into: its hash is enough.
    """

    def __init__(
        self,
        encoding: str = DEFAULT_ENCODING,
        text: Callable[[bytes], str] = as_text,
        recipe: str = "text",
        cache: NumberCache | None = None,
        threads: int | None = None,
    ) -> None:
        self._encoding = encoding
        self._text = text
        self._kind = f"tokens {encoding} {recipe}"
        self._cache = cache or NumberCache()
        self._threads = threads or _cores()

    def each(self, contents: Iterable[bytes], cancelled: Callable[[], bool] = never) -> Iterator[Count]:
        """The count of each content in turn. Ends early when cancelled, which any thread may ask about."""
        pool = ThreadPoolExecutor(self._threads, "ctxview-tokens")
        under_way: _Batch | None = None
        try:
            for batch in _batches(contents):
                # The next batch is under way before this one is waited for: no core is idle in between.
                following = self._start(batch, pool, cancelled)
                if under_way:
                    yield from self._finish(under_way)
                if cancelled():
                    return
                under_way = following
            if under_way:
                yield from self._finish(under_way)
        finally:
            pool.shutdown(cancel_futures=True)

    def _start(
        self, contents: Sequence[bytes], pool: ThreadPoolExecutor, cancelled: Callable[[], bool]
    ) -> _Batch:
        keys = [content_key(self._kind, content) for content in contents]
        known = {key: _unpacked(number) for key, number in self._cache.get(set(keys)).items()}
        unknown = {key: content for key, content in zip(keys, contents, strict=True) if key not in known}
        if not unknown:
            return _Batch(keys, known, (), worth_keeping=False)
        counter = exact_counter(self._encoding)
        groups = _groups(self._pieces(unknown, counter))
        work = [pool.submit(_count, group, counter, cancelled) for group in groups]
        return _Batch(keys, known, work, worth_keeping=counter.exact)

    def _pieces(self, contents: Mapping[bytes, bytes], counter: TokenCounter) -> Iterator[_Piece]:
        for key, content in contents.items():
            text = self._text(content)
            # An estimate rounds, so it needs the whole text at once; it is quick.
            for piece, clean in pieces(text) if counter.exact else [(text, True)]:
                yield _Piece(key, piece, clean)

    def _finish(self, batch: _Batch) -> Iterator[Count]:
        """The counts of a batch; none at all when its work was cancelled."""
        fresh: dict[bytes, Count] = {}
        for group in batch.work:
            counted = group.result()
            if counted is None:
                return
            for key, count in counted:
                before = fresh.get(key, Count(0, exact=True))
                fresh[key] = Count(before.value + count.value, before.exact and count.exact)
        if batch.worth_keeping:
            self._cache.put({key: _packed(count) for key, count in fresh.items()})
        counts = batch.known | fresh
        yield from (counts[key] for key in batch.keys)


class _Piece(NamedTuple):
    """A part of the text of the content with this key, and whether it ends where a token does."""

    key: bytes
    text: str
    clean: bool


@dataclass(frozen=True, slots=True)
class _Batch:
    """Contents by their keys: the counts that are known, and the work on the others."""

    keys: Sequence[bytes]
    known: dict[bytes, Count]
    work: Sequence[Future[list[tuple[bytes, Count]] | None]]
    worth_keeping: bool


def _count(
    group: Sequence[_Piece], counter: TokenCounter, cancelled: Callable[[], bool]
) -> list[tuple[bytes, Count]] | None:
    if cancelled():
        return None
    measured = [(piece, counter.measure(piece.text)) for piece in group]
    return [(piece.key, Count(count.value, count.exact and piece.clean)) for piece, count in measured]


def _batches(contents: Iterable[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for content in contents:
        batch.append(content)
        size += len(content)
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_ITEMS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _groups(all_pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """Pieces together that are worth a task of their own, and short enough to wait for."""
    group: list[_Piece] = []
    size = 0
    for piece in all_pieces:
        group.append(piece)
        size += len(piece.text)
        if size >= PIECE:
            yield group
            group, size = [], 0
    if group:
        yield group


def _packed(count: Count) -> int:
    return count.value << 1 | count.exact


def _unpacked(number: int) -> Count:
    return Count(number >> 1, bool(number & 1))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
