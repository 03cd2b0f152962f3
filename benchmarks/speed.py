"""Speed and memory, as ratios within one run: ``make bench [DATA=ADBENCH_FOLDER]``.

With a folder of ADBench files, the first ratios are measured on thyroid, otherwise on a synthetic
table of its shape.

Machines differ and are shared, so nothing is asserted: each ratio is printed with its target.
Variants run in turns, and the fastest turn of each counts.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.plain_loop import plain_updates
from imboost import IMBoost, Oracle, Session
from imboost.datasets import load_dataset, split_dataset
from imboost.session import run_rounds

N_TURNS = 5
THYROID_ROWS, THYROID_FEATURES, THYROID_OUTLIER_SHARE = 2640, 6, 0.0247
"""Shape of thyroid's training split."""


def main(data: str | None) -> None:
    """Print all figures."""
    torch.set_num_threads(1)
    if data:
        split = split_dataset(load_dataset(data, "thyroid"), seed=100)
        X, y, name = split.train_X, split.train_y, "thyroid"
    else:
        X, y = make_table(THYROID_ROWS, THYROID_FEATURES)
        name = "a table of thyroid's shape"
    seconds = fastest(
        {
            "plain": partial(time_plain, X, y),
            "protocol": partial(run_protocol, X, y),
            "five": partial(run_protocol, X, y, n_members=5),
        }
    )
    ratio = seconds["protocol"] / seconds["plain"]
    show(f"full protocol on {name} / the same updates in plain PyTorch", ratio, 1.2)
    print(f"    {seconds['protocol']:.2f} s against {seconds['plain']:.2f} s")
    show("five members / one member", seconds["five"] / seconds["protocol"], 2.0)
    print(f"    {seconds['five']:.2f} s against {seconds['protocol']:.2f} s")

    times = {n: timed(partial(run_protocol, *make_table(n, 10))) for n in (10_000, 1_000_000)}
    show("1,000,000 rows / 10,000 rows, in time", times[1_000_000] / times[10_000], 100)
    print(f"    {times[1_000_000]:.1f} s against {times[10_000]:.1f} s")

    child = [sys.executable, "-m", "benchmarks.speed", "memory"]
    figures = subprocess.run(child, check=True, capture_output=True, text=True).stdout.split()
    peak, n_bytes, seconds_taken = map(float, figures)
    show("peak memory of the process / data, 5,000,000 x 30 float32", peak / n_bytes, 2.5)
    print(f"    {peak / 1e6:.0f} MB for {n_bytes / 1e6:.0f} MB of data, {seconds_taken:.0f} s")


def measure_memory() -> None:
    """Fit, ask and refine on a large table; print peak memory, data size and seconds."""
    torch.set_num_threads(1)
    n_rows, n_features = 5_000_000, 30
    X = np.empty((n_rows, n_features), dtype=np.float32)
    rng = np.random.default_rng(0)
    for start in range(0, n_rows, 100_000):
        rng.standard_normal(out=X[start : start + 100_000], dtype=np.float32)
    y = rng.random(n_rows) < THYROID_OUTLIER_SHARE
    started = time.perf_counter()
    session = Session(IMBoost(random_state=0, device="cpu"), X, random_state=0)
    for _ in run_rounds(session, Oracle(y), 1, n_questions=100):
        pass
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(peak, X.nbytes, seconds)


def make_table(n_rows: int, n_features: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return random rows and labels."""
    rng = np.random.default_rng(0)
    y = (rng.random(n_rows) < THYROID_OUTLIER_SHARE).astype(np.int8)
    return rng.normal(size=(n_rows, n_features)) + 3.0 * y[:, None], y


def run_protocol(X: NDArray[np.float64], y: NDArray[np.int8], n_members: int = 1) -> None:
    """Run warm-up, five queries, five rounds, and all scoring on the way."""
    detector = IMBoost(n_members=n_members, random_state=0, device="cpu")
    for _ in run_rounds(Session(detector, X, random_state=0), Oracle(y), 5):
        pass


def time_plain(X: NDArray[np.float64], y: NDArray[np.int8]) -> None:
    """Run the same updates in plain PyTorch, the answered rows known beforehand."""
    low, high = X.min(axis=0), X.max(axis=0)
    table = torch.from_numpy((X - low) / (high - low)).float()
    per_round = int(0.01 * len(X))
    inliers = [table[y == 0][: number * per_round // 2] for number in range(1, 6)]
    outliers = [table[y == 1][: number * per_round // 2] for number in range(1, 6)]
    plain_updates(table, inliers, outliers)


def fastest(variants: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Run the variants in turns; return the seconds of each one's fastest turn."""
    best = dict.fromkeys(variants, float("inf"))
    for _ in range(N_TURNS):
        for name, variant in variants.items():
            best[name] = min(best[name], timed(variant))
    return best


def timed(work: Callable[[], None]) -> float:
    """Return the seconds that `work` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def show(what: str, figure: float, wanted: float) -> None:
    """Print a ratio and its target."""
    missed = "" if figure <= wanted else "  <- MISSED"
    print(f"{what}: {figure:.2f} (at most {wanted:g}){missed}", flush=True)


if __name__ == "__main__":
    measure_memory() if sys.argv[1:] == ["memory"] else main(sys.argv[1] if sys.argv[1:] else None)
