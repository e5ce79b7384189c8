"""Exact token counts of many contents: each is counted once, by all cores, and remembered by its hash.

It runs in the caller's thread and a pool of its own, gives what it has as it goes, and stops when told. Which
text is in a content, say in a line of a history, the caller knows.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

from ctxview.analysis.tokens import DEFAULT_ENCODING, PIECE, Count, TokenCounter, exact_counter, pieces
from ctxview.files.cache import NumberCache, content_key
from ctxview.quick_dataclass import dataclass

_BATCH_BYTES: Final = 4 * 1024 * 1024
_BATCH_ITEMS: Final = 4000

_Item = TypeVar("_Item")


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
        counting = ThreadPoolExecutor(self._threads, "ctxview-tokens")
        hashing = ThreadPoolExecutor(1, "ctxview-hashes")
        try:
            # While one batch is waited for, the next is being counted and the one after it hashed.
            hashed = _one_ahead(
                (batch, hashing.submit(content_key, self._kind, *batch)) for batch in _batches(contents)
            )
            started = _one_ahead(
                self._start(batch, key.result(), counting, cancelled) for batch, key in hashed
            )
            for known_or_work in started:
                if cancelled():
                    return
                yield from known_or_work if isinstance(known_or_work, list) else self._finish(known_or_work)
        finally:
            hashing.shutdown(cancel_futures=True)
            counting.shutdown(cancel_futures=True)

    def _start(
        self,
        batch: Sequence[bytes],
        batch_key: bytes,
        pool: ThreadPoolExecutor,
        cancelled: Callable[[], bool],
    ) -> list[Count] | _Work:
        """The counts of a batch if they are known as a whole; else begin to count what is unknown of it."""
        if found := self._cache.get([batch_key]):
            return [_unpacked(number) for number in found[batch_key]]
        keys = [content_key(self._kind, content) for content in batch]
        known = {key: _unpacked(number) for key, (number,) in self._cache.get(set(keys)).items()}
        unknown = {key: content for key, content in zip(keys, batch, strict=True) if key not in known}
        if not unknown and not _is_full(batch):
            return [known[key] for key in keys]
        counter = exact_counter(self._encoding)
        groups = _groups(self._pieces(unknown, counter))
        return _Work(
            batch_key if _is_full(batch) else None,
            keys,
            known,
            [pool.submit(_count, group, counter, cancelled) for group in groups],
            worth_keeping=counter.exact,
        )

    def _pieces(self, contents: Mapping[bytes, bytes], counter: TokenCounter) -> Iterator[_Piece]:
        for key, content in contents.items():
            text = self._text(content)
            # An estimate rounds, so it needs the whole text at once; it is quick.
            for piece, clean in pieces(text) if counter.exact else [(text, True)]:
                yield _Piece(key, piece, clean)

    def _finish(self, work: _Work) -> Iterator[Count]:
        """The counts of a batch; none at all when the work on it was cancelled."""
        fresh: dict[bytes, Count] = {}
        for group in work.groups:
            counted = group.result()
            if counted is None:
                return
            for key, count in counted:
                before = fresh.get(key, Count(0, exact=True))
                fresh[key] = Count(before.value + count.value, before.exact and count.exact)
        counts = work.known | fresh
        if work.worth_keeping:
            self._cache.put({key: [_packed(count)] for key, count in fresh.items()})
            if work.batch_key:
                self._cache.put({work.batch_key: [_packed(counts[key]) for key in work.keys]})
        yield from (counts[key] for key in work.keys)


class _Piece(NamedTuple):
    """A part of the text of the content with this key, and whether it ends where a token does."""

    key: bytes
    text: str
    clean: bool


@dataclass(frozen=True, slots=True)
class _Work:
    """A batch of which not all counts are known."""

    batch_key: bytes | None
    """Only if the batch is full: any other will be another one when the history has grown."""
    keys: Sequence[bytes]
    known: dict[bytes, Count]
    groups: Sequence[Future[list[tuple[bytes, Count]] | None]]
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


def _is_full(batch: Sequence[bytes]) -> bool:
    return len(batch) >= _BATCH_ITEMS or sum(map(len, batch)) >= _BATCH_BYTES


def _one_ahead(items: Iterable[_Item]) -> Iterator[_Item]:
    """The same items, each when the next one has been made already."""
    waiting = deque[_Item]()
    for item in items:
        waiting.append(item)
        if len(waiting) > 1:
            yield waiting.popleft()
    yield from waiting


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


@lru_cache(maxsize=50_000)
def _unpacked(number: int) -> Count:
    return Count(number >> 1, bool(number & 1))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
