"""`imboost bench datasets`: the sizes of the data sets, beside the paper's table C.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from imboost.cli import options
from imboost.reporting.formatting import percent

if TYPE_CHECKING:
    from imboost.benchmark.data_sets import DatasetFacts


def datasets(data: options.BenchmarkData) -> None:
    """List rows, columns and outliers of the data sets, beside the paper's table C.1."""
    from imboost.benchmark.data_sets import describe_datasets
    from imboost.datasets.adbench import find_datasets

    table = Table()
    table.add_column("data set", overflow="fold")
    for name in ("parts", "rows", "columns", "outliers", "share"):
        table.add_column(name, justify="right")
    table.add_column("in the paper")
    for facts in describe_datasets(find_datasets(data).values()):
        counts = (facts.n_parts, facts.rows, facts.columns, facts.outliers)
        size = (f"{number:,}" for number in counts)
        table.add_row(facts.group, *size, percent(facts.share), _describe_paper(facts))
    Console().print(table, highlight=False)


def _describe_paper(facts: DatasetFacts) -> str:
    if facts.paper is None:
        return "–"
    if facts.is_other_data:
        return facts.difference
    if not facts.difference:
        return "the same"
    paper = facts.paper
    return f"{paper.rows:,} × {paper.columns:,}, {paper.outliers:,} outliers"
