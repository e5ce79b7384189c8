"""Cached token counts equal those of the counter, and each content is counted once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from ctxview.analysis import token_cache, tokens
from ctxview.analysis.token_cache import TokenCounts
from ctxview.analysis.tokens import Estimate, TokenCount, exact_counter
from ctxview.files.cache import NumberCache

CONTENTS = [
    b"",
    b"one short line",
    "上下文窗口中的每条消息都会占用令牌预算".encode(),
    b"word " * 60_000,
    b"one short line",
    b"\xff\xfe no text",
    b" " * 250_000,
    *(b"line number %d\n" % number for number in range(300)),
]


@pytest.fixture
def cache(tmp_path: Path) -> NumberCache:
    return NumberCache(tmp_path)


@pytest.fixture(params=[100, 4 * 1024 * 1024], ids=["many batches", "one batch"])
def batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_cache, "_BATCH_BYTES", request.param)


class RecordingDecoder:
    """Decodes contents and records them."""

    def __init__(self) -> None:
        self.contents: list[bytes] = []

    def __call__(self, content: bytes) -> str:
        self.contents.append(content)
        return token_cache.as_text(content)


@pytest.mark.usefixtures("batches")
@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_counts_equal_those_of_the_counter_in_the_same_order(cache: NumberCache, encoding: str) -> None:
    one_by_one = [exact_counter(encoding).measure(content.decode(errors="replace")) for content in CONTENTS]

    assert list(TokenCounts(encoding, cache=cache).each(CONTENTS)) == one_by_one
    assert list(TokenCounts(encoding, cache=cache).each(CONTENTS)) == one_by_one


def test_a_counted_content_is_not_decoded_again(cache: NumberCache, tmp_path: Path) -> None:
    first, again = RecordingDecoder(), RecordingDecoder()
    counts = list(TokenCounts(text=first, cache=cache).each(CONTENTS))

    assert sorted(first.contents) == sorted(set(CONTENTS))
    assert list(TokenCounts(text=again, cache=NumberCache(tmp_path)).each(CONTENTS)) == counts
    assert again.contents == []


def test_cached_counts_need_no_table(cache: NumberCache, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = list(TokenCounts(cache=cache).each(CONTENTS))
    monkeypatch.setattr(token_cache, "exact_counter", None)

    assert list(TokenCounts(cache=cache).each(CONTENTS)) == counts


def test_recipes_and_encodings_do_not_mix(cache: NumberCache) -> None:
    text = "上下文窗口".encode()
    plain = list(TokenCounts(cache=cache).each([text]))
    tripled = list(
        TokenCounts(text=lambda content: content.decode() * 3, recipe="thrice", cache=cache).each([text])
    )
    other = list(TokenCounts("cl100k_base", cache=cache).each([text]))

    assert len({plain[0].value, tripled[0].value, other[0].value}) == 3


def test_estimates_are_not_cached(cache: NumberCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_cache, "exact_counter", lambda encoding: Estimate("length", len))
    assert list(TokenCounts(cache=cache).each([b"abc" * 100_000])) == [TokenCount(300_000, exact=False)]
    monkeypatch.undo()

    (count,) = TokenCounts(cache=cache).each([b"abc abc"])
    assert count == TokenCount(2, exact=True)
    assert tokens.exact_counter().exact


@pytest.mark.usefixtures("batches")
def test_a_cancelled_count_ends_early(cache: NumberCache) -> None:
    stop = Event()
    contents = [b"content %d " % number * 20 for number in range(200)]
    seen = []
    for count in TokenCounts(cache=cache).each(contents, stop.is_set):
        seen.append(count)
        if len(seen) == 3:
            stop.set()

    assert seen == [exact_counter().measure(content.decode()) for content in contents[: len(seen)]]
    assert list(TokenCounts(cache=cache).each(contents, lambda: True)) == []
    assert len(list(TokenCounts(cache=cache).each(contents))) == len(contents)


def test_contents_are_read_as_they_are_counted(cache: NumberCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_cache, "_BATCH_BYTES", 10)
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"content %d" % taken

    counts = TokenCounts(cache=cache).each(endless())

    assert [next(counts).exact for _ in range(5)] == [True] * 5
    assert taken < 15


def test_a_text_that_the_engine_rejects_does_not_stop_the_count(cache: NumberCache) -> None:
    contents = [b" " * 1_000_000, b"a" * 120_000, "\ud800".encode("utf-8", "surrogatepass"), b"fine"]
    counts = list(TokenCounts(cache=cache).each(contents))

    assert len(counts) == 4
    assert counts[3] == TokenCount(1, exact=True)
