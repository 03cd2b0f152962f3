"""Limits of the REST service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of one request, and of all requests at a time."""

    n_rows: int = 10_000  # in a request to score
    n_explained: int = 100  # rows in a request to explain
    n_bytes: int = 32 * 1024 * 1024  # of a request body
    seconds: float = 30.0  # to process a request
    n_jobs: int | None = None  # requests processed at the same time; None is one per core
    n_waiting: int = 100  # requests that may wait; further ones are refused with status 503
