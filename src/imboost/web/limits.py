"""Limits of connections and of requests."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ConnectionLimits:
    """Limits of the connections of a server.

    Parameters
    ----------
    n_connections : int
        Connections open at the same time; further ones are closed at once.
    n_head_bytes : int
        Maximum size of a request's line and headers.
    head_seconds, body_seconds : float
        Maximum time to receive the head of a request, and its body.
    stalled_seconds : float
        Maximum time in which a client receives nothing of a response.
    idle_seconds : int
        Time that a connection stays open between two requests.
    shutdown_seconds : int
        Maximum time to end running requests when the server stops.
    """

    n_connections: int = 256
    n_head_bytes: int = 32 * 1024
    head_seconds: float = 10.0
    body_seconds: float = 60.0
    stalled_seconds: float = 30.0
    idle_seconds: int = 15
    shutdown_seconds: int = 10


@dataclass(frozen=True)
class RequestLimits:
    """Limits of one request, and of the bodies of all requests together.

    Parameters
    ----------
    n_bytes : int
        Maximum size of a body.
    n_bytes_held : int
        Maximum size of all bodies held in memory at the same time; beyond it, requests are
        rejected with status 503.
    n_headers : int
        Maximum number of headers.
    seconds : float
        Maximum time until the response begins.
    """

    n_bytes: int = 1024 * 1024
    n_bytes_held: int = 128 * 1024 * 1024
    n_headers: int = 100
    seconds: float = 30.0
