"""Findings on real tables: false ones on untouched tables, and planted errors that are found.

An error counts as found if a finding names its row, and its column where it has one.

``python -m imboost_bench.cells.planted_findings``
"""

from __future__ import annotations

from collections import Counter
from time import perf_counter

import numpy as np
import typer

from imboost.findings import check_table
from imboost_bench.cells.planting import plant_errors
from imboost_bench.cells.real_tables import BUILDING, REPORTING, load_real_table


def main(seed: int = 0) -> None:
    """Print false findings per column, and the fraction of planted errors found, by kind."""
    n_planted: Counter[str] = Counter()
    n_found: Counter[str] = Counter()
    n_findings = n_columns = 0
    for name in (*BUILDING, *REPORTING):
        frame = load_real_table(name)
        before = perf_counter()
        untouched = check_table(frame)
        seconds = perf_counter() - before
        n_findings += len(untouched)
        n_columns += frame.shape[1]
        kinds = ", ".join(sorted(finding.kind for finding in untouched))
        print(f"{name:27}{frame.shape[0]:7,} x{frame.shape[1]:3}{seconds:7.1f} s  {kinds}")
        planted = plant_errors(frame, seed=seed)
        order = np.argsort(planted.is_error, kind="stable")  # copies after their originals
        named = {
            (int(order[row]), column)
            for finding in check_table(planted.table.take(order))
            for row in finding.rows
            for column in (*finding.columns, "")
        }
        for row in np.flatnonzero(planted.is_error).tolist():
            kind = str(planted.kinds[row])
            n_planted[kind] += 1
            n_found[kind] += any((row, name) in named for name in planted.columns[row] or [""])
    print(f"\n{n_findings} findings about {n_columns} columns of untouched tables")
    for kind, n in sorted(n_planted.items()):
        print(f"{kind:26}{n_found[kind] / n:7.1%} of {n} planted errors found")
    print(f"{'all':26}{n_found.total() / n_planted.total():7.1%} of {n_planted.total()}")


if __name__ == "__main__":
    typer.run(main)
