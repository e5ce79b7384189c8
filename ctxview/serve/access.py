"""Who may reach the server: checks every request before any route, and adds the headers of every answer.

The token of the printed address is exchanged for a cookie, so that it does not stay in the address bar.
Browsers let a page open WebSockets to other origins, so the origin is checked as well as the cookie.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

WEBSOCKET = "/ws"


class Access:
    """The secrets of one server, and the checks that use them."""

    def __init__(self, port: int) -> None:
        self._host = f"127.0.0.1:{port}"
        self._origin = f"http://{self._host}"
        self._token = secrets.token_urlsafe(32)
        self._secret = secrets.token_urlsafe(32)
        self._cookie = f"ctxview-{port}"
        self._headers = {
            "Content-Security-Policy": "; ".join(
                (
                    "default-src 'none'",
                    "script-src 'self'",
                    "style-src 'self' 'unsafe-inline'",  # the terminal in the page sets styles itself
                    "img-src 'self' data:",
                    "font-src 'self'",
                    f"connect-src 'self' ws://{self._host}",
                    "base-uri 'none'",
                    "form-action 'none'",
                    "frame-ancestors 'none'",
                )
            ),
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }

    @property
    def address(self) -> str:
        """The address with the token, to be printed once."""
        return f"{self._origin}/?token={self._token}"

    @property
    def websocket_address(self) -> str:
        return f"ws://{self._host}{WEBSOCKET}"

    def middleware(self) -> Middleware:
        @web.middleware
        async def checked(request: web.Request, handler: Handler) -> web.StreamResponse:
            try:
                response = self._refusal(request) or await handler(request)
            except web.HTTPException as error:
                error.headers.update(self._headers)
                raise
            if not response.prepared:
                response.headers.update(self._headers)
            return response

        return checked

    def _refusal(self, request: web.Request) -> web.Response | None:
        """The answer to a request that may not go on; a first visit with the token gets its cookie."""
        origin = request.headers.get("Origin")
        if request.host != self._host:
            return web.Response(status=421, text="This server has another name.\n")
        if origin is not None and origin != self._origin:
            return web.Response(status=403, text="Requests from other pages are refused.\n")
        if request.path == WEBSOCKET and origin is None:
            return web.Response(status=403, text="A connection must say which page it comes from.\n")
        if request.path == "/" and _same(request.query.get("token", ""), self._token):
            response = web.Response(status=303, headers={"Location": "/"})
            response.set_cookie(self._cookie, self._secret, httponly=True, samesite="Strict", path="/")
            return response
        if not _same(request.cookies.get(self._cookie, ""), self._secret):
            return web.Response(status=403, text="Open the address that ctxview serve has printed.\n")
        return None


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), secret.encode())
