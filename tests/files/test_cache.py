"""The cache of numbers, which may lose numbers but never returns wrong ones."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from array import array
from pathlib import Path

import pytest

from ctxview.files.cache import NumberCache, content_key
from tests.running import LIMIT, default_signals

NUMBERS = {content_key("test", b"%d" % number): array("I", [number]) for number in range(2000)}


@pytest.fixture
def cache(tmp_path: Path) -> NumberCache:
    return NumberCache(tmp_path / "cache")


@pytest.fixture
def cache_file(cache: NumberCache, tmp_path: Path) -> Path:
    """The file of a cache that holds the numbers and is closed."""
    cache.put(NUMBERS)
    cache.close()
    (file,) = (tmp_path / "cache").iterdir()
    return file


def test_a_number_is_known_the_next_time(cache: NumberCache, tmp_path: Path) -> None:
    assert cache.get(NUMBERS) == {}
    cache.put(NUMBERS)

    assert cache.get(NUMBERS) == NUMBERS
    assert NumberCache(tmp_path / "cache").get([*NUMBERS, b"unknown"]) == NUMBERS


def test_the_cache_is_in_the_users_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    NumberCache().put(NUMBERS)

    assert [path.name for path in (tmp_path / "home" / "ctxview").iterdir()] == ["numbers-1.sqlite"]
    assert (tmp_path / "home" / "ctxview").stat().st_mode & 0o077 == 0


def test_content_and_kind_make_the_key() -> None:
    contents = [(), (b"",), (b"", b""), (b"a",), (b"ab",), (b"a", b"b"), (b"", b"ab")]
    keys = {content_key(kind, *each) for kind in ("a", "b", "ab") for each in contents}

    assert len(keys) == 21
    assert content_key("a", b"x") == content_key("a", b"x")


def test_a_key_may_have_any_numbers(cache: NumberCache) -> None:
    numbers = {b"none": array("I"), b"ends": array("I", [0, (1 << 32) - 1]), b"many": array("I", range(9999))}
    cache.put(numbers)

    assert cache.get(numbers) == numbers


@pytest.mark.parametrize(
    "content", [b"", b"no database at all" * 1000, b"SQLite format 3\0" + b"\xff" * 9000]
)
def test_a_file_that_is_not_a_cache_is_deleted(cache_file: Path, content: bytes) -> None:
    cache_file.write_bytes(content)
    cache = NumberCache(cache_file.parent)

    assert cache.get(NUMBERS) == {}
    cache.put(NUMBERS)
    assert cache.get(NUMBERS) == NUMBERS


def test_damaged_bytes_never_make_a_wrong_number(cache_file: Path) -> None:
    sound = cache_file.read_bytes()
    chance = random.Random(7)
    for _ in range(60):
        damaged = bytearray(sound)
        for _ in range(20):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        cache_file.write_bytes(damaged)
        found = NumberCache(cache_file.parent).get(NUMBERS)
        assert all(NUMBERS[key] == numbers for key, numbers in found.items())


def test_another_layout_is_deleted(cache_file: Path) -> None:
    with sqlite3.connect(cache_file) as other:
        other.execute("DROP TABLE numbers")
        other.execute("CREATE TABLE numbers (something TEXT)")
    other.close()
    cache = NumberCache(cache_file.parent)
    cache.put(NUMBERS)

    assert cache.get(NUMBERS) == NUMBERS


def test_a_cache_has_a_largest_size(tmp_path: Path) -> None:
    cache = NumberCache(tmp_path, limit=256 * 1024)
    for start in range(0, 200_000, 2000):
        newest = {
            content_key("test", b"%d" % (start + number)): array("I", [number]) for number in range(2000)
        }
        cache.put(newest)

        assert cache.get(newest) == newest
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size <= 256 * 1024


def test_without_a_folder_the_numbers_are_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"a file where the folder should be")
    cache = NumberCache(tmp_path / "cache")
    cache.put(NUMBERS)

    assert cache.get(NUMBERS) == NUMBERS
    assert (tmp_path / "cache").read_bytes() == b"a file where the folder should be"


def test_a_busy_cache_is_left_alone(cache_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxview.files.cache._WAIT_SECONDS", 0.01)
    other = sqlite3.connect(cache_file)
    other.execute("BEGIN EXCLUSIVE")
    cache = NumberCache(cache_file.parent)

    assert cache.get(NUMBERS) == {}
    cache.put({b"new": [1]})
    other.rollback()
    other.close()
    assert NumberCache(cache_file.parent).get(NUMBERS) == NUMBERS


def test_several_processes_share_a_cache(tmp_path: Path) -> None:
    program = """
import sys
from array import array
from pathlib import Path
from ctxview.files.cache import NumberCache, content_key
cache = NumberCache(Path(sys.argv[1]))
for start in range(0, 2000, 100):
    some = range(start, start + 100)
    numbers = {content_key("test", b"%d" % number): array("I", [number]) for number in some}
    cache.put(numbers)
    assert cache.get(numbers) == numbers
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    running = [subprocess.Popen(command, preexec_fn=default_signals) for _ in range(3)]

    assert [process.wait(LIMIT) for process in running] == [0, 0, 0]
    assert NumberCache(tmp_path).get(NUMBERS) == NUMBERS
