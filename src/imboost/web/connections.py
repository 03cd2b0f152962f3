"""Connections with a maximum number, and with time limits for what a client sends and receives."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from imboost.web.limits import ConnectionLimits

LINGER_SECONDS = 2.0  # to read the rest of a body that was rejected, so that the answer arrives


class LimitedConnection(H11Protocol):
    """Uvicorn's connection with the limits that it lacks.

    Uvicorn limits the time between two requests, but not the time to receive a request or to
    deliver a response, and it answers each connection beyond its limit.

    Parameters
    ----------
    limits : ConnectionLimits
    **settings
        As for uvicorn's connection.
    """

    def __init__(self, *, limits: ConnectionLimits, **settings: Any) -> None:
        super().__init__(**settings)
        self._limits = limits
        self._is_refused = False
        self._timed_state: Any = None
        self._receiving: asyncio.TimerHandle | None = None
        self._sending: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Close the connection at once if too many are open."""
        if len(self.connections) >= self._limits.n_connections:
            self._is_refused = True
            self.logger.warning(
                "Closed a connection: %d are open, the maximum (--max-connections).",
                len(self.connections),
            )
            transport.abort()
            return
        super().connection_made(transport)
        # Without it a response waits up to 40 ms for the client's acknowledgement of its head.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.set_write_buffer_limits(high=0)  # so that all unsent bytes are noticed
        self._limit_receiving()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        if not self._is_refused:
            super().connection_lost(exc)
            self._receiving = _restart(self._receiving)
            self._sending = _restart(self._sending)

    def data_received(self, data: bytes) -> None:
        """Process a part of a request."""
        super().data_received(data)
        self._limit_receiving()

    def on_response_complete(self) -> None:
        """Wait a short time for the rest of a request that is answered already."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)
            self._receiving = _restart(self._receiving, timer)

    def pause_writing(self) -> None:
        """Limit the time in which the client receives nothing."""
        super().pause_writing()
        self._limit_sending()

    def resume_writing(self) -> None:
        """Stop the clock: the client has received everything."""
        super().resume_writing()
        self._sending = _restart(self._sending)

    def _unsupported_upgrade_warning(self) -> None:
        """Answer requests for a WebSocket as usual, without uvicorn's advice to install one."""

    def _limit_receiving(self) -> None:
        """Start a clock whenever the client begins with the head or the body of a request."""
        state = self.conn.their_state
        if state is self._timed_state:
            return
        self._timed_state = state
        seconds = {
            h11.IDLE: self._limits.head_seconds,
            h11.SEND_BODY: self._limits.body_seconds,
        }.get(state)
        timer = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)
        self._receiving = _restart(self._receiving, timer)

    def _limit_sending(self) -> None:
        n_unsent = self.transport.get_write_buffer_size()
        timer = self.loop.call_later(self._limits.stalled_seconds, self._check_sending, n_unsent)
        self._sending = _restart(self._sending, timer)

    def _check_sending(self, n_before: int) -> None:
        if self.transport.get_write_buffer_size() >= n_before:
            self.transport.abort()
        else:
            self._limit_sending()


def _restart(
    running: asyncio.TimerHandle | None, timer: asyncio.TimerHandle | None = None
) -> asyncio.TimerHandle | None:
    """Cancel a timer and return the one that replaces it."""
    if running is not None:
        running.cancel()
    return timer
