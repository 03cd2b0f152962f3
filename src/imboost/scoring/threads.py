"""Threads that score, each on one core of its own."""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from threadpoolctl import threadpool_limits

SHARED_FILTERS = "`sklearn.utils.parallel.delayed` should be used with"
"""How scikit-learn's forests begin to complain when two threads use them at a time: they change
the list of warning filters, which all threads share, and find it empty. Scores are the same."""

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1
KEPT_BYTES = {MMAP_THRESHOLD: 32 << 20, TRIM_THRESHOLD: 128 << 20}
"""Settings of glibc's malloc, by their numbers there, and the free memory that is kept."""


def scoring_threads(n_threads: int) -> ThreadPoolExecutor:
    """Return threads in which libraries start none of their own."""
    keep_memory()
    if not isinstance(warnings.showwarning, _Show):
        warnings.showwarning = _Show(warnings.showwarning)
    return ThreadPoolExecutor(n_threads, initializer=_use_one_core)


def n_cores() -> int:
    """Return how many cores this program may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def keep_memory() -> None:
    """Let arrays of every piece of a table reuse the memory of those of the piece before.

    Otherwise glibc gives it back and asks for it again a thousand times a second; half of the
    time of scoring went there. Other systems are left as they are.
    """
    change = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if change is not None:
        for setting, n_bytes in KEPT_BYTES.items():
            change(setting, n_bytes)


def _use_one_core() -> None:
    import torch

    torch.set_num_threads(1)
    threadpool_limits(limits=1)


class _Show:
    """Shows all warnings but the one that says nothing about scores."""

    def __init__(self, show: Any) -> None:
        self._show = show

    def __call__(self, message: Warning | str, *where: Any, **more: Any) -> None:
        if not str(message).startswith(SHARED_FILTERS):
            self._show(message, *where, **more)
