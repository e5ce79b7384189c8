"""A running `ctxview serve`, and a viewer that speaks with it without a browser."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from tests.running import LIMIT, Program


class RunningServer:
    """The address parts of a server, and its processes."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.address = program.read_until("http://127.0.0.1:").strip()
        self.origin, _, self.token = self.address.partition("/?token=")
        self.port = self.origin.rpartition(":")[2]

    @property
    def viewers(self) -> list[int]:
        """The processes of its viewers."""
        return children_of(self.program.process.pid)


@contextmanager
def serving(*arguments: str | Path) -> Iterator[RunningServer]:
    command = [sys.executable, "-m", "ctxview", "serve", "--tokens", "bytes/3", *arguments]
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with Program(command, env) as program:
        yield RunningServer(program)


def children_of(process: int) -> list[int]:
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(words[1]) == process and words[0] != "Z":
            found.append(int(each.parent.name))
    return found


async def until(holds: object, what: str) -> None:
    """Wait for a state of other processes."""
    assert callable(holds)
    for _ in range(int(LIMIT / 0.02)):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"waited until {what}")


class Viewer:
    """A WebSocket of a viewer, with all that it was sent."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.output = b""

    async def read_until(self, marker: str) -> None:
        """Read until `marker` is in the output that came since the last call."""
        while marker.encode() not in self.output:
            try:
                message = await self.socket.receive(LIMIT)
            except TimeoutError:
                raise AssertionError(f"no {marker!r} in {LIMIT:.0f} s: {self.output[-2000:]!r}") from None
            assert message.type in (WSMsgType.BINARY, WSMsgType.TEXT), (
                f"no {marker!r}: {self.output[-2000:]!r}"
            )
            self.output += message.data.encode() if isinstance(message.data, str) else message.data
        self.output = self.output.partition(marker.encode())[2]

    async def press(self, keys: str) -> None:
        await self.send(["stdin", keys])

    async def send(self, message: object) -> None:
        await self.socket.send_str(json.dumps(message))


@asynccontextmanager
async def visiting(server: RunningServer) -> AsyncIterator[ClientSession]:
    """A visitor that has opened the printed address and got its cookie."""
    async with ClientSession() as session:
        async with session.get(server.address, allow_redirects=False) as answer:
            cookie = answer.headers["Set-Cookie"].partition(";")[0]
        session.headers["Cookie"] = cookie
        yield session


@asynccontextmanager
async def viewing(server: RunningServer, size: str = "width=120&height=36") -> AsyncIterator[Viewer]:
    async with (
        visiting(server) as session,
        session.ws_connect(f"{server.origin}/ws?{size}", origin=server.origin) as socket,
    ):
        yield Viewer(socket)
