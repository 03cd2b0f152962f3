"""Atomic writes: a file or a folder appears complete, or not at all."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from filelock import FileLock, Timeout

LOCK = "lock"  # held while a draft is written; the system releases it when the process ends
REPLACED = "replaced"  # the previous folder, until the new one has its name


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a draft path; the file or folder written there replaces `path` at the end.

    The draft is synced to disk before it takes the name `path`. If writing fails or is
    interrupted, `path` stays as it was. Drafts that killed processes left behind are removed.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder, "note.txt")) as draft:
    ...         _ = draft.write_text("complete")
    ...     os.listdir(folder)
    ['note.txt']
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{path.name}.draft-"
    _remove_stale_drafts(path, prefix)
    workspace = Path(tempfile.mkdtemp(prefix=prefix, dir=path.parent))
    try:
        with FileLock(workspace / LOCK), _exit_on_sigterm():
            draft = workspace / path.name
            yield draft
            _sync(*draft.rglob("*"), draft)
            _replace(path, draft, workspace / REPLACED)
            _sync(path.parent)
    finally:
        shutil.rmtree(workspace, ignore_errors=True)


def _replace(path: Path, draft: Path, replaced: Path) -> None:
    if not (path.is_dir() and draft.is_dir()):
        draft.replace(path)
        return
    try:
        path.rename(replaced)  # a folder with files cannot be replaced in one step
        draft.rename(path)
    except BaseException:  # also an interrupt between the two
        if replaced.exists() and not path.exists():
            replaced.rename(path)
        raise


def _remove_stale_drafts(path: Path, prefix: str) -> None:
    """Remove drafts of `path` that no process is writing."""
    for workspace in path.parent.glob(f"{escape(prefix)}*"):
        try:
            with FileLock(workspace / LOCK, blocking=False):
                if (workspace / REPLACED).exists() and not path.exists():
                    (workspace / REPLACED).rename(path)  # killed between the two renames
                shutil.rmtree(workspace, ignore_errors=True)
        except Timeout:
            continue


def _sync(*paths: Path) -> None:
    """Write files, and the entries of folders, from the system's cache to the disk."""
    for path in paths:
        if os.name == "nt" and path.is_dir():  # Windows cannot open folders
            continue
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Turn SIGTERM into SystemExit, so that drafts are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    exit_code = 128 + signal.SIGTERM  # as shells report it
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(exit_code))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
