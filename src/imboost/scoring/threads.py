"""Threads for scoring, one core each."""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from threadpoolctl import threadpool_limits

HARMLESS_WARNING = "`sklearn.utils.parallel.delayed` should be used with"
"""Start of a warning by scikit-learn's forests when two threads use them at the same time. Warning
filters are shared by all threads, and one resets those of the other; scores are not affected."""

# Options of glibc's `mallopt`, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, and their values in bytes.
MALLOC_OPTIONS = {-3: 32 << 20, -1: 128 << 20}


def scoring_threads(n_threads: int) -> ThreadPoolExecutor:
    """Return a thread pool in which numeric libraries start no threads of their own."""
    _keep_memory()
    if not isinstance(warnings.showwarning, _ShowWarning):
        warnings.showwarning = _ShowWarning(warnings.showwarning)
    return ThreadPoolExecutor(n_threads, initializer=_use_one_core)


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _keep_memory() -> None:
    """Let the arrays of a batch reuse the memory of the previous batch.

    By default glibc returns it to the system and requests it again for every batch, which took
    half of the time of scoring. Does nothing on systems other than Linux.
    """
    change = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if change is not None:
        for setting, n_bytes in MALLOC_OPTIONS.items():
            change(setting, n_bytes)


def _use_one_core() -> None:
    import torch

    torch.set_num_threads(1)
    threadpool_limits(limits=1)


class _ShowWarning:
    """Shows all warnings except the harmless one of scikit-learn's forests."""

    def __init__(self, show: Any) -> None:
        self._show = show

    def __call__(self, message: Warning | str, *where: Any, **more: Any) -> None:
        if not str(message).startswith(HARMLESS_WARNING):
            self._show(message, *where, **more)
