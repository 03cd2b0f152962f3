"""Run `imboost label` as from a shell, on a table of orders with a group of like outliers."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.csv

from imboost.datasets.orders import mixed_table

START_SECONDS = 60
N_LIKE = 14  # rows whose weight is in grams instead of kilograms


def write_orders(path, n_rows):
    """Write a table of orders; return which rows are outliers."""
    made = mixed_table(n_rows, contamination=0.03)
    y, weight = made.y.copy(), made.table.column("weight").to_numpy().copy()
    like = np.flatnonzero((y == 0) & ~np.isnan(weight))[:: n_rows // N_LIKE // 2][:N_LIKE]
    weight[like] *= 1000
    y[like] = 1
    at = made.table.column_names.index("weight")
    table = made.table.set_column(at, "weight", pa.array(weight, from_pandas=True))
    pyarrow.csv.write_csv(table, path)
    return y == 1


@contextmanager
def run_labelling(table):
    """Start the program on a table; yield the address of the page."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    run = [sys.executable, "-c", "from imboost.cli.main import main; main()"]
    log = table.with_suffix(".log")
    with log.open("wb") as output:
        program = subprocess.Popen(
            [*run, "label", table, "--no-browser", "--port", str(port)],
            stdout=output,
            stderr=output,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
    try:
        _wait_for(port, program, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        program.terminate()
        program.wait(START_SECONDS)


def _wait_for(port, program, log):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and program.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"The program did not start: {log.read_text()}")
