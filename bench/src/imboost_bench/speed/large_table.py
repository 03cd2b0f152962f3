"""Speed and memory of fitting and scoring a Parquet file that is larger than memory.

``python -m imboost_bench.speed.large_table --rows 20000000 --columns 30``
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUP_ROWS = 200_000


def main() -> None:
    """Write a table, fit a model on it, score it, and print times and peak memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--detector", default="stack")
    parser.add_argument("--fit-only", action="store_true", help="Do not score the table.")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        table = Path(folder, "table.parquet")
        in_new_process(write_table, table, options.rows, options.columns)
        size = table.stat().st_size / 1e9
        print(f"{options.rows:,} x {options.columns}, {size:.2f} GB of Parquet", flush=True)
        model = str(Path(folder, "model"))
        program = [sys.executable, "-m", "imboost"]
        commands = {"fit": [str(table), "--out", model, "--detector", options.detector]}
        if not options.fit_only:
            commands["score"] = [model, str(table)]
        for name, arguments in commands.items():
            start = perf_counter()
            memory = peak_memory([*program, name, *arguments])
            print(f"{name}: {perf_counter() - start:.0f} s, {memory:.2f} GB at most", flush=True)


def write_table(path: Path, n_rows: int, n_columns: int) -> None:
    """Write an id and correlated numbers, 1% of them missing, in row groups."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(n_columns, n_columns)) / np.sqrt(n_columns)
    names = [f"x{number}" for number in range(n_columns)]
    schema = pa.schema([("order_id", pa.int64()), *((name, pa.float32()) for name in names)])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, n_rows, GROUP_ROWS):
            n = min(GROUP_ROWS, n_rows - first)
            values = (rng.normal(size=(n, n_columns)) @ mixing).astype(np.float32)
            is_missing = rng.random(values.shape) < 0.01
            columns = [
                pa.array(values[:, number], mask=is_missing[:, number])
                for number in range(n_columns)
            ]
            ids = pa.array(np.arange(first, first + n))
            writer.write_table(pa.table([ids, *columns], schema=schema))


def in_new_process(work: Callable[..., None], *arguments: Any) -> None:
    """Do work elsewhere, since a child starts with the peak memory of its parent."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as writer:
        writer.submit(work, *arguments).result()


def peak_memory(command: list[str]) -> float:
    """Run a command and return its peak memory in GB; raise if it fails."""
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return usage.ru_maxrss * 1024 / 1e9  # Linux counts in KiB


if __name__ == "__main__":
    main()
