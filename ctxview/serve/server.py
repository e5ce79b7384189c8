"""Serves the inspector on loopback: the page, the terminal in it, and one process for each viewer."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import textual_serve
from aiohttp import WSMsgType, web

from ctxview.files.visible_text import visible
from ctxview.serve.access import WEBSOCKET, Access
from ctxview.serve.viewer_process import ViewerProcess

PAGE = Path(__file__).parent / "page"
TERMINAL = Path(textual_serve.__file__).parent / "static"
"""The terminal for browsers that textual-serve ships: a script, a style sheet and fonts."""
LARGEST_MESSAGE = 64 * 1024
HOST = "127.0.0.1"


class InspectorServer:
    """One page that shows an inspector to each viewer."""

    def __init__(self, command: Sequence[str], title: str, port: int, most_viewers: int) -> None:
        """`command` starts an inspector. Raises `OSError` when the port is taken; 0 takes any free one."""
        self._command = command
        self._title = title
        self._most_viewers = most_viewers
        self._viewers: set[ViewerProcess] = set()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((HOST, port))
        except OSError:
            self._socket.close()
            raise
        self.access = Access(self._socket.getsockname()[1])

    def serve(self, ready: Callable[[], object]) -> None:
        """Serve until SIGINT or SIGTERM; `ready` is called when viewers may come."""
        asyncio.run(self._serve(ready))

    async def _serve(self, ready: Callable[[], object]) -> None:
        stop = asyncio.Event()
        for each in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(each, stop.set)
        runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.SockSite(runner, self._socket).start()
            ready()
            await stop.wait()
        finally:
            await asyncio.gather(*(viewer.stop() for viewer in list(self._viewers)))
            await runner.cleanup()

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self.access.middleware()])
        application.add_routes(
            [
                web.get("/", self._page),
                web.get(WEBSOCKET, self._connection),
                web.static("/page", PAGE),
                web.static("/static", TERMINAL),
            ]
        )
        return application

    async def _page(self, _: web.Request) -> web.Response:
        page = (PAGE / "index.html").read_text("utf-8")
        values = {"@websocket@": self.access.websocket_address, "@title@": visible(self._title)}
        for name, value in values.items():
            page = page.replace(name, escape(value))
        return web.Response(text=page, content_type="text/html")

    async def _connection(self, request: web.Request) -> web.StreamResponse:
        if len(self._viewers) >= self._most_viewers:
            return web.Response(status=503, text=f"{self._most_viewers} viewers are connected already.\n")
        websocket = web.WebSocketResponse(heartbeat=15, max_msg_size=LARGEST_MESSAGE)
        viewer = ViewerProcess(self._command, websocket.send_bytes, websocket.send_str, websocket.close)
        self._viewers.add(viewer)
        try:
            await websocket.prepare(request)
            await viewer.start(_number(request, "width", 80), _number(request, "height", 24))
            async for message in websocket:
                if message.type is WSMsgType.TEXT:
                    await viewer.take(_decoded(message.data))
        except ConnectionError:
            pass  # the page is gone
        finally:
            await asyncio.shield(viewer.stop())
            self._viewers.discard(viewer)
        return websocket


def _number(request: web.Request, name: str, default: int) -> int:
    text = request.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else default


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
