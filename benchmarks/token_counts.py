"""Measure exact token counts of a long history, first and cached, against tiktoken on the same cores."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from tiktoken import Encoding

from benchmarks.figures import Figure, against, run
from benchmarks.session_data import SIZES, write_session
from ctxview.analysis.token_cache import TokenCounts
from ctxview.analysis.token_tables import O200K_BASE, load_encoding
from ctxview.analysis.tokens import exact_counter
from ctxview.files.cache import NumberCache
from ctxview.files.line_file import open_lines

FIRST_GOAL = 1.15
AGAIN_GOAL = 0.02
AT_ONCE = 4_000_000


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--size", choices=SIZES, default="100MB")


def measure(arguments: Namespace) -> Iterator[Figure]:
    exact_counter()  # loading the table is not measured
    encoding = load_encoding(O200K_BASE)
    with tempfile.TemporaryDirectory() as folder:
        session = write_session(Path(folder) / "session", SIZES[arguments.size]).folder
        caches = [Path(folder) / f"cache-{number}" for number in range(arguments.repeat)]
        rounds = [
            (_tiktoken_alone(session, encoding), _ours(session, cache), _ours(session, cache))
            for cache in caches
        ]
    # Both use all cores, so processor time would not show idle ones; other programs only add time.
    alone, first, again = (min(times) for times in zip(*rounds, strict=True))
    peer = "tiktoken alone, as many cores"
    yield against(f"exact tokens of {arguments.size}, the first time", first, peer, alone, FIRST_GOAL, "s")
    yield against("  and again", again, peer, alone, AGAIN_GOAL, "s")


def _tiktoken_alone(session: Path, encoding: Encoding) -> float:
    started = time.perf_counter()
    texts: list[str] = []
    size = 0
    for line in open_lines(session, "messages.jsonl").lines():
        texts.append(line.content.decode())
        size += len(line.content)
        if size > AT_ONCE:
            encoding.encode_ordinary_batch(texts, num_threads=_cores())
            texts, size = [], 0
    encoding.encode_ordinary_batch(texts, num_threads=_cores())
    return time.perf_counter() - started


def _ours(session: Path, cache: Path) -> float:
    """Seconds to count with the cache in `cache`, as in a new process."""
    started = time.perf_counter()
    contents = (line.content for line in open_lines(session, "messages.jsonl").lines())
    for _ in TokenCounts(cache=NumberCache(cache)).each(contents):
        pass
    return time.perf_counter() - started


def _cores() -> int:
    return len(os.sched_getaffinity(0))


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
