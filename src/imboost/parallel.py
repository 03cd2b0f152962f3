"""Chunks of rows, computed by several threads with the same results as by one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

_thread = threading.local()


def map_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int
) -> list[Result]:
    """Return the results of a function for all items, in their order.

    Numeric libraries start no threads of their own meanwhile. A call from one of the threads
    computes everything in that thread.

    Parameters
    ----------
    n_jobs : int
        Number of threads; -1 for one per core.
    """
    waiting = list(items)
    n_threads = min(n_cores() if n_jobs == -1 else n_jobs, len(waiting))
    if getattr(_thread, "is_worker", False):
        return [function(item) for item in waiting]
    with _thread_pools().limit(limits=1):
        if n_threads < 2:
            return [function(item) for item in waiting]
        with ThreadPoolExecutor(n_threads, initializer=_mark_worker) as pool:
            return list(pool.map(function, waiting))


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Let `map_in_threads` start no threads in calls from this thread."""
    before = getattr(_thread, "is_worker", False)
    _thread.is_worker = True
    try:
        yield
    finally:
        _thread.is_worker = before


def _mark_worker() -> None:
    _thread.is_worker = True


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()
