"""Speed and memory, as ratios within one run: ``make bench [DATA=ADBENCH_FOLDER]``.

With a folder of ADBench files, the first ratios are measured on thyroid, otherwise on a synthetic
table of its shape.

Machines differ and are shared, so nothing is asserted: each ratio is printed with its target.
Variants run in turns, and the fastest turn of each counts.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from imboost import IMBoost, Oracle, Session
from imboost.session import run_rounds
from imboost_bench.datasets.adbench import load_dataset
from imboost_bench.datasets.splits import split_dataset
from imboost_bench.speed.plain_loop import plain_updates
from imboost_bench.speed.timing import fastest, peak_memory, show, timed

# Shape of thyroid's training split.
THYROID_ROWS, THYROID_FEATURES, THYROID_CONTAMINATION = 2640, 6, 0.0247
LARGE_SHAPE = (5_000_000, 30)


def main(data: str | None) -> None:
    """Print all figures."""
    torch.set_num_threads(1)
    if data:
        split = split_dataset(load_dataset(data, "thyroid"), seed=100)
        X, y, name = split.train_X, split.train_y, "thyroid"
    else:
        X, y = make_table(THYROID_ROWS, THYROID_FEATURES)
        name = "a table of thyroid's shape"
    plain, one, five = fastest(
        partial(time_plain, X, y),
        partial(run_protocol, X, y),
        partial(run_protocol, X, y, n_members=5),
    )
    show(f"full protocol on {name} / the same updates in plain PyTorch", one, plain, 1.2)
    show("five members / one member", five, one, 2.0)
    small, large = (timed(partial(run_protocol, *make_table(n, 10))) for n in (10_000, 1_000_000))
    show("1,000,000 rows / 10,000 rows, in time", large, small, 100)

    peak = peak_memory(sys.executable, "-m", "imboost_bench.speed.training_speed", "memory")
    n_rows, n_features = LARGE_SHAPE
    what = f"peak memory of the process / data, {n_rows:,} x {n_features} float32"
    show(what, peak, n_rows * n_features * 4 / 1e9, 2.5, unit="GB")


def train_large_table() -> None:
    """Fit, ask and refine on a large table, in the process whose memory is measured."""
    torch.set_num_threads(1)
    X = np.empty(LARGE_SHAPE, dtype=np.float32)
    rng = np.random.default_rng(0)
    for start in range(0, len(X), 100_000):
        rng.standard_normal(out=X[start : start + 100_000], dtype=np.float32)
    y = rng.random(len(X)) < THYROID_CONTAMINATION
    session = Session(IMBoost(random_state=0, device="cpu"), X, random_state=0)
    seconds = timed(lambda: list(run_rounds(session, Oracle(y), 1, n_questions=100)))
    print(f"large table: {seconds:.0f} s")


def make_table(n_rows: int, n_features: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return random rows and labels."""
    rng = np.random.default_rng(0)
    y = (rng.random(n_rows) < THYROID_CONTAMINATION).astype(np.int8)
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


if __name__ == "__main__":
    if sys.argv[1:] == ["memory"]:
        train_large_table()
    else:
        main(sys.argv[1] if sys.argv[1:] else None)
