"""The paper's own figures (tables C.2 to C.5 and C.7), shipped with the package."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

PAPER_ROUNDS = 5
"""Rounds of questions after which the tables C.2 to C.5 were taken."""

METHODS: dict[tuple[str, str], str] = {("imboost", "mm"): "IMBoost"}
"""Which column of the tables a detector with a query strategy is compared with."""

_TABLES = {
    "test_auc": "table_test_auc.csv",
    "test_ap": "table_test_ap.csv",
    "train_auc": "table_training_auc.csv",
    "train_ap": "table_training_ap.csv",
}
_SUMMARY_ROWS = ("Average", "std")


@cache
def paper_figures(metric: str, method: str) -> dict[str, float]:
    """Return the final-round figure of every data set, by lower-case name.

    Parameters
    ----------
    metric : {"test_auc", "test_ap", "train_auc", "train_ap"}
        Which table.
    method : str
        Its column, such as "IMBoost".

    >>> paper_figures("test_auc", "IMBoost")["thyroid"]
    0.97
    """
    return {
        row["dataset"].lower(): float(row[method])
        for row in _read(_TABLES[metric])
        if row["dataset"] not in _SUMMARY_ROWS
    }


@cache
def paper_rounds(query: str) -> dict[int, float]:
    """Return IMBoost's mean test AUC after each round with a query strategy (table C.7)."""
    rows = _read("queries_by_round.csv")
    return {int(row["round"]): float(row[query]) for row in rows if query in row}


def _read(name: str) -> list[dict[str, str]]:
    source = files("imboost.benchmark") / "paper_tables" / name
    return list(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))
