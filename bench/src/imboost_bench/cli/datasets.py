"""`imboost-bench datasets`: the sizes of the data sets, beside the paper's table C.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from imboost.present.formatting import percent
from imboost_bench.cli import options

if TYPE_CHECKING:
    from imboost_bench.report.data_sets import DatasetFacts


def datasets(data: options.BenchmarkData) -> None:
    """List rows, columns and outliers of the data sets, beside the paper's table C.1.

    The last column says what differs from that table, and from the paper's runs.
    """
    from imboost_bench.datasets.adbench import find_datasets
    from imboost_bench.paper import OTHER_DATA_NOTE
    from imboost_bench.report.data_sets import describe_datasets

    table = Table()
    table.add_column("data set", overflow="fold")
    for name in ("parts", "rows", "columns", "outliers", "share"):
        table.add_column(name, justify="right")
    table.add_column("in the paper")
    found = describe_datasets(find_datasets(data).values())
    for facts in found:
        counts = (facts.n_parts, facts.rows, facts.columns, facts.outliers)
        size = (f"{number:,}" for number in counts)
        table.add_row(facts.group, *size, percent(facts.share), _describe_paper(facts))
    console = Console()
    console.print(table, highlight=False)
    if any(facts.is_other_data for facts in found):
        console.print(OTHER_DATA_NOTE, highlight=False, soft_wrap=True)


def _describe_paper(facts: DatasetFacts) -> str:
    if facts.paper is None:
        return "–"
    if not facts.difference:
        return "the same"
    paper = facts.paper
    size = f"{paper.rows:,} × {paper.columns:,}, {paper.outliers:,} outliers"
    return "; ".join(([size] if facts.other_numbers else []) + facts.other_rows)
