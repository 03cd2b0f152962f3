"""Scoring on a Ray cluster: rows per second of one and two nodes, and what a dead node costs.

``python -m imboost_bench.speed.ray_scale --rows 100000000 --columns 10 --detector imboost``

The nodes have one core each and run on this machine. Workers are started and the model is loaded
before the time is taken.
"""

from __future__ import annotations

import argparse
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from imboost_bench.speed.large_table import in_new_process, write_table

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # before Ray is imported

WARM_UP_ROWS = 400_000  # two parts, one for each worker
KILLED_AFTER = 0.3  # fraction of the rows that are scored when the node is killed


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--detector", default="imboost")
    parser.add_argument("--model", type=Path, help="Use this model of such a table.")
    parser.add_argument("--nodes", default="1,2", help="Numbers of nodes, one after the other.")
    parser.add_argument("--kill", action="store_true", help="Also kill a node in the middle.")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        warm_up, table = folder / "warm-up.parquet", folder / "table.parquet"
        in_new_process(write_table, warm_up, WARM_UP_ROWS, options.columns)
        in_new_process(write_table, table, options.rows, options.columns)
        print(f"{options.rows:,} x {options.columns}", flush=True)
        model = options.model or folder / "model"
        if options.model is None:
            fit = [sys.executable, "-m", "imboost", "fit", str(warm_up), "--out", str(model)]
            subprocess.run([*fit, "--detector", options.detector], check=True)
        speeds = {}
        for n_nodes in map(int, options.nodes.split(",")):
            speeds[n_nodes] = score(n_nodes, model, warm_up, table, folder / f"out-{n_nodes}")
            per_core = speeds[n_nodes] / n_nodes
            print(
                f"{n_nodes} nodes: {speeds[n_nodes]:,.0f} rows per second, {per_core:,.0f} per "
                f"core, {speeds[n_nodes] / min(speeds.values()):.2f} times the slowest",
                flush=True,
            )
        if options.kill:
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
    n_rows = 0
    for part in sorted(out.glob("part-*.parquet")):
        numbers = pq.read_table(part, columns=["row"]).column("row").to_numpy()
        if not np.array_equal(numbers, np.arange(n_rows, n_rows + len(numbers))):
            return f"{part.name} does not follow row {n_rows - 1:,}"
        n_rows += len(numbers)
    return f"{n_rows:,} rows, each once"


if __name__ == "__main__":
    main()
