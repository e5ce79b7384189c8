"""`ctxview memory serve DIR`: give any MCP agent a memory that is stored in DIR.

Exit 0 when the client leaves, 2 error.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from ctxview.reports.console import UserError, print_lines

TOKEN = "CTXVIEW_MEMORY_TOKEN"
LEAST_TOKEN = 16
LARGEST_PORT = 65535
DESCRIPTION = f"""
The server speaks MCP over standard input and output: add it to the settings of
your agent. It stores JSON lines in DIR and only appends to them; open DIR with
ctxview to watch. Agents that cannot start programs use --http: the server
listens on 127.0.0.1 and takes the bearer token of {TOKEN}, or
prints a new one. Several servers may share one DIR.
"""


def configure(parser: ArgumentParser) -> None:
    parser.description = f"{parser.description}\n{DESCRIPTION}"
    parser.add_argument("action", metavar="serve", choices=("serve",), help="run the memory server")
    parser.add_argument(
        "folder", metavar="DIR", type=_folder, help="the folder of the memory; made when absent"
    )
    parser.add_argument("--http", metavar="PORT", type=_port, help="listen on this port of 127.0.0.1")
    parser.add_argument("--user", metavar="NAME", default="local user", help="the name that get_user returns")
    parser.add_argument("--no-trace", action="store_true", help="do not write the calls to trace.jsonl")


def run(arguments: Namespace) -> int:
    try:
        import anyio

        from ctxview.formats.memory.server.mcp_server import LOOPBACK, PATH, serve_http, serve_stdio
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "ctxview":
            raise
        raise UserError("the memory server needs an extra: pip install 'ctxview[mcp]'") from None
    from ctxview.formats.memory.server.log_files import StorageFailed
    from ctxview.formats.memory.server.service import MemoryService

    try:
        service = MemoryService(arguments.folder, arguments.user, trace=not arguments.no_trace)
    except StorageFailed as error:
        raise UserError(str(error)) from None
    if service.problem is not None:
        print_lines([f"ctxview: {service.problem}"], sys.stderr)
    if arguments.http is None:
        # A thread waits for standard input and would keep the process; each line is already written.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        anyio.run(serve_stdio, service)
        return 0
    token = os.environ.get(TOKEN) or secrets.token_urlsafe(24)
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UserError(f"{TOKEN} must have at least {LEAST_TOKEN} printable characters without spaces")
    try:
        listening = socket.create_server((LOOPBACK, arguments.http))
    except OSError as error:
        why = os.strerror(error.errno or 0).lower()
        raise UserError(f"port {arguments.http} of {LOOPBACK} cannot be used: {why}") from None
    if not os.environ.get(TOKEN):
        print_lines([f"bearer token: {token}"], sys.stderr)
    address = f"http://{LOOPBACK}:{arguments.http}{PATH}"
    print_lines([f"serving {arguments.folder} at {address}"], sys.stderr)
    with listening:
        anyio.run(serve_http, service, listening, token)
    return 0


def _folder(text: str) -> Path:
    if not text:
        raise ArgumentTypeError("expected a folder, found an empty text")
    return Path(text)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= LARGEST_PORT):
        raise ArgumentTypeError(f"expected a port from 1 to {LARGEST_PORT}, found '{text}'")
    return int(text)
