"""Scoring on a Ray cluster: rows per second of one and two nodes, and what a dead node costs.

``python -m imboost_bench.speed.ray_scale --rows 100000000 --columns 10 --detector imboost``

The nodes have one core each and run on this machine. Workers are started and the model is loaded
before the time is taken.
"""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import pyarrow.parquet as pq
import typer

from imboost_bench.speed.large_table import write_table
from imboost_bench.speed.timing import PROGRAM, in_new_process

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # before Ray is imported

WARM_UP_ROWS = 400_000  # two parts, one for each worker
KILLED_AFTER = 0.3  # fraction of the rows that are scored when the node is killed


def main(
    rows: int = 100_000_000,
    columns: int = 10,
    detector: str = "imboost",
    model: Annotated[Path | None, typer.Option(help="A model of such a table.")] = None,
    nodes: Annotated[str, typer.Option(help="Numbers of nodes, one after the other.")] = "1,2",
    kill: Annotated[bool, typer.Option(help="Also kill a node in the middle.")] = False,
) -> None:
    """Print all figures."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        warm_up, table = folder / "warm-up.parquet", folder / "table.parquet"
        in_new_process(write_table, warm_up, WARM_UP_ROWS, columns)
        in_new_process(write_table, table, rows, columns)
        print(f"{rows:,} x {columns}", flush=True)
        if model is None:
            model = folder / "model"
            fit = [*PROGRAM, "fit", str(warm_up), "--out", str(model), "--detector", detector]
            subprocess.run(fit, check=True)
        for n_nodes in map(int, nodes.split(",")):
            speed = score(n_nodes, model, warm_up, table, folder / f"out-{n_nodes}")
            per_core = f"{speed / n_nodes:,.0f} per core"
            print(f"{n_nodes} nodes: {speed:,.0f} rows per second, {per_core}", flush=True)
        if kill:
            out = folder / "out-killed"
            speed = score(2, model, warm_up, table, out, kills=True)
            print(f"one of 2 nodes killed: {speed:,.0f} rows per second; {check(out)}")


def score(
    n_nodes: int, model: Path, warm_up: Path, table: Path, out: Path, *, kills: bool = False
) -> float:
    """Score a table on a new cluster; return rows per second."""
    from imboost.scoring.ray_engine import RayScores

    with cluster(n_nodes) as nodes:
        RayScores(model, warm_up, out.with_suffix(".warm-up")).run()
        scores, n_done = RayScores(model, table, out), 0

        def progress(n: int) -> None:
            nonlocal n_done
            n_done += n
            if kills and nodes.worker_nodes and n_done > KILLED_AFTER * scores.folder.table.n_rows:
                nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)
                print(f"killed a node after {n_done:,} rows", flush=True)

        scores.run(progress=progress)
    return scores.summary.n_rows / scores.seconds


@contextmanager
def cluster(n_nodes: int) -> Iterator[Any]:
    """Start nodes of one core each and connect to them."""
    import ray
    from ray.cluster_utils import Cluster

    started: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    for _ in range(n_nodes - 1):
        started.add_node(num_cpus=1)
    ray.init(address=started.address, log_to_driver=False, logging_level=logging.ERROR)
    try:
        yield started
    finally:
        ray.shutdown()
        started.shutdown()


def check(out: Path) -> str:
    """Count the rows of all parts again, from their row numbers."""
    parts = [pq.read_table(part, columns=["row"]) for part in sorted(out.glob("part-*.parquet"))]
    numbers = np.concatenate([part.column("row").to_numpy() for part in parts])
    if not np.array_equal(numbers, np.arange(len(numbers))):
        return "row numbers are missing, doubled or out of order"
    return f"{len(numbers):,} rows, each once"


if __name__ == "__main__":
    typer.run(main)
