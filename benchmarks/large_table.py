"""How fast, and in how much memory, a Parquet file larger than memory is scored.

``python -m benchmarks.large_table --rows 20000000 --columns 30 --detector imboost``
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUP_ROWS = 200_000
TRAINING_ROWS = 20_000


def main() -> None:
    """Write a table, train on its beginning, score it and print the memory that took."""
    wishes = argparse.ArgumentParser(description=__doc__)
    wishes.add_argument("--rows", type=int, default=20_000_000)
    wishes.add_argument("--columns", type=int, default=30)
    wishes.add_argument("--detector", default="imboost")
    wished = wishes.parse_args()
    with TemporaryDirectory() as folder:
        beginning, table = Path(folder, "beginning.parquet"), Path(folder, "table.parquet")
        # In a process of its own, because the memory of a child counts from that of its parent.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as writer:
            writer.submit(write_table, beginning, TRAINING_ROWS, wished.columns).result()
            writer.submit(write_table, table, wished.rows, wished.columns).result()
        print(
            f"{wished.rows:,} x {wished.columns}, {table.stat().st_size / 1e9:.2f} GB of Parquet"
        )
        model = str(Path(folder, "model"))
        training = run("fit", str(beginning), "--out", model, "--detector", wished.detector)
        scoring = run("score", model, str(table))
        print(f"memory at most: {scoring:.2f} GB; of the training {training:.2f} GB")


def write_table(path: Path, n_rows: int, n_columns: int) -> None:
    """Write correlated numbers with a gap in a hundred cells and an id, some rows at a time."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(n_columns, n_columns)) / np.sqrt(n_columns)
    names = [f"x{number}" for number in range(n_columns)]
    schema = pa.schema([("order_id", pa.int64()), *((name, pa.float32()) for name in names)])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, n_rows, GROUP_ROWS):
            n = min(GROUP_ROWS, n_rows - first)
            values = (rng.normal(size=(n, n_columns)) @ mixing).astype(np.float32)
            gaps = rng.random(values.shape) < 0.01
            columns = [
                pa.array(values[:, place], mask=gaps[:, place]) for place in range(n_columns)
            ]
            ids = pa.array(np.arange(first, first + n))
            writer.write_table(pa.table([ids, *columns], schema=schema))


def run(*words: str) -> float:
    """Run one command of the program and return the GB of memory it took at most."""
    print("$ imboost", *words, flush=True)
    return peak_memory([sys.executable, "-m", "imboost", *words])


def peak_memory(command: list[str]) -> float:
    """Run a command and return the GB of memory it took at most; raise if it fails."""
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return usage.ru_maxrss * 1024 / 1e9  # Linux counts in KiB


if __name__ == "__main__":
    main()
