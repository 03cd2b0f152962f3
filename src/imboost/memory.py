"""Reuse of memory between computations on large arrays."""

from __future__ import annotations

import ctypes
import sys

# Options of glibc's `mallopt`, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, and their values in bytes.
MALLOC_OPTIONS = {-3: 32 << 20, -1: 128 << 20}


def keep_memory() -> None:
    """Let large arrays reuse the memory of earlier ones.

    By default glibc returns it to the system and requests it again for every array, which took
    half of the time of scoring. Does nothing on systems other than Linux.
    """
    change = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if change is not None:
        for setting, n_bytes in MALLOC_OPTIONS.items():
            change(setting, n_bytes)
