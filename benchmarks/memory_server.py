"""Measure the memory server and large bundles: writes, search, start, and the first look of the inspector.

The client is the official one and runs in this process; the server has a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from statistics import median

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from benchmarks.figures import Figure, against, at_least, at_most, run
from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, open_source
from ctxview.formats.memory.server.service import MemoryService
from tests.pty_session import PtySession

WRITES_GOAL = 500
SEARCH_GOAL = 0.020
START_GOAL = 0.6
SHOWN_GOAL = 0.3
OPEN_GOAL = 1.5
ENTRIES = 100_000
FEW = 100
AT_ONCE = 8
WORDS = [f"{first}{last}" for first in ("lamp", "hall", "wall", "boat", "quay") for last in range(400)]
START = datetime(2026, 5, 1)
LENS = Lens(ESTIMATES["bytes/4"], hurry=True)


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--writes", type=int, default=2000)
    parser.add_argument("--entries", type=int, default=ENTRIES)
    parser.add_argument("--repeat", type=int, default=15)


def measure(arguments: Namespace) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        yield from asyncio.run(_writes(Path(name) / "new", arguments.writes))
        few, many = Path(name) / "few", Path(name) / "many"
        _write_bundle(few, FEW)
        _write_bundle(many, arguments.entries)
        starts = [asyncio.run(_start(many)) for _ in range(5)]
        yield at_most(
            f"start of the server with {arguments.entries:,} entries", median(starts), START_GOAL, "s"
        )
        yield at_most(
            f"  a search in {arguments.entries:,} entries", _search(many, arguments.repeat), SEARCH_GOAL, "ms"
        )
        yield at_most("  a new entry on the screen", _shown(Path(name)), SHOWN_GOAL, "ms")
        pairs = [(_first_look(few), _first_look(many)) for _ in range(arguments.repeat)]
        small, large = (median(times) for times in zip(*pairs, strict=True))
        yield against(
            f"first look at {arguments.entries:,} entries", large, f"{FEW} entries", small, OPEN_GOAL
        )


def _parameters(folder: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "ctxview", "memory", "serve", str(folder)]
    )


async def _writes(folder: Path, count: int) -> list[Figure]:
    """Confirmed writes of one client with a few calls under way, as agents with parallel tool calls have."""
    async with Client(_parameters(folder)) as client:
        made = await client.call_tool("create_memory", {"title": "chat", "memory_type": "chat"})
        memory = json.loads(made.content[0].text)["memoryId"]  # type: ignore[union-attr]

        async def write(number: int) -> None:
            text = f"Message {number}: the lamp of hall 3 hangs over the quay and is lit at nine."
            arguments = {"memory_id": memory, "raw_entry": text, "summary": f"Ada lit lamp {number}."}
            result = await client.call_tool("add_entry", arguments)
            assert not result.is_error

        begun = time.perf_counter()
        for first in range(0, count, AT_ONCE):
            await asyncio.gather(*(write(first + number) for number in range(AT_ONCE)))
        rate = count / (time.perf_counter() - begun)
    return [at_least("confirmed writes through MCP, a second", rate, WRITES_GOAL, "texts")]


async def _start(folder: Path) -> float:
    """The time until the server answered the first request."""
    begun = time.perf_counter()
    async with Client(_parameters(folder)) as client:
        await client.list_tools()
        return time.perf_counter() - begun


def _search(folder: Path, repeat: int) -> float:
    service, random = MemoryService(folder, trace=False), Random(1)
    service.call("search_memories", {"memory_id": "m", "query": "warm up"}, "b")
    times = []
    for _ in range(repeat * 4):
        query = " ".join(random.sample(WORDS, 2)) + " lamp"
        begun = time.perf_counter()
        service.call("search_memories", {"memory_id": "m", "query": query, "top_k": 5}, "b")
        times.append(time.perf_counter() - begun)
    service.close()
    return median(times)


def _shown(folder: Path, times: int = 9) -> float:
    """The time from a confirmed write until the inspector, which watches the folder, shows the entry."""
    service = MemoryService(folder / "watched")
    made = service.call("create_memory", {"title": "chat", "memory_type": "chat"}, "b")
    assert isinstance(made, dict)
    waits = []
    env = {**os.environ, "XDG_STATE_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    start = [sys.executable, "-m", "ctxview", str(folder / "watched")]
    with PtySession(start, env=env, columns=120, rows=36) as screen:
        screen.wait_for("Overview")
        screen.press("2")
        for number in range(times):
            word = f"Quay{number}lamp"
            texts = {"raw_entry": f"{word} is lit.", "summary": "Ada lit it."}
            service.call("add_entry", {"memory_id": made["memoryId"], **texts}, "b")
            begun = time.perf_counter()
            screen.wait_for(word)
            waits.append(time.perf_counter() - begun)
            time.sleep(0.5)
    service.close()
    return median(waits)


def _first_look(folder: Path) -> float:
    """Opening until there is a state to draw."""
    begun = time.perf_counter()
    source = open_source(folder)
    source.reading(len(source.revisions) - 1, LENS)
    return time.perf_counter() - begun


def _write_bundle(folder: Path, count: int) -> None:
    folder.mkdir()
    random = Random(count)
    (folder / "memories.jsonl").write_text('{"memoryId":"m","title":"chat","memoryType":"chat"}\n')
    with (folder / "entries.jsonl").open("w") as file:
        for number in range(count):
            words = " ".join(random.choices(WORDS, k=24))
            row = {"entryId": f"e{number:06}", "memoryId": "m", "rawEntry": f"{words} at the lamp {number}"}
            time_text = f"{START + timedelta(seconds=number):%Y-%m-%dT%H:%M:%S}Z"
            row |= {"summary": f"Ada said {words[:60]}.", "creationTime": time_text}
            file.write(json.dumps(row) + "\n")
    with (folder / "contexts.jsonl").open("w") as file:
        for number in range(count // 6):
            row = {"contextId": f"c{number:06}", "memoryId": "m", "context": f"# Facts\nLamp {number} is lit"}
            file.write(json.dumps({**row, "creationTime": "2026-05-03T00:00:00Z"}) + "\n")


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
