"""Limits of a request to the REST service."""

from __future__ import annotations

from dataclasses import dataclass

from imboost.web.limits import RequestLimits

N_BODIES = 4  # of the largest size that are held in memory at the same time


@dataclass(frozen=True)
class Limits:
    """Limits of one request, and of all requests at a time.

    Parameters
    ----------
    n_rows, n_explained : int
        Maximum number of rows in a request to score and in a request to explain.
    n_bytes : int
        Maximum size of a request body, in bytes.
    seconds : float
        Maximum time from the first byte of a request to its response.
    n_jobs : int, optional
        Requests processed at the same time. Default: the number of cores.
    n_waiting : int
        Requests that may wait; further ones are rejected with status 503.
    """

    n_rows: int = 10_000
    n_explained: int = 100
    n_bytes: int = 32 * 1024 * 1024
    seconds: float = 30.0
    n_jobs: int | None = None
    n_waiting: int = 100

    def of_requests(self) -> RequestLimits:
        """Return the limits that hold for every request."""
        return RequestLimits(
            n_bytes=self.n_bytes, n_bytes_held=N_BODIES * self.n_bytes, seconds=self.seconds
        )
