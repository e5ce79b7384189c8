"""MCP clients of a memory server that runs in a process of its own, over both transports."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.running import LIMIT, default_signals

TOKEN = "a-token-for-tests-only"
TRANSPORTS = ("stdio", "http")
START = [sys.executable, "-m", "ctxview", "memory", "serve"]


class MemoryClient:
    """The tools of one memory; a refused call raises `ToolError`."""

    def __init__(self, client: Client, memory: str = "") -> None:
        self.client = client
        self.memory = memory

    async def call(self, tool: str, **arguments: Any) -> Any:
        result = await self.client.call_tool(tool, arguments)
        text = result.content[0].text  # type: ignore[union-attr]
        if result.is_error:
            raise ToolError(text)
        return text if tool == "get_context" else json.loads(text)

    async def use(self, tool: str, **arguments: Any) -> Any:
        return await self.call(tool, memory_id=self.memory, **arguments)

    async def create(self, title: str = "chat") -> str:
        made = await self.call("create_memory", title=title, memory_type="chat")
        self.memory = made["memoryId"]
        return self.memory

    async def add(self, raw: str, **more: Any) -> dict[str, Any]:
        made: dict[str, Any] = await self.use("add_entry", raw_entry=raw, summary=f"Ada said {raw}.", **more)
        return made


class ToolError(Exception):
    """The message of a tool error."""


@asynccontextmanager
async def connected(transport: str, folder: Path) -> AsyncIterator[MemoryClient]:
    """Start a server for `folder`, and connect to it."""
    async with killable(transport, folder) as (client, _):
        yield client


@asynccontextmanager
async def killable(transport: str, folder: Path) -> AsyncIterator[tuple[MemoryClient, Callable[[], None]]]:
    """Start a server for `folder`, and connect to it; the function kills the server at once."""
    if transport == "http":
        async with http_server(folder) as (port, process), http_client(port) as client:
            yield client, process.kill
        return
    number = folder.with_suffix(".pid")
    script = 'echo $$ > "$0"; exec "$@"'
    arguments = ["-c", script, str(number), *START, str(folder)]
    async with Client(StdioServerParameters(command="sh", args=arguments, cwd=Path.cwd())) as stdio:
        yield MemoryClient(stdio), lambda: os.kill(int(number.read_text()), signal.SIGKILL)


@asynccontextmanager
async def http_server(folder: Path) -> AsyncIterator[tuple[int, subprocess.Popen[bytes]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    environment = {**os.environ, "CTXVIEW_MEMORY_TOKEN": TOKEN}
    command = [*START, str(folder), "--http", str(port)]
    process = subprocess.Popen(
        command, env=environment, stderr=subprocess.DEVNULL, preexec_fn=default_signals
    )
    try:
        with anyio.fail_after(LIMIT):
            while not _listens(port):
                await anyio.sleep(0.02)
        yield port, process
    finally:
        process.kill()
        process.wait(LIMIT)


@asynccontextmanager
async def http_client(port: int, query: str = "") -> AsyncIterator[MemoryClient]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=LIMIT) as http,
        Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp{query}", http_client=http)) as client,
    ):
        yield MemoryClient(client)


def records(folder: Path, name: str = "entries.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def _listens(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0
