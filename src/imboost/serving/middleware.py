"""Checks of every request: token, size and time."""

from __future__ import annotations

import asyncio
from secrets import compare_digest

from fastapi import HTTPException
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from imboost.serving.limits import Limits

OPEN_PATHS = ("/health",)  # answered without a token


class RequestGuard:
    """Rejects requests without the token, requests that are too large or take too long.

    Parameters
    ----------
    app : callable
        The application that answers the other requests.
    limits : Limits
    token : str or None
        Bearer token that clients must send; None if no token is required.
    """

    def __init__(self, app: ASGIApp, *, limits: Limits, token: str | None) -> None:
        self._app = app
        self._limits = limits
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["path"] not in OPEN_PATHS and not self._has_token(headers):
            response = error_response(401, "Send the token as 'Authorization: Bearer TOKEN'.")
            response.headers["WWW-Authenticate"] = "Bearer"
            await response(scope, receive, send)
        elif _declared_size(headers) > self._limits.n_bytes:
            await error_response(413, self._too_large())(scope, receive, send)
        else:
            await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        n_bytes, has_responded = 0, False

        async def counted_receive() -> Message:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > self._limits.n_bytes:
                raise HTTPException(413, self._too_large())
            return message

        async def watched_send(message: Message) -> None:
            nonlocal has_responded
            has_responded = True
            await send(message)

        try:
            async with asyncio.timeout(self._limits.seconds):
                await self._app(scope, counted_receive, watched_send)
        except TimeoutError:
            if not has_responded:
                text = f"The request took longer than {self._limits.seconds:g} seconds."
                await error_response(504, f"{text} Send fewer rows.")(scope, receive, send)

    def _has_token(self, headers: Headers) -> bool:
        if self._token is None:
            return True
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "bearer" and compare_digest(given.encode(), self._token.encode())

    def _too_large(self) -> str:
        return f"A request may have at most {self._limits.n_bytes:,} bytes. Send fewer rows."


def _declared_size(headers: Headers) -> int:
    """Return the declared size of a body, or 0; the real size is counted as it arrives."""
    text = headers.get("Content-Length", "")
    return int(text) if text.isdecimal() and len(text) < 20 else 0


def error_response(status: int, detail: str) -> JSONResponse:
    """Return an error in the shape of `ErrorBody`."""
    readable = detail.encode("utf-8", "replace").decode("utf-8")  # lone surrogates cannot be sent
    return JSONResponse({"detail": readable}, status_code=status)
