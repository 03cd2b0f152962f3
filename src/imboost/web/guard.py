"""Checks of every request and headers of every response, whatever the application does."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from hmac import compare_digest

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from imboost.web.hosts import AllowedHosts

WRONG_TOKEN_SECONDS = 0.5  # before a wrong token is refused
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer, with which browsers send "Origin: null" from our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every response that does not set them itself."""


class Guard:
    """Refuses requests to other hosts, from other sites and with large bodies.

    HEAD is answered as GET; the server leaves out the body.
    """

    def __init__(self, app: ASGIApp, *, hosts: AllowedHosts, max_bytes: int) -> None:
        self._app, self._hosts, self._max_bytes = app, hosts, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_security_headers(send)
        try:
            self._check(scope["method"], Headers(scope=scope))
        except HTTPException as error:
            response = error_response(error.status_code, error.detail)
            await response(scope, receive, send)
            return
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        await self._app(inner, self._limited(receive), send)

    def _check(self, method: str, headers: Headers) -> None:
        if not self._hosts.allow(headers.get("Host", "")):
            raise HTTPException(
                400, "The Host header is not a name of this server: use the address it printed."
            )
        if method not in SAFE_METHODS and is_cross_site(headers):
            raise HTTPException(403, "The request was sent by a page of another site.")
        self._check_size(int(headers.get("Content-Length", 0)))

    def _limited(self, receive: Receive) -> Receive:
        """Return a `receive` that raises where the body becomes too large."""
        n_received = 0

        async def limited() -> Message:
            nonlocal n_received
            message = await receive()
            n_received += len(message.get("body", b""))
            self._check_size(n_received)
            return message

        return limited

    def _check_size(self, n_bytes: int) -> None:
        if n_bytes > self._max_bytes:
            text = f"A request may have at most {self._max_bytes:,} bytes. Send less at once."
            raise HTTPException(413, text)


def is_cross_site(headers: Headers) -> bool:
    """Return whether a browser sent a request for a page of another site.

    Other programs send neither header, and no cookies of a browser.
    """
    site, origin = headers.get("Sec-Fetch-Site"), headers.get("Origin")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and origin.partition("://")[2] != headers["Host"]


async def is_token(given: bytes, token: str) -> bool:
    """Return whether a token is right; a wrong one takes longer."""
    if compare_digest(given, token.encode()):
        return True
    await asyncio.sleep(WRONG_TOKEN_SECONDS)
    return False


def error_response(
    status: int, detail: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return an error as JSON with the field `detail`."""
    encodable = detail.encode("utf-8", "replace").decode()  # without lone surrogates
    return JSONResponse({"detail": encodable}, status, headers)


def _with_security_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
