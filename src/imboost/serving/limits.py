"""Limits of the REST service."""

from __future__ import annotations

from dataclasses import dataclass


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
        Maximum time to process a request.
    n_jobs : int, optional
        Requests processed at the same time. Default: the number of cores.
    n_waiting : int
        Requests that may wait; further ones are refused with status 503.
    """

    n_rows: int = 10_000
    n_explained: int = 100
    n_bytes: int = 32 * 1024 * 1024
    seconds: float = 30.0
    n_jobs: int | None = None
    n_waiting: int = 100
