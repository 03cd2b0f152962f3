"""How the time of `fit` and `score` grows with the rows of a table of orders.

``python -m imboost_bench.speed.growth --most 10000000 --out growth.svg``

Each table has ten times the rows of the one before. The figure is log-log: a line of slope 1 is
linear growth.
"""

from __future__ import annotations

import argparse
import math
import sys
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import pyarrow.parquet as pq

from imboost.datasets.orders import mixed_table
from imboost_bench.report.canvas import marker_style, new_figure, to_svg
from imboost_bench.speed.large_table import in_new_process, peak_memory

LEAST_ROWS = 10_000
GROUP_ROWS = 200_000


def main() -> None:
    """Measure all sizes, print them and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10_000_000, help="Rows of the largest table.")
    parser.add_argument("--detector", default="stack")
    parser.add_argument("--out", type=Path, default=Path("growth.svg"))
    options = parser.parse_args()
    n_sizes = round(math.log10(options.most / LEAST_ROWS)) + 1
    sizes = [LEAST_ROWS * 10**number for number in range(n_sizes)]
    seconds: dict[str, dict[int, float]] = {"fit": {}, "score": {}}
    for n_rows in sizes:
        for name, (spent, memory) in measure(n_rows, options.detector).items():
            seconds[name][n_rows] = spent
            print(
                f"{n_rows:>10,} rows, {name:5}: {spent:8.1f} s, {n_rows / spent:9,.0f} rows per "
                f"second, {memory:.2f} GB",
                flush=True,
            )
    for name, curve in seconds.items():
        slopes = [math.log10(curve[after] / curve[before]) for before, after in pairwise(sizes)]
        print(f"{name}: slopes {', '.join(f'{slope:.2f}' for slope in slopes)}; 1 is linear")
    options.out.write_text(draw(seconds), encoding="utf-8")


def measure(n_rows: int, detector: str) -> dict[str, tuple[float, float]]:
    """Return seconds and peak memory in GB of fitting and scoring a new table."""
    found = {}
    with TemporaryDirectory() as folder:
        table, model = Path(folder, "orders.parquet"), Path(folder, "orders.model")
        in_new_process(write_orders, table, n_rows)
        fit = ["fit", str(table), "--out", str(model), "--detector", detector]
        for name, arguments in (("fit", fit), ("score", ["score", str(model), str(table)])):
            start = perf_counter()
            memory = peak_memory([sys.executable, "-m", "imboost", *arguments])
            found[name] = (perf_counter() - start, memory)
    return found


def write_orders(path: Path, n_rows: int) -> None:
    """Write a table of orders with planted outliers, in row groups."""
    writer = None
    for number, first in enumerate(range(0, n_rows, GROUP_ROWS)):
        table = mixed_table(min(GROUP_ROWS, n_rows - first), seed=number).table
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def draw(seconds: dict[str, dict[int, float]]) -> str:
    """Return the figure as SVG: seconds over rows, with a dotted line of slope 1 for each."""
    figure, [axes] = new_figure(6.4, 4.0)
    for number, (name, curve) in enumerate(seconds.items()):
        style = marker_style(number)
        axes.loglog(list(curve), list(curve.values()), label=name, **style)
        first, last = min(curve), max(curve)
        linear = [curve[first], curve[first] * last / first]
        axes.loglog([first, last], linear, ":", color=style["color"], linewidth=0.8)
    axes.set_xlabel("rows of the table")
    axes.set_ylabel("seconds (dotted: linear growth)")
    axes.legend(frameon=False)
    return to_svg(figure)


if __name__ == "__main__":
    main()
