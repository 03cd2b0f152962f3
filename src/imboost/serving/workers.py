"""Worker threads, so that the event loop always responds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from starlette.exceptions import HTTPException

from imboost.parallel import n_cores, scoring_threads
from imboost.serving.limits import Limits

Result = TypeVar("Result")


class Workers:
    """A pool of threads with a queue of limited length."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._n_jobs = limits.n_jobs or n_cores()
        self._pool = scoring_threads(self._n_jobs)
        self._n_open = 0  # jobs that run or wait

    @property
    def n_waiting(self) -> int:
        """Number of jobs that wait for a thread."""
        return max(0, self._n_open - self._n_jobs)

    @property
    def is_full(self) -> bool:
        """Whether further jobs are refused."""
        return self._n_open >= self._n_jobs + self._limits.n_waiting

    async def run(self, work: Callable[[float], Result]) -> Result:
        """Run work in a thread and return its result.

        It is called with its deadline, a time of `time.monotonic`, which it has to check: threads
        cannot be stopped from outside. Too much or too long work raises an HTTPException.
        """
        if self.is_full:
            text = "Too many requests are waiting. Try again."
            raise HTTPException(503, text, {"Retry-After": "1"})
        seconds = self._limits.seconds
        self._n_open += 1
        try:
            async with asyncio.timeout(seconds):
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._pool, work, monotonic() + seconds)
        except TimeoutError:
            text = f"The request took longer than {seconds:g} seconds. Send less at once."
            raise HTTPException(504, text) from None
        finally:
            self._n_open -= 1

    def stop(self) -> None:
        """Take no more work and cancel what is waiting."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def check_deadline(deadline: float) -> None:
    """Raise TimeoutError after a deadline."""
    if monotonic() > deadline:
        raise TimeoutError
