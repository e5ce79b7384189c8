"""Exact token counts of many contents: each is counted once, on all cores, and cached by its hash.

It runs in the caller's thread and its own pool, yields counts as they are ready, and stops when cancelled.
The caller says how to get the text of a content, such as a line of a history.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct

from ctxview.analysis.tokens import (
    DEFAULT_ENCODING,
    PIECE,
    TokenCount,
    TokenCounter,
    exact_counter,
    token_pieces,
)
from ctxview.files.cache import NumberCache, content_key
from ctxview.files.line_file import never_cancelled

_BATCH_BYTES: Final = 4 * 1024 * 1024
_BATCH_ITEMS: Final = 4000

_Item = TypeVar("_Item")


def as_text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


class TokenCounts:
    """Counts contents by one encoding. `recipe` names the function `text`: keys of the cache depend on it.

    A content whose count is cached is only hashed, not decoded.
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
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._threads = threads or cores

    def each(
        self, contents: Iterable[bytes], cancelled: Callable[[], bool] = never_cancelled
    ) -> Iterator[TokenCount]:
        """Yield the count of each content in turn. Ends early when `cancelled`, which any thread may call."""
        counting = ThreadPoolExecutor(self._threads, "ctxview-tokens")
        hashing = ThreadPoolExecutor(1, "ctxview-hashes")
        try:
            # While one batch is awaited, the next is counted and the one after it hashed.
            hashed = _one_ahead(
                (batch, hashing.submit(content_key, self._kind, *batch)) for batch in _batches(contents)
            )
            started = _one_ahead(
                self._start(batch, key.result(), counting, cancelled) for batch, key in hashed
            )
            for result in started:
                if cancelled():
                    return
                yield from result if isinstance(result, list) else self._finish(result)
        finally:
            hashing.shutdown(cancel_futures=True)
            counting.shutdown(cancel_futures=True)

    def _start(
        self,
        batch: Sequence[bytes],
        batch_key: bytes,
        pool: ThreadPoolExecutor,
        cancelled: Callable[[], bool],
    ) -> list[TokenCount] | _Work:
        """Return the counts of a batch if all are cached; else start to count the missing ones."""
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
            cacheable=counter.exact,
        )

    def _pieces(self, contents: Mapping[bytes, bytes], counter: TokenCounter) -> Iterator[_Piece]:
        for key, content in contents.items():
            text = self._text(content)
            # An estimate rounds, so it needs the whole text at once; it is fast.
            for piece, clean in token_pieces(text) if counter.exact else [(text, True)]:
                yield _Piece(key, piece, clean)

    def _finish(self, work: _Work) -> Iterator[TokenCount]:
        """Yield the counts of a batch; none when the work on it was cancelled."""
        fresh: dict[bytes, TokenCount] = {}
        for group in work.groups:
            counted = group.result()
            if counted is None:
                return
            for key, count in counted:
                before = fresh.get(key, TokenCount(0, exact=True))
                fresh[key] = TokenCount(before.value + count.value, before.exact and count.exact)
        counts = work.known | fresh
        if work.cacheable:
            self._cache.put({key: [_packed(count)] for key, count in fresh.items()})
            if work.batch_key:
                self._cache.put({work.batch_key: [_packed(counts[key]) for key in work.keys]})
        yield from (counts[key] for key in work.keys)


class _Piece(NamedTuple):
    """A part of the text of the content `key`; `clean` when it ends at a token boundary."""

    key: bytes
    text: str
    clean: bool


class _Work(Struct, frozen=True):
    """A batch with counts that are not cached."""

    batch_key: bytes | None
    """Set only if the batch is full: any other batch changes when the history grows."""
    keys: Sequence[bytes]
    known: dict[bytes, TokenCount]
    groups: Sequence[Future[list[tuple[bytes, TokenCount]] | None]]
    cacheable: bool


def _count(
    group: Sequence[_Piece], counter: TokenCounter, cancelled: Callable[[], bool]
) -> list[tuple[bytes, TokenCount]] | None:
    if cancelled():
        return None
    measured = [(piece, counter.measure(piece.text)) for piece in group]
    return [(piece.key, TokenCount(count.value, count.exact and piece.clean)) for piece, count in measured]


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
    """Yield the same items, each after the next one was made."""
    waiting = deque[_Item]()
    for item in items:
        waiting.append(item)
        if len(waiting) > 1:
            yield waiting.popleft()
    yield from waiting


def _groups(all_pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """Group pieces into tasks that are worth a thread and short enough to wait for."""
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


def _packed(count: TokenCount) -> int:
    return count.value << 1 | count.exact


@lru_cache(maxsize=50_000)
def _unpacked(number: int) -> TokenCount:
    return TokenCount(number >> 1, bool(number & 1))
