"""The data sets of a folder beside the paper's table C.1."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from imboost_bench.analysis.comparison import reading_order
from imboost_bench.analysis.method_key import rows_unlike_paper
from imboost_bench.datasets.adbench import find_datasets, read_dataset
from imboost_bench.paper import paper_datasets
from imboost_bench.report.tables import Table
from imboost_bench.run.query_protocol import ALL_OUTLIERS

_SIZES = ["rows", "columns", "outliers"]


def data_set_table(folder: Path | str) -> Table:
    """Return the sizes of the data sets in a folder, beside the paper's (table C.1).

    Parts with the same numbers of rows and outliers count once, as in the paper's table.
    """
    files = find_datasets(folder).values()
    sizes = [(own.n_rows, own.n_features, own.n_outliers) for own in map(read_dataset, files)]
    parts = pd.DataFrame(sizes, columns=_SIZES)
    by_group = parts.groupby([file.group for file in files])
    is_alike = by_group[["rows", "outliers"]].nunique().max(axis=1) == 1
    table = by_group.max()
    table.loc[~is_alike, ["rows", "outliers"]] = by_group[["rows", "outliers"]].sum()
    table.insert(0, "parts", by_group.size())
    table["share"] = table["outliers"] / table["rows"]
    table = table.sort_index(key=lambda names: names.map(reading_order))
    papers = paper_datasets().reindex(table.index.str.lower()).set_axis(table.index)
    shown = table.join(papers.add_prefix("paper's "))
    shown["differs in"] = [difference(str(name), size) for name, size in table.iterrows()]
    return Table(shown.reset_index(names="data set"))


def difference(group: str, size: Mapping[str, float]) -> str:
    """Say what differs from the paper's table and runs; "" if nothing does."""
    if group.lower() not in paper_datasets().index:
        return "not in the paper"
    paper = paper_datasets().loc[group.lower()]
    reasons = [rows_unlike_paper(group, ALL_OUTLIERS, int(size["parts"]))]
    reasons += [f"{paper[of]:,.0f} {of} in the paper" for of in _SIZES if size[of] != paper[of]]
    return "; ".join(filter(None, reasons))
