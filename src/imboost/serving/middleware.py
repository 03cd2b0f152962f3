"""What every request passes before it is looked at: its token, its size and its time."""

from __future__ import annotations

import asyncio
from secrets import compare_digest

from fastapi import HTTPException
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from imboost.serving.limits import Limits

OPEN_PATHS = ("/health",)
"""Paths that answer without a token."""


class Gate:
    """Sends away requests without the token, too large ones and those that take too long.

    Parameters
    ----------
    app : callable
        What is behind the gate.
    limits : Limits
    token : str or None
        What clients must send; None if anyone may ask.
    """

    def __init__(self, app: ASGIApp, *, limits: Limits, token: str | None) -> None:
        self._app = app
        self._limits = limits
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["path"] not in OPEN_PATHS and not self._knows_token(headers):
            answer = _problem(401, "Send the token as 'Authorization: Bearer TOKEN'.")
            answer.headers["WWW-Authenticate"] = "Bearer"
            await answer(scope, receive, send)
        elif _declared_size(headers) > self._limits.n_bytes:
            await _problem(413, self._too_large())(scope, receive, send)
        else:
            await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        n_bytes, has_answered = 0, False

        async def counted_receive() -> Message:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > self._limits.n_bytes:
                raise HTTPException(413, self._too_large())
            return message

        async def watched_send(message: Message) -> None:
            nonlocal has_answered
            has_answered = True
            await send(message)

        try:
            async with asyncio.timeout(self._limits.seconds):
                await self._app(scope, counted_receive, watched_send)
        except TimeoutError:
            if not has_answered:
                text = f"The request took longer than {self._limits.seconds:g} seconds."
                await _problem(504, f"{text} Send fewer rows.")(scope, receive, send)

    def _knows_token(self, headers: Headers) -> bool:
        if self._token is None:
            return True
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "bearer" and compare_digest(given.encode(), self._token.encode())

    def _too_large(self) -> str:
        return f"A request may have {self._limits.n_bytes:,} bytes. Send fewer rows."


def _declared_size(headers: Headers) -> int:
    """Return how long a body says that it is; what it is will be counted."""
    text = headers.get("Content-Length", "")
    return int(text) if text.isdecimal() and len(text) < 20 else 0


def _problem(status: int, detail: str) -> JSONResponse:
    return JSONResponse({"detail": detail}, status_code=status)
