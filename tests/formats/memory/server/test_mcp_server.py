"""The memory server through the official client, in a process of its own, over both transports."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from ctxview.formats.memory.records import PLACEHOLDER, TOOLS
from ctxview.formats.memory.source import MemorySource
from tests.formats.memory.bundles import lens
from tests.formats.memory.server.clients import (
    LIMIT,
    TRANSPORTS,
    MemoryClient,
    ToolError,
    connected,
    killable,
    records,
)

pytestmark = pytest.mark.parametrize("transport", TRANSPORTS)


async def test_it_has_exactly_the_nine_tools(transport: str, tmp_path: Path) -> None:
    async with connected(transport, tmp_path) as memory:
        tools = (await memory.client.list_tools()).tools
    assert tuple(tool.name for tool in tools) == TOOLS
    assert all(tool.description and tool.input_schema["type"] == "object" for tool in tools)


async def test_a_session_as_the_document_describes_it(transport: str, tmp_path: Path) -> None:
    async with connected(transport, tmp_path) as memory:
        await memory.create()
        assert await memory.use("get_context") == PLACEHOLDER
        await memory.use("put_context", content="# Description\nA new conversation.")
        assert (await memory.use("list_entries", limit=10))["entries"] == []
        for number in range(6):
            await memory.add(f"lamp {number} hangs over the harbour")
        assert await memory.use("await_consistency") == {"status": "consistent"}
        await memory.use("put_context", content="# Facts\nLamps 0 to 5 hang over the harbour")
        assert await memory.use("get_context") == "# Facts\nLamps 0 to 5 hang over the harbour"
        listed = await memory.use("list_entries", limit=2)
        assert [entry["rawEntry"][:6] for entry in listed["entries"]] == ["lamp 5", "lamp 4"]
        assert listed["applied_limit"] == 2
        older = await memory.use("list_entries", limit=50, before=listed["next_before"])
        assert [entry["rawEntry"][5] for entry in older["entries"]] == ["3", "2", "1", "0"]
        newer = await memory.use("list_entries", limit=2, after=older["entries"][-1]["creationTime"])
        assert [entry["rawEntry"][5] for entry in newer["entries"]] == ["2", "1"]
        found = await memory.use("search_memories", query='harbour "lamp AND 3*', top_k=1)
        assert found["entries"][0]["rawEntry"] == "lamp 3 hangs over the harbour"
        assert found["latest_context"] == found["best_context"]
        about = await memory.use("get_memory")
        assert (about["title"], about["stats"]["entries"], about["stats"]["contexts"]) == ("chat", 6, 3)
        user = await memory.call("get_user")
        assert user["quotas"]["contextCharacters"] == 5000
        assert [each["memoryId"] for each in user["memories"]] == [memory.memory]


async def test_the_inspector_finds_nothing_wrong_with_what_the_server_writes(
    transport: str, tmp_path: Path
) -> None:
    async with connected(transport, tmp_path) as memory:
        await memory.create()
        await memory.use("get_context")
        await memory.use("put_context", content="# Description\nA new conversation.")
        await memory.use("list_entries", limit=10)
        await memory.use(
            "add_entry", raw_entry="The launch moved", summary="Ada moved the launch.", tags={"role": "user"}
        )
        await memory.use("await_consistency")
        await memory.use(
            "put_context", content="# Description\nA new conversation.\n# Facts\nThe launch moved"
        )
    assert [each.rule for each in MemorySource(tmp_path).findings(lens())] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        (
            "add_entry",
            {"raw_entry": "a", "summary": "x" * 513},
            "the summary has 513 characters and the cap is 512",
        ),
        ("add_entry", {"raw_entry": "a", "summary": "x" * 513 + "…"}, "the cap is 512"),
        ("add_entry", {"raw_entry": "a", "summary": " "}, "the summary is blank"),
        (
            "add_entry",
            {"raw_entry": "a", "summary": ["one", "two"]},
            "summary: Input should be a valid string",
        ),
        ("add_entry", {"raw_entry": "a"}, "summary: Field required"),
        ("add_entry", {"raw_entry": "a", "summary": "b", "entry_id": "e1"}, "entries are immutable"),
        (
            "add_entry",
            {"raw_entry": "a", "summary": "b", "role": "user"},
            "role: Extra inputs are not permitted",
        ),
        ("add_entry", {"raw_entry": "a", "summary": "b", "tags": {"n": 10**30}}, "at most 64 bits"),
        ("add_entry", {"raw_entry": "a" * 1_000_001, "summary": "b"}, "at most 1000000 characters"),
        ("put_context", {"content": "x" * 5001}, "the context has 5001 characters and the cap is 5000"),
        ("put_context", {"content": PLACEHOLDER}, "this is the default placeholder"),
        ("put_context", {"content": "a\x00b"}, "U+0000"),
        ("put_context", {"content": "\n "}, "the context is blank"),
        ("list_entries", {"before": "2026-05-11T09:00:00Z", "after": "2026-05-11T09:00:00Z"}, "not both"),
        ("list_entries", {"before": "last week"}, "is not a time"),
        ("list_entries", {"limit": 0}, "greater than or equal to 1"),
        ("search_memories", {"query": ""}, "at least 1 character"),
        ("get_memory", {"memory_id": "../../etc/passwd"}, "there is no memory '../../etc/passwd'"),
        ("get_memory", {"vault_id": "other"}, "is not in the vault"),
    ],
)
async def test_a_call_that_breaks_a_rule_is_a_tool_error_and_stores_nothing(
    transport: str, tmp_path: Path, tool: str, arguments: dict[str, object], message: str
) -> None:
    async with connected(transport, tmp_path) as memory:
        await memory.create()
        with pytest.raises(ToolError, match=re.escape(message)):
            await memory.call(tool, **{"memory_id": memory.memory, **arguments})
        assert (await memory.use("get_memory"))["stats"] == {
            "entries": 0,
            "contexts": 1,
            "contextCharacters": len(PLACEHOLDER),
            "lastEntryTime": None,
        }


async def test_513_characters_are_allowed_when_the_last_one_marks_a_cut(
    transport: str, tmp_path: Path
) -> None:
    async with connected(transport, tmp_path) as memory:
        await memory.create()
        await memory.use("add_entry", raw_entry="a", summary="x" * 512 + "…")
        await memory.use("add_entry", raw_entry="a", summary="x" * 512)
    assert len(records(tmp_path)) == 2


async def test_two_agents_at_once_lose_nothing(transport: str, tmp_path: Path) -> None:
    """Each agent has a server process of its own."""

    async def work(name: str, memory_id: str) -> None:
        async with connected(transport, tmp_path) as agent:
            agent.memory = memory_id
            for number in range(40):
                await agent.add(f"{name} {number}")
                if number % 10 == 9:
                    await agent.use("await_consistency")
                    await agent.use("put_context", content=f"{name} wrote {number + 1}")
            listed = await agent.use("list_entries", limit=50)
            assert sum(entry["rawEntry"].startswith(name) for entry in listed["entries"]) > 0

    async with connected(transport, tmp_path) as first:
        memory_id = await first.create()
        async with anyio.create_task_group() as both:
            both.start_soon(work, "keeper", memory_id)
            both.start_soon(work, "pilot", memory_id)
        assert (await first.use("get_memory"))["stats"]["entries"] == 80
    stored = records(tmp_path)
    assert {entry["rawEntry"] for entry in stored} == {
        f"{name} {number}" for name in ("keeper", "pilot") for number in range(40)
    }
    for name in ("entries.jsonl", "contexts.jsonl"):
        rows = records(tmp_path, name)
        times, ids = [row["creationTime"] for row in rows], [row[_key(name)] for row in rows]
        assert times == sorted(set(times))
        assert ids == sorted(set(ids))


async def test_a_second_connection_sees_what_the_first_stored(transport: str, tmp_path: Path) -> None:
    async with connected(transport, tmp_path) as one:
        await one.create()
        await one.add("the lamp is lit")
    async with connected(transport, tmp_path) as two:
        two.memory = one.memory
        found = await two.use("search_memories", query="lamp")
        assert [entry["rawEntry"] for entry in found["entries"]] == ["the lamp is lit"]
        with pytest.raises(ToolError, match="the title 'chat' is taken"):
            await two.create()


async def test_tags_that_a_person_edits_are_served(transport: str, tmp_path: Path) -> None:
    async with connected(transport, tmp_path) as memory:
        await memory.create()
        stored = await memory.add("the lamp is lit", tags={"role": "user"})
        with (tmp_path / "entries.jsonl").open("a") as file:
            update = {"entryId": stored["entryId"], "memoryId": memory.memory, "tags": {"role": "keeper"}}
            file.write(json.dumps({**update, "updateTime": "2026-05-11T09:00:00Z"}) + "\n")
        assert (await memory.use("list_entries"))["entries"][0]["tags"] == {"role": "keeper"}


async def test_a_killed_server_loses_nothing_that_it_confirmed(transport: str, tmp_path: Path) -> None:
    """Four calls are under way at each kill; what was under way may be stored or not, but never by half."""
    entries: list[str] = []
    contexts: list[str] = []
    async with connected(transport, tmp_path) as first:
        memory_id = await first.create()

    async def write(agent: MemoryClient, name: str) -> None:
        with suppress(Exception):
            for number in range(100_000):
                entries.append((await agent.add(f"{name} {number} " + "lamp " * 90))["entryId"])
                if number % 5 == 4:
                    await agent.use("await_consistency")
                    made = await agent.use("put_context", content=f"{name} {number}")
                    contexts.append(made["contextId"])

    for life in range(2):
        wanted = len(entries) + 40
        with suppress(Exception):
            async with killable(transport, tmp_path) as (agent, kill), anyio.create_task_group() as writers:
                agent.memory = memory_id
                for name in "abcd":
                    writers.start_soon(write, agent, f"{life}{name}")
                with anyio.fail_after(LIMIT):
                    while len(entries) < wanted:
                        await anyio.sleep(0.005)
                kill()
        assert len(entries) >= wanted
    async with connected(transport, tmp_path) as last:
        last.memory = memory_id
        stats = (await last.use("get_memory"))["stats"]
    for name, confirmed, counted in (
        ("entries.jsonl", entries, stats["entries"]),
        ("contexts.jsonl", contexts, stats["contexts"]),
    ):
        stored = [row[_key(name)] for row in records(tmp_path, name)]
        assert set(confirmed) <= set(stored)
        assert stored == sorted(set(stored))
        assert counted == len(stored)


def _key(name: str) -> str:
    return "entryId" if name == "entries.jsonl" else "contextId"
