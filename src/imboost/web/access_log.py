"""What happened to each request: one line in the access log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_PATH_LENGTH = 200  # characters of a path in the log


@dataclass(frozen=True)
class FinishedRequest:
    """A request and how it ended.

    Parameters
    ----------
    scope : dict
        The ASGI scope.
    status : int
        Status of the response; 500 if there was none.
    seconds : float
        Time from the head of the request to the end of the response.
    n_bytes : int
        Size of the response's body.
    """

    scope: Scope
    status: int
    seconds: float
    n_bytes: int


class Observed:
    """Reports every request of an application when it has ended.

    Parameters
    ----------
    app : callable
        The ASGI application.
    report : callable
        Called with a FinishedRequest.
    """

    def __init__(self, app: ASGIApp, report: Callable[[FinishedRequest], None]) -> None:
        self._app = app
        self._report = report

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and report it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, n_bytes = time.perf_counter(), 500, 0

        async def watched_send(message: Message) -> None:
            nonlocal status, n_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
            n_bytes += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, watched_send)
        finally:
            seconds = time.perf_counter() - start
            self._report(FinishedRequest(scope, status, seconds, n_bytes))


def log_request(logger: logging.Logger, request: FinishedRequest) -> None:
    """Log a request: client, method, path without query, status, milliseconds, bytes."""
    scope = request.scope
    # The raw path is percent-encoded, so that it cannot hold line breaks.
    path = scope.get("raw_path", b"").decode("ascii", "replace")[:MAX_PATH_LENGTH]
    client = scope["client"][0] if scope.get("client") else "-"
    logger.info(
        "%s %s %s %d %.1f %d",
        client,
        scope["method"],
        path,
        request.status,
        1000 * request.seconds,
        request.n_bytes,
    )
