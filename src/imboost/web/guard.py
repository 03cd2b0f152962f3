"""Checks of every request and headers of every response, whoever sends it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from imboost.web.addresses import AllowedHosts
from imboost.web.limits import RequestLimits
from imboost.web.responses import rejection

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

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
    """Rejects requests to other hosts, and those that are too large or take too long.

    HEAD is answered as GET without the body.

    Parameters
    ----------
    app : callable
        The ASGI application that answers the other requests.
    hosts : AllowedHosts
    limits : RequestLimits
    """

    def __init__(self, app: ASGIApp, *, hosts: AllowedHosts, limits: RequestLimits) -> None:
        self._app = app
        self._hosts = hosts
        self._limits = limits
        self._bodies = _Bodies(limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_security_headers(send)
        try:
            self._check_head(scope)
        except HTTPException as error:
            await _reject(error, scope, receive, send)
        else:
            await self._pass_on(scope, receive, send)

    def _check_head(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if len(scope["headers"]) > self._limits.n_headers:
            raise HTTPException(
                431, f"A request may have at most {self._limits.n_headers} headers."
            )
        if not self._hosts.allow(headers.get("Host", "")):
            raise HTTPException(
                400,
                "The Host header does not name this server. Use the address that it printed, or "
                "allow the name with --allowed-host.",
            )
        if scope["method"] not in METHODS:
            raise HTTPException(405, "Unknown method.", {"Allow": ", ".join(METHODS)})
        self._bodies.check_size(_declared_size(headers))

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        n_received, has_responded = 0, False
        timeout = asyncio.timeout(self._limits.seconds)

        async def counted_receive() -> Message:
            nonlocal n_received
            message = await receive()
            n_new = len(message.get("body", b""))
            n_received += n_new
            self._bodies.add(n_new)
            self._bodies.check_size(n_received)
            return message

        async def watched_send(message: Message) -> None:
            nonlocal has_responded
            has_responded = True
            timeout.reschedule(None)  # a download or a stream may take its time
            await send(message)

        is_head = scope["method"] == "HEAD"
        inner = {**scope, "method": "GET"} if is_head else scope
        error = None
        try:
            async with timeout:
                await self._app(
                    inner,
                    counted_receive,
                    _without_body(watched_send) if is_head else watched_send,
                )
        except TimeoutError:
            text = f"The request took longer than {self._limits.seconds:g} seconds."
            error = HTTPException(504, f"{text} Send less at once.")
        except HTTPException as raised:  # by a middleware; applications handle their own
            error = raised
        finally:
            self._bodies.add(-n_received)
            if "route" in inner:
                scope["route"] = inner["route"]
        if error is not None and not has_responded:
            await _reject(error, scope, receive, send)


class _Bodies:
    """Counts the bytes of the bodies of all running requests."""

    def __init__(self, limits: RequestLimits) -> None:
        self._limits = limits
        self._n_held = 0

    def check_size(self, n_bytes: int) -> None:
        """Raise if one body is too large."""
        if n_bytes > self._limits.n_bytes:
            text = f"A request may have at most {self._limits.n_bytes:,} bytes."
            raise HTTPException(413, f"{text} Send less at once.")

    def add(self, n_bytes: int) -> None:
        """Count bytes that are held from now on; raise if all bodies together are too large."""
        self._n_held += n_bytes
        if n_bytes > 0 and self._n_held > self._limits.n_bytes_held:
            raise HTTPException(503, "Too many large requests. Try again.", {"Retry-After": "1"})


async def _reject(error: HTTPException, scope: Scope, receive: Receive, send: Send) -> None:
    response = rejection(scope, error.status_code, error.detail, error.headers)
    await response(scope, receive, send)


def _with_security_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            _allow_head(headers)
        await send(message)

    return send_with_headers


def _allow_head(headers: MutableHeaders) -> None:
    """Add HEAD to the allowed methods of a resource that has GET."""
    methods = [method.strip() for method in headers.get("Allow", "").split(",")]
    if "GET" in methods and "HEAD" not in methods:
        headers["Allow"] = ", ".join([*methods, "HEAD"])


def _without_body(send: Send) -> Send:
    """Return a `send` that ends a response after its headers."""
    has_ended = False

    async def send_headers(message: Message) -> None:
        nonlocal has_ended
        if message["type"] == "http.response.start":
            await send(message)
        elif not has_ended:
            has_ended = True
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return send_headers


def _declared_size(headers: Mapping[str, str]) -> int:
    """Return the declared size of a body, or 0; the real size is counted as it arrives."""
    text = headers.get("Content-Length", "")
    return int(text) if text.isdecimal() and len(text) < 20 else 0
