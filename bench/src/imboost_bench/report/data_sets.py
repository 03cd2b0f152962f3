"""The data sets of a folder beside the paper's table C.1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from imboost.present.formatting import percent
from imboost_bench.analysis.aggregate import reading_order
from imboost_bench.datasets.adbench import ADBenchFile, find_datasets, read_size
from imboost_bench.paper import OTHER_DATA, OUTLIER_SHARES, PARTS, PaperDataset, paper_datasets
from imboost_bench.report.formatting import Kind
from imboost_bench.report.report_table import Table


@dataclass(frozen=True)
class DatasetFacts:
    """Size of a data set.

    Rows and outliers of a data set with several parts are those of one part if all parts have
    the same numbers, as in the paper's table, and the sums otherwise.
    """

    group: str
    n_parts: int
    rows: int
    columns: int
    outliers: int

    @property
    def share(self) -> float:
        """Fraction of outliers."""
        return self.outliers / self.rows

    @property
    def paper(self) -> PaperDataset | None:
        """The row of the paper's table."""
        return paper_datasets().get(self.group.lower())

    @property
    def is_other_data(self) -> bool:
        """Whether the paper's results are those of other data, whatever its table says."""
        return self.group in OTHER_DATA

    @property
    def other_numbers(self) -> list[str]:
        """Names of the numbers that differ from the paper's table."""
        names = ("rows", "columns", "outliers")
        return [name for name in names if getattr(self, name) != getattr(self.paper, name, None)]

    @property
    def other_rows(self) -> list[str]:
        """Why the paper's runs have other rows, whatever its table says."""
        if self.is_other_data:
            return ["another data set"]
        found = []
        if self.n_parts < PARTS.get(self.group, 1):
            found.append(f"{self.n_parts} of {PARTS[self.group]} parts")
        limit = OUTLIER_SHARES.get(self.group, 1.0)
        if limit < self.share:
            found.append(f"at most {percent(limit)} outliers in the paper's runs")
        return found

    @property
    def difference(self) -> str:
        """What differs from the paper's table and runs; "" if nothing does or it has no row."""
        if self.paper is None:
            return ""
        return ", ".join(self.other_rows + self.other_numbers)


def describe_datasets(files: Iterable[ADBenchFile]) -> list[DatasetFacts]:
    """Return the size of every data set, tables first; only labels and shapes are read."""
    ordered = sorted(files, key=lambda file: reading_order(file.group))
    facts = []
    for group, own in groupby(ordered, key=lambda file: file.group):
        sizes = [read_size(file) for file in own]
        is_even = len({(size.rows, size.outliers) for size in sizes}) == 1
        total = max if is_even else sum
        rows, outliers = (total([getattr(s, of) for s in sizes]) for of in ("rows", "outliers"))
        columns = max(size.columns for size in sizes)
        facts.append(DatasetFacts(group, len(sizes), rows, columns, outliers))
    return facts


def data_set_table(folder: Path | str) -> Table:
    """Return the sizes of the data sets in a folder, beside the paper's (table C.1)."""
    import pandas as pd

    rows = []
    for facts in describe_datasets(find_datasets(folder).values()):
        row = {
            "data set": facts.group,
            "parts": facts.n_parts,
            **{name: getattr(facts, name) for name in _KINDS},
            **{f"paper's {name}": getattr(facts.paper, name, None) for name in _KINDS},
            "differs in": facts.difference,
        }
        rows.append(row)
    kinds = _KINDS | {f"paper's {name}": kind for name, kind in _KINDS.items()}
    return Table(pd.DataFrame(rows), kinds | {"parts": "count", "differs in": "prose"})


_KINDS: dict[str, Kind] = {
    "rows": "count",
    "columns": "count",
    "outliers": "count",
    "share": "percent",
}
