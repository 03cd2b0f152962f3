"""Run a web application: the only place that configures the server."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp
from uvicorn.logging import AccessFormatter

MAX_CONNECTIONS = 256
MAX_HEAD_BYTES = 32 * 1024  # of a request's line and headers
IDLE_SECONDS = 15  # that a connection stays open between two requests
SHUTDOWN_SECONDS = 10  # to end running requests when the server stops


def run_server(
    app: ASGIApp,
    host: str,
    port: int,
    *,
    max_connections: int = MAX_CONNECTIONS,
    on_ready: Callable[[str], None] | None = None,
    access_log: Path | None = None,
    verbose: bool = False,
) -> None:
    """Serve an application until the process is interrupted or terminated.

    Port 0 picks a free one. `on_ready` is called with the address, such as
    "http://127.0.0.1:8000", once it accepts connections; requests on more than `max_connections`
    of them are refused with status 503. A line per request is appended to the file `access_log`,
    and written to standard error if `verbose`. A port that is taken is an OSError.
    """
    with listen(host, port) as listener:
        server = make_server(app, max_connections)
        _log_requests(access_log, verbose=verbose)
        if on_ready is not None:
            on_ready(address_of(listener))
        with suppress(KeyboardInterrupt):  # the way to stop it, which uvicorn raises again
            server.run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family)
    # Its connections inherit this option, without which a response waits up to 40 ms for the
    # client's acknowledgement of its head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address_of(listener: socket.socket) -> str:
    """Return the address of a server."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(app: ASGIApp, max_connections: int = MAX_CONNECTIONS) -> uvicorn.Server:
    """Return a server with limits on its connections."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http="h11",
            ws="none",
            log_config=None,
            server_header=False,
            limit_concurrency=max_connections + 1,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )


def _log_requests(path: Path | None, *, verbose: bool) -> None:
    """Write a line per request to a file and to standard error, if they are asked for."""
    handlers: list[logging.Handler] = [logging.StreamHandler()] if verbose else []
    if path is not None:
        handlers.append(logging.FileHandler(path, encoding="utf-8"))
    logger = logging.getLogger("uvicorn.access")
    logger.propagate = False
    logger.setLevel(logging.INFO)
    line = '%(asctime)s %(client_addr)s "%(request_line)s" %(status_code)s'
    for handler in handlers:
        handler.setFormatter(AccessFormatter(line, use_colors=False))
        logger.addHandler(handler)
