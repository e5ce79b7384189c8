"""The memory service over MCP: standard input and output, or HTTP on loopback with a bearer token.

The official SDK speaks the protocol. Work runs in threads, so that one slow disk does not stop other clients.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.to_thread
import mcp_types as types
import orjson
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from ctxview import __version__
from ctxview.core.origin import JsonValue
from ctxview.formats.memory.server.arguments import TOOL_MODELS, Refused
from ctxview.formats.memory.server.log_files import StorageFailed
from ctxview.formats.memory.server.service import MemoryService

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

INSTRUCTIONS: Final = """\
A memory that outlives this conversation. get_user lists the memories; create_memory makes one.
Start: get_context, then list_entries with limit 10. Store messages with add_entry (raw text and one summary).
After about 6 stored messages, and before the end: await_consistency, then put_context.
Grow the context from raw entries, never from summaries.
"""
LOOPBACK: Final = "127.0.0.1"
PATH: Final = "/mcp"
LARGEST_BODY: Final = 4 * 1024 * 1024
LONGEST_SESSION: Final = 64


def make_server(service: MemoryService, session: str | None = None) -> Server[dict[str, Any]]:
    """Return the server of a service; `session` names the only client of a process."""

    async def list_tools(
        _context: ServerRequestContext[dict[str, Any]], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=_tools())

    async def call_tool(
        context: ServerRequestContext[dict[str, Any]], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        client = session or _session_of(context)
        work = partial(service.call, params.name, params.arguments or {}, client)
        try:
            outcome = await anyio.to_thread.run_sync(work)
        except (Refused, StorageFailed) as error:
            return _error(str(error))
        except Exception as error:  # noqa: BLE001 - one failed call must not end the server
            print(f"ctxview: {params.name} failed: {type(error).__name__}: {error}", file=sys.stderr)
            return _error(f"{params.name} failed because of a fault in the server: {type(error).__name__}")
        return _result(outcome)

    return Server(
        "ctxview-memory",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def serve_stdio(service: MemoryService) -> None:
    """Serve the client at standard input and output until it closes them."""
    session = secrets.token_hex(4)
    service.opened(session)
    server = make_server(service, session)
    service.read_ahead()
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


async def serve_http(service: MemoryService, listening: socket.socket, token: str) -> None:
    """Serve any number of clients of a socket; each request must carry the token."""
    import uvicorn

    server = make_server(service)
    app = RequireToken(
        server.streamable_http_app(streamable_http_path=PATH, max_request_body_size=LARGEST_BODY), token
    )
    service.read_ahead()
    config = uvicorn.Config(app, log_level="error", access_log=False, ws="none")
    await uvicorn.Server(config).serve([listening])


class RequireToken:
    """Answers 401 to every request without the bearer token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"a bearer token is required\n"})
                return
        await self._app(scope, receive, send)


def _tools() -> list[types.Tool]:
    made = []
    for name, model in TOOL_MODELS.items():
        schema = model.model_json_schema()
        description = str(schema.pop("description", ""))
        made.append(types.Tool(name=name, description=description, input_schema=schema))
    return made


def _session_of(context: ServerRequestContext[dict[str, Any]]) -> str:
    """Return what tells an HTTP client from the others: newer protocols have no session id."""
    request, about = context.request, context.session.client_params
    given = (request.headers.get("mcp-session-id"), request.query_params.get("client")) if request else ()
    found = next(filter(None, given), None) or (about.client_info.name if about is not None else "http")
    return str(found)[:LONGEST_SESSION]


def _result(outcome: JsonValue) -> types.CallToolResult:
    text = outcome if isinstance(outcome, str) else orjson.dumps(outcome).decode()
    structured = outcome if isinstance(outcome, dict) else None
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=structured
    )


def _error(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=message)], is_error=True)
