"""The data sets of a folder beside the paper's table C.1."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from imboost.present.formatting import percent
from imboost_bench.analysis.aggregate import reading_order
from imboost_bench.datasets.adbench import find_datasets, read_size
from imboost_bench.paper import OTHER_DATA, OUTLIER_SHARES, PARTS, paper_datasets
from imboost_bench.report.formatting import Kind
from imboost_bench.report.report_table import Table

_KINDS: dict[str, Kind] = {
    "rows": "count",
    "columns": "count",
    "outliers": "count",
    "share": "percent",
}


def data_set_table(folder: Path | str) -> Table:
    """Return the sizes of the data sets in a folder, beside the paper's (table C.1).

    Rows and outliers of a data set with several parts are those of one part if all parts have
    the same numbers, as in the paper's table, and the sums otherwise. Only labels and shapes are
    read.
    """
    import pandas as pd

    rows = []
    ordered = sorted(find_datasets(folder).values(), key=lambda file: reading_order(file.group))
    for group, files in groupby(ordered, key=lambda file: file.group):
        sizes = [read_size(file) for file in files]
        total = max if len({(size[0], size[2]) for size in sizes}) == 1 else sum
        n_rows, n_outliers = (total(size[at] for size in sizes) for at in (0, 2))
        size = {
            "rows": n_rows,
            "columns": max(size[1] for size in sizes),
            "outliers": n_outliers,
            "share": n_outliers / n_rows,
        }
        paper = paper_datasets().get(group.lower())
        rows.append(
            {"data set": group, "parts": len(sizes)}
            | size
            | {f"paper's {name}": getattr(paper, name, None) for name in size}
            | {"differs in": difference(group, len(sizes), size)}
        )
    kinds = _KINDS | {f"paper's {name}": kind for name, kind in _KINDS.items()}
    return Table(pd.DataFrame(rows), kinds | {"parts": "count", "differs in": "prose"})


def difference(group: str, n_parts: int, size: dict[str, float]) -> str:
    """Say what differs from the paper's table and runs; "" if nothing does."""
    paper = paper_datasets().get(group.lower())
    if paper is None:
        return "not in the paper"
    names = [
        name for name in ("rows", "columns", "outliers") if size[name] != getattr(paper, name)
    ]
    numbers = [f"{getattr(paper, name):,} {name} in the paper" for name in names]
    if group in OTHER_DATA:
        return "; ".join(["another data set", *numbers])
    limit = OUTLIER_SHARES.get(group, 1.0)
    reasons = [f"{n_parts} of {PARTS[group]} parts"] if n_parts < PARTS.get(group, 1) else []
    if limit < size["share"]:
        reasons.append(f"at most {percent(limit)} outliers in the paper's runs")
    return "; ".join(reasons + numbers)
