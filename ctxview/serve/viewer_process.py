"""One inspector for one viewer: a process of its own, connected to the page through pipes."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence

from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

LONGEST_QUIT = 5.0
"""Seconds until a process that was asked to quit is killed."""
LARGEST_PACKET = 16 * 1024 * 1024
MOST_UNREAD = 1024 * 1024
"""Bytes of input that wait for a process; it hangs, and further input is ignored."""
READY = b"__GANGLION__\n"
"""The line that the toolkit prints before its first packet."""
COLUMNS, ROWS = (20, 500), (5, 200)


class ViewerProcess(AppService):
    """Speaks the protocol of the toolkit with its process, which no shell starts."""

    def __init__(
        self,
        command: Sequence[str],
        write_bytes: Callable[[bytes], Awaitable[None]],
        write_str: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[object]],
    ) -> None:
        async def end() -> None:
            await close()

        super().__init__(
            "", write_bytes=write_bytes, write_str=write_str, close=end, download_manager=DownloadManager()
        )
        self._words = command

    async def start(self, width: int, height: int) -> None:
        self._process = process = await asyncio.create_subprocess_exec(
            *self._words,
            stdin=PIPE,
            stdout=PIPE,
            stderr=None,  # what it says about errors goes to the terminal of the server, never to the page
            env=self._build_environment(bounded(width, COLUMNS), bounded(height, ROWS)),
        )
        assert process.stdin is not None
        self._stdin = process.stdin
        # Writing never waits, so the end of a page is noticed even when its process hangs.
        process.stdin.transport.set_write_buffer_limits(2 * MOST_UNREAD)
        self._task = asyncio.create_task(self._pass_on(process))

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        return {
            **super()._build_environment(width, height),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "TEXTUAL_FPS": "120",
            "PYTHONUTF8": "1",
            "PYTHONIOENCODING": "utf-8",
        }

    async def stop(self) -> None:
        """Ask the process to quit, and kill it if it does not; any number of calls do this once."""
        process, self._process = self._process, None
        if process is None or self._task is None:
            return
        try:
            async with asyncio.timeout(LONGEST_QUIT):
                await self.send_meta({"type": "quit"})
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        finally:
            self._task.cancel()

    async def take(self, message: object) -> None:
        """Pass on a message of the page; what is not one of the known messages is ignored."""
        if self.stdin.transport.get_write_buffer_size() > MOST_UNREAD:
            return
        match message:
            case ["stdin", str(data)]:
                await self.send_bytes(data.encode("utf-8", "replace"))
            case ["resize", {"width": int(width), "height": int(height)}]:
                await self.set_terminal_size(bounded(width, COLUMNS), bounded(height, ROWS))
            case ["ping", str() | int() | float() as data]:
                await self.remote_write_str(json.dumps(["pong", data]))
            case ["focus", *_]:
                await self.focus()
            case ["blur", *_]:
                await self.blur()

    async def on_meta(self, data: bytes) -> None:
        """Take a message of the process: it ends, or it has a draft that closing the page would lose."""
        message: Mapping[str, object] = json.loads(data)
        if message.get("type") == "exit":
            await self.remote_close()
        elif message.get("type") == "draft":
            await self.remote_write_str(json.dumps(["draft", bool(message.get("unsaved"))]))

    async def _pass_on(self, process: Process) -> None:
        """Pass the output of the process on to the page until it ends."""
        output = process.stdout
        assert output is not None
        try:
            while await output.readline() not in (READY, b""):
                pass  # nothing before it is for the page
            while True:
                kind = await output.readexactly(1)
                size = int.from_bytes(await output.readexactly(4), "big")
                if size > LARGEST_PACKET:
                    print("ctxview: a viewer sent a packet that is too large", file=sys.stderr)
                    break
                payload = await output.readexactly(size)
                if kind == b"D":
                    await self.on_data(payload)
                elif kind == b"M":
                    await self.on_meta(payload)
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            pass  # the process or the page is gone
        await self.remote_close()


def bounded(number: int, bounds: tuple[int, int]) -> int:
    return min(max(number, bounds[0]), bounds[1])
