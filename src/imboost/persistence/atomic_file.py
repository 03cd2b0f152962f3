"""Files that appear whole or not at all, and where they are put unless a user says."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from imboost.tables.files import CSV_ENDINGS, PARQUET_ENDINGS

TERMINATED = 128 + signal.SIGTERM
"""The exit code of a program that was told to end."""


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield another path to write to, which takes the name `path` once all went well.

    An interrupted run leaves nothing behind, and what had the name before stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".partial-{os.getpid()}-{path.name}")
    try:
        with _stopping_in_order():
            yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _stopping_in_order() -> Iterator[None]:
    """Let a request to end the program raise, so that what is half done is cleared away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def beside(data: Path, ending: str) -> Path:
    """Return a path beside a data file: its name with another ending.

    >>> beside(Path("shop/orders.csv.gz"), ".model").as_posix()
    'shop/orders.model'
    """
    data = data.resolve() if data.name in ("", "..") else data
    name = data.name
    for known in sorted(CSV_ENDINGS + PARQUET_ENDINGS, key=len, reverse=True):
        if name.lower().endswith(known):
            name = name[: -len(known)]
            break
    return data.with_name(name + ending)
