"""How much one request may ask of the scoring service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What a request may bring and take.

    Parameters
    ----------
    n_rows, n_explained : int
        Rows of a request to score, and of one to explain.
    n_bytes : int
        Size of a request's body.
    seconds : float
        From a request's first byte to its answer.
    n_jobs : int, optional
        Requests that are worked on at the same time; as many as there are cores if not given.
    n_waiting : int
        Requests that wait for their turn; further ones are sent away at once.
    """

    n_rows: int = 10_000
    n_explained: int = 100
    n_bytes: int = 32 * 1024 * 1024
    seconds: float = 30.0
    n_jobs: int | None = None
    n_waiting: int = 100
