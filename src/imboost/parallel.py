"""Threads of one core each, with the same results as one thread."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import (
    OpenBLASController,
    ThreadpoolController,
    get_cached_controller,
    threadpool_limits,
)

Item = TypeVar("Item")
Result = TypeVar("Result")

HARMLESS_WARNING = "`sklearn.utils.parallel.delayed` should be used with"
"""Start of a warning by scikit-learn's forests when two threads use them at the same time. Warning
filters are shared by all threads, and one resets those of the other; scores are not affected."""

# Options of glibc's `mallopt`, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, and their values in bytes.
MALLOC_OPTIONS = {-3: 32 << 20, -1: 128 << 20}

_thread = threading.local()


def map_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int
) -> list[Result]:
    """Return the results of a function for all items, in their order.

    `n_jobs` is the number of threads, -1 for one per core. Numeric libraries start no threads of
    their own meanwhile. A call from one of the threads computes everything in that thread.
    """
    waiting = list(items)
    n_threads = min(n_cores() if n_jobs == -1 else n_jobs, len(waiting))
    if getattr(_thread, "is_worker", False):
        return [function(item) for item in waiting]
    _keep_memory()
    with limit_library_threads():
        if n_threads < 2:
            return [function(item) for item in waiting]
        with ThreadPoolExecutor(n_threads, initializer=_start_worker) as pool:
            return list(pool.map(function, waiting))


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """Yield the results of a function in the order of its items, a few computed at a time."""
    waiting: deque[Future[Result]] = deque()
    with scoring_threads(n_threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > n_threads:  # one more, so that no thread has to wait
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def scoring_threads(n_threads: int) -> ThreadPoolExecutor:
    """Return a thread pool in which numeric libraries start no threads of their own."""
    _keep_memory()
    if not isinstance(warnings.showwarning, _ShowWarning):
        warnings.showwarning = _ShowWarning(warnings.showwarning)
    return _ScoringThreads(n_threads, initializer=_start_scoring_worker)


def use_one_core() -> None:
    """Let this process, which has no other threads, compute on one core from now on."""
    _start_scoring_worker()
    threadpool_limits(limits=1)


@contextmanager
def limit_library_threads() -> Iterator[None]:
    """Let numeric libraries start no threads in calls from this thread.

    OpenMP has a limit for each thread. BLAS has one for the whole process, which is in force
    until the last of the threads that set it leaves this context.
    """
    with _blas_limit, _libraries("openmp").limit(limits=1):
        yield


@contextmanager
def without_threads() -> Iterator[None]:
    """Let `map_in_threads` start no threads in calls from this thread."""
    before = getattr(_thread, "is_worker", False)
    _thread.is_worker = True
    try:
        yield
    finally:
        _thread.is_worker = before


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start_worker() -> None:
    _thread.is_worker = True
    _libraries("openmp").limit(limits=1)


def _start_scoring_worker() -> None:
    _start_worker()
    if torch := sys.modules.get("torch"):  # not imported: the detector has no network
        torch.set_num_threads(1)


def _libraries(user_api: str) -> ThreadpoolController:
    return get_cached_controller().select(user_api=user_api)


class _BlasLimit:
    """One thread for BLAS until every thread that entered this context has left it.

    threadpoolctl lets one thread alone change the limit of OpenBLAS and ignores the others. Any
    of our threads may be the last to leave, so that each takes over this right.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_entered = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._n_entered += 1
            if self._n_entered == 1:
                OpenBLASController.clear_controlling_thread(force=True)
                self._limit = _libraries("blas").limit(limits=1)

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_entered -= 1
            if self._n_entered == 0:
                OpenBLASController.clear_controlling_thread(force=True)
                self._limit.restore_original_limits()
                OpenBLASController.clear_controlling_thread(force=True)


_blas_limit = _BlasLimit()


class _ScoringThreads(ThreadPoolExecutor):
    """Threads that limit BLAS while they compute."""

    def submit(self, function: Callable[..., Any], /, *items: Any, **more: Any) -> Future[Any]:
        """Compute in a thread; see `ThreadPoolExecutor.submit`."""
        return super().submit(_with_limit, function, *items, **more)


def _with_limit(function: Callable[..., Any], *items: Any, **more: Any) -> Any:
    with _blas_limit:
        return function(*items, **more)


@cache
def _keep_memory() -> None:
    """Let the arrays of a chunk of rows reuse the memory of the previous chunk.

    By default glibc returns it to the system and requests it again for every chunk, which took
    half of the time of scoring. Does nothing on systems other than Linux.
    """
    change = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if change is not None:
        for setting, n_bytes in MALLOC_OPTIONS.items():
            change(setting, n_bytes)


class _ShowWarning:
    """Shows all warnings except the harmless one of scikit-learn's forests."""

    def __init__(self, show: Any) -> None:
        self._show = show

    def __call__(self, message: Warning | str, *where: Any, **more: Any) -> None:
        if not str(message).startswith(HARMLESS_WARNING):
            self._show(message, *where, **more)
