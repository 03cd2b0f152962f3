"""Run a web application: the one place that configures the server."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from imboost.web.access_log import Observed, log_request
from imboost.web.connections import LimitedConnection
from imboost.web.limits import ConnectionLimits
from imboost.web.repeated_messages import without_repeats

BACKLOG = 64  # connections that wait to be accepted, and that asyncio accepts at once
N_OTHER_FILES = 128  # file descriptors left for models, databases and libraries
LOGGERS = ("uvicorn.error", "asyncio")  # loggers with messages that clients can cause
ACCESS_LOGGER = "imboost.access"
SWITCH_SECONDS = 0.0005  # training in the background lets a request run after this time


def run_server(
    app: ASGIApp,
    host: str,
    port: int,
    *,
    limits: ConnectionLimits | None = None,
    on_ready: Callable[[str], None] | None = None,
    access_log: Path | None = None,
    verbose: bool = False,
) -> None:
    """Serve an application until the process is interrupted or terminated.

    Parameters
    ----------
    app : callable
        The ASGI application.
    host : str
        Address to listen on.
    port : int
        Port to listen on; 0 picks a free one.
    limits : ConnectionLimits, optional
    on_ready : callable, optional
        Called with the address, such as "http://127.0.0.1:8000", when requests are answered.
    access_log : Path, optional
        File to which a line per request is appended.
    verbose : bool
        Whether to write these lines to standard error.

    Raises
    ------
    OSError
        If the port is taken, or the access log cannot be written.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(listen(host, port))
        stack.enter_context(without_repeats(LOGGERS))
        logger = _access_logger(stack, access_log, verbose=verbose)
        if logger is not None:
            app = Observed(app, partial(log_request, logger))
        stack.callback(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(SWITCH_SECONDS)
        server = Server(app, limits or ConnectionLimits(), on_ready)
        with suppress(KeyboardInterrupt):  # the way to stop it, which uvicorn raises again
            server.run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


class Server(uvicorn.Server):
    """Uvicorn with limits on connections.

    Parameters
    ----------
    app : callable
        The ASGI application.
    limits : ConnectionLimits
    on_ready : callable, optional
        Called with the address when requests are answered.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: ConnectionLimits,
        on_ready: Callable[[str], None] | None = None,
    ) -> None:
        self._on_ready = on_ready
        connection: Any = partial(LimitedConnection, limits=_fit_to_open_files(limits))
        super().__init__(
            uvicorn.Config(
                app,
                http=connection,
                ws="none",
                log_level="warning",
                access_log=False,
                server_header=False,
                backlog=BACKLOG,
                h11_max_incomplete_event_size=limits.n_head_bytes,
                timeout_keep_alive=limits.idle_seconds,
                timeout_graceful_shutdown=limits.shutdown_seconds,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer requests."""
        await super().startup(sockets)
        if self.started and self._on_ready is not None and sockets:
            host, port = sockets[0].getsockname()[:2]
            name = f"[{host}]" if ":" in host else host
            self._on_ready(f"http://{name}:{port}")


def _fit_to_open_files(limits: ConnectionLimits) -> ConnectionLimits:
    """Lower the number of connections to what the process may open."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return limits
    n_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if n_files == resource.RLIM_INFINITY:
        return limits
    n_most = max(1, n_files - N_OTHER_FILES - BACKLOG)
    return replace(limits, n_connections=min(limits.n_connections, n_most))


def _access_logger(stack: ExitStack, path: Path | None, *, verbose: bool) -> logging.Logger | None:
    """Return the logger of requests, or None if nobody wants them logged."""
    handlers: list[logging.Handler] = [logging.StreamHandler()] if verbose else []
    if path is not None:
        handlers.append(logging.FileHandler(path, encoding="utf-8"))
    if not handlers:
        return None
    logger = logging.getLogger(ACCESS_LOGGER)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        logger.addHandler(handler)
        stack.callback(handler.close)
        stack.callback(logger.removeHandler, handler)
    return logger
