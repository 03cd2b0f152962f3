"""Worker threads, so that the event loop always responds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from starlette.exceptions import HTTPException

from imboost.parallel import n_cores, scoring_threads

Result = TypeVar("Result")


class Deadline:
    """A time limit that work checks itself, since threads cannot be stopped from outside."""

    def __init__(self, seconds: float) -> None:
        self._end = monotonic() + seconds

    def check(self) -> None:
        """Raise TimeoutError after the deadline."""
        if monotonic() > self._end:
            raise TimeoutError


class WorkerPool:
    """A pool of threads with a queue of limited length.

    Parameters
    ----------
    n_jobs : int, optional
        Jobs that run at the same time. Default: the number of cores.
    n_waiting : int
        Jobs that may wait; further ones are rejected with status 503.
    seconds : float
        Maximum time from the start of waiting to the end of a job.
    """

    def __init__(self, n_jobs: int | None, n_waiting: int, seconds: float) -> None:
        self._n_jobs = n_jobs or n_cores()
        self._pool = scoring_threads(self._n_jobs)
        self._max_open = self._n_jobs + n_waiting
        self._seconds = seconds
        self._n_open = 0  # changed in the event loop alone

    @property
    def n_waiting(self) -> int:
        """Number of jobs that wait for a thread."""
        return max(0, self._n_open - self._n_jobs)

    @property
    def is_full(self) -> bool:
        """Whether further jobs are rejected."""
        return self._n_open >= self._max_open

    def check_room(self) -> None:
        """Raise status 503 if the queue is full."""
        if self.is_full:
            raise HTTPException(
                503, "Too many requests are waiting. Try again.", {"Retry-After": "1"}
            )

    async def run(self, work: Callable[[Deadline], Result]) -> Result:
        """Run work in a thread and return its result; raise status 503 if the queue is full."""
        self.check_room()
        self._n_open += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work, Deadline(self._seconds))
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._close_one))
        return await asyncio.wrap_future(future)

    def stop(self) -> None:
        """Take no more work and cancel what is waiting."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _close_one(self) -> None:
        self._n_open -= 1
