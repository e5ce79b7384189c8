"""What only one transport of the memory server has: tokens, ports and several clients, or an interrupt."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from pathlib import Path

import anyio
import httpx2
import pytest

from ctxview.formats.memory.source import MemorySource
from tests.formats.memory.bundles import lens
from tests.formats.memory.server.clients import START, TOKEN, http_client, http_server, records
from tests.running import LIMIT, default_signals, line_of


async def test_http_needs_the_token(tmp_path: Path) -> None:
    async with http_server(tmp_path) as (port, _), httpx2.AsyncClient() as http:
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic x"}):
            reply = await http.post(f"http://127.0.0.1:{port}/mcp", content=b"{}", headers=header)
            assert reply.status_code == 401


async def test_garbage_over_http_does_not_end_the_server(tmp_path: Path) -> None:
    async with http_server(tmp_path) as (port, _), httpx2.AsyncClient() as http:
        url = f"http://127.0.0.1:{port}/mcp"
        headers = {"Authorization": f"Bearer {TOKEN}"}
        for body in (b"\xff\xfe{", b"[]", b"{" * 10_000, b"x" * 5_000_000):
            assert 400 <= (await http.post(url, content=body, headers=headers)).status_code < 500
        async with http_client(port) as memory:
            await memory.create()


async def test_two_clients_of_one_http_server_lose_nothing_and_are_judged_apart(tmp_path: Path) -> None:
    async def work(port: int, name: str, memory_id: str) -> None:
        async with http_client(port, f"?client={name}") as agent:
            agent.memory = memory_id
            await agent.use("get_context")
            await agent.use("list_entries", limit=10)
            for number in range(24):
                await agent.add(f"{name} lit lamp {number}", tags={"role": "user"})
                if number % 6 == 5:
                    await agent.use("await_consistency")
                    await agent.use("put_context", content=f"# Facts\n{name} lit lamp {number}")

    async with http_server(tmp_path) as (port, _), http_client(port) as first:
        memory_id = await first.create()
        await first.use("put_context", content="# Description\nThe lamps.")
        async with anyio.create_task_group() as both:
            both.start_soon(work, port, "keeper", memory_id)
            both.start_soon(work, port, "pilot", memory_id)
    assert {entry["rawEntry"] for entry in records(tmp_path)} == {
        f"{name} lit lamp {number}" for name in ("keeper", "pilot") for number in range(24)
    }
    assert {line["session"] for line in records(tmp_path, "trace.jsonl")} >= {"keeper", "pilot"}
    found = {each.rule for each in MemorySource(tmp_path).findings(lens())}
    assert not found & {"MTR005", "MTR006", "MTR007"}


def test_a_port_in_use_is_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [*START, str(tmp_path), "--http", str(port)]
        ran = subprocess.run(command, capture_output=True, timeout=LIMIT, check=False, text=True)
    assert (ran.returncode, ran.stderr) == (
        2,
        f"ctxview: port {port} of 127.0.0.1 cannot be used: address already in use\n",
    )


@pytest.mark.parametrize(
    ("folder", "message"),
    [("", "expected a folder, found an empty text"), (__file__, "it is not a folder")],
)
def test_a_folder_that_is_none_is_one_sentence(folder: str, message: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [*START, folder], capture_output=True, timeout=LIMIT, check=False, text=True, cwd=tmp_path
    )
    assert ran.returncode == 2
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_garbage_over_stdio_does_not_end_the_server(tmp_path: Path) -> None:
    lines = (b"\xff\xfe garbage", b"[]", b"{" * 10_000, b'{"jsonrpc": "2.0", "id": 1, "method": 7}')
    sent = b"\n".join((*lines, _initialise(2))) + b"\n"
    ran = subprocess.run([*START, str(tmp_path)], input=sent, capture_output=True, timeout=LIMIT, check=False)
    replies = [json.loads(line) for line in ran.stdout.splitlines()]
    assert any(reply.get("id") == 2 and "result" in reply for reply in replies)
    assert ran.returncode == 0


def test_an_interrupt_ends_the_server_while_it_waits_for_input(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*START, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        preexec_fn=default_signals,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(_initialise(1) + b"\n")
        assert b"result" in line_of(process, process.stdout)
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(LIMIT) == -signal.SIGINT
        finally:
            process.kill()


def _initialise(number: int) -> bytes:
    client = {"name": "t", "version": "1"}
    params = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}).encode()
