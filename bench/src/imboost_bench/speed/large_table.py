"""Speed and memory of fitting and scoring Parquet files, also larger than memory.

``python -m imboost_bench.speed.large_table --rows 20000000 --columns 30``
``python -m imboost_bench.speed.large_table --orders --rows 10000 --rows 100000 --rows 1000000``
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from imboost.datasets.orders import mixed_table
from imboost_bench.speed.timing import PROGRAM, in_new_process, peak_memory

GROUP_ROWS = 200_000


def main(
    rows: Annotated[list[int] | None, typer.Option(help="Default: 20,000,000.")] = None,
    columns: int = 30,
    detector: str = "stack",
    fit_only: bool = False,
    orders: Annotated[bool, typer.Option(help="Orders with mixed columns, not numbers.")] = False,
) -> None:
    """Write a table of each size, fit a model on it, score it, and print times and memory."""
    for n_rows in rows or [20_000_000]:
        with TemporaryDirectory() as folder:
            table, model = Path(folder, "table.parquet"), Path(folder, "model")
            if orders:
                in_new_process(write_orders, table, n_rows)
            else:
                in_new_process(write_table, table, n_rows, columns)
            print(f"{n_rows:,} rows, {table.stat().st_size / 1e9:.2f} GB of Parquet", flush=True)
            commands = [("fit", table, "--out", model, "--detector", detector)]
            for command in commands if fit_only else [*commands, ("score", model, table)]:
                start = perf_counter()
                memory = peak_memory(*PROGRAM, *command)
                seconds = perf_counter() - start
                speed = f"{seconds:.1f} s, {n_rows / seconds:,.0f} rows per second"
                print(f"    {command[0]}: {speed}, {memory:.2f} GB at most", flush=True)


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
                pa.array(column, mask=mask)
                for column, mask in zip(values.T, is_missing.T, strict=True)
            ]
            ids = pa.array(np.arange(first, first + n))
            writer.write_table(pa.table([ids, *columns], schema=schema))


def write_orders(path: Path, n_rows: int) -> None:
    """Write a table of orders with planted outliers, in row groups."""
    with pq.ParquetWriter(path, mixed_table(1_000).table.schema) as writer:
        for number, first in enumerate(range(0, n_rows, GROUP_ROWS)):
            n = min(GROUP_ROWS, n_rows - first)
            writer.write_table(mixed_table(n, seed=number).table)


if __name__ == "__main__":
    typer.run(main)
