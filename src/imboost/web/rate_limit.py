"""A token bucket for each client address."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

MAX_CLIENTS = 10_000  # addresses remembered; the one seen longest ago is forgotten first
IPV6_PREFIX = 64  # a single subscriber can use any address of such a network


class RateLimit:
    """Allows a number of attempts at once, then one per interval, for each client.

    Parameters
    ----------
    n_attempts : int
        Attempts allowed at once.
    seconds : float
        Interval after which another attempt is allowed.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> limit = RateLimit(1, 10.0)
    >>> limit.wait("192.0.2.1")
    0.0
    >>> limit.take("192.0.2.1")
    >>> limit.wait("192.0.2.1") > 0
    True
    """

    def __init__(
        self, n_attempts: int, seconds: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self._n_attempts = n_attempts
        self._seconds = seconds
        self._clock = clock
        # Time at which a client's bucket is full again.
        self._full_at: OrderedDict[str, float] = OrderedDict()

    def wait(self, address: str) -> float:
        """Return the seconds until the client may try again, 0 if it may now."""
        owed = self._full_at.get(_client(address), 0.0) - self._clock()
        return max(0.0, owed - (self._n_attempts - 1) * self._seconds)

    def take(self, address: str) -> None:
        """Count an attempt."""
        client = _client(address)
        start = max(self._full_at.get(client, 0.0), self._clock())
        self._full_at[client] = start + self._seconds
        self._full_at.move_to_end(client)
        if len(self._full_at) > MAX_CLIENTS:
            self._full_at.popitem(last=False)


def _client(address: str) -> str:
    """Return the network of an IPv6 address, and any other address as it is."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.IPv6Network((address, IPV6_PREFIX), strict=False))
    except ValueError:
        return address
