"""Work in threads, a limited number at a time, so that the service itself always answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from fastapi import HTTPException

from imboost.scoring.threads import n_cores, scoring_threads
from imboost.serving.limits import Limits

Result = TypeVar("Result")


class Deadline:
    """When work must end; a thread cannot be stopped from outside, so that work asks."""

    def __init__(self, seconds: float) -> None:
        self._end = monotonic() + seconds

    def check(self) -> None:
        """Raise if the time is up."""
        if monotonic() > self._end:
            raise TimeoutError


class Jobs:
    """Threads for work that takes long, and a queue of limited length before them.

    Parameters
    ----------
    limits : Limits
    """

    def __init__(self, limits: Limits) -> None:
        n_jobs = limits.n_jobs or n_cores()
        self._pool = scoring_threads(n_jobs)
        self._most = n_jobs + limits.n_waiting
        self._seconds = limits.seconds
        self._n_open = 0  # changed in the event loop alone

    async def run(self, work: Callable[[Deadline], Result]) -> Result:
        """Do work in a thread and return its result; raise 503 if too much is waiting."""
        if self._n_open >= self._most:
            raise HTTPException(
                503, "Too many requests are waiting. Try again.", {"Retry-After": "1"}
            )
        self._n_open += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work, Deadline(self._seconds))
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._close_one))
        return await asyncio.wrap_future(future)

    def stop(self) -> None:
        """Take no more work and drop what is waiting."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _close_one(self) -> None:
        self._n_open -= 1
