"""How fast, and in how much memory, a Parquet file larger than memory is scored.

``python -m benchmarks.large_table --rows 20000000 --columns 30 --detector imboost``
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
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
        write_table(beginning, TRAINING_ROWS, wished.columns)
        write_table(table, wished.rows, wished.columns)
        print(
            f"{wished.rows:,} x {wished.columns}, {table.stat().st_size / 1e9:.2f} GB of Parquet"
        )
        model = str(Path(folder, "model"))
        run("fit", str(beginning), "--out", model, "--detector", wished.detector)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        run("score", model, str(table))
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(f"memory at most: {after / 1e6:.2f} GB; of the training {before / 1e6:.2f} GB")


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


def run(*words: str) -> None:
    """Run one command of the program."""
    print("$ imboost", *words, flush=True)
    subprocess.run([sys.executable, "-m", "imboost", *words], check=True)


if __name__ == "__main__":
    main()
