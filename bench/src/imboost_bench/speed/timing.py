"""Seconds, ratios and peak memory, shared by all benchmarks of this room."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import perf_counter
from typing import Any

N_TURNS = 5
PROGRAM = (sys.executable, "-m", "imboost")


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that `work` takes."""
    started = perf_counter()
    work()
    return perf_counter() - started


def fastest(*variants: Callable[[], object]) -> list[float]:
    """Run the variants in turns; return the seconds of each one's fastest turn."""
    turns = [[timed(variant) for variant in variants] for _ in range(N_TURNS)]
    return [min(seconds) for seconds in zip(*turns, strict=True)]


def show(what: str, figure: float, base: float, most: float, unit: str = "s") -> None:
    """Print the ratio of a figure to another, and its target."""
    missed = "" if figure / base <= most else "  <- MISSED"
    print(f"{what}: {figure / base:.2f} (at most {most:g}){missed}")
    print(f"    {figure:.2f} {unit} against {base:.2f} {unit}", flush=True)


def in_new_process(work: Callable[..., None], *arguments: Any) -> None:
    """Do work elsewhere, since a child starts with the peak memory of its parent."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as writer:
        writer.submit(work, *arguments).result()


def peak_memory(*command: object) -> float:
    """Run a command and return its peak memory in GB; raise if it fails."""
    child = subprocess.Popen(list(map(str, command)))
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, child.args)
    return usage.ru_maxrss * 1024 / 1e9  # Linux counts in KiB
