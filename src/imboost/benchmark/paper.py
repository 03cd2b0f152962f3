"""The paper's results (tables C.2 to C.7 and C.13), shipped with the package."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

RUNNING_TIMES = {("oc-nce", "ab"): 6900.44, ("sb-nce", "rd"): 6966.73, ("imboost", "mm"): 4484.17}
"""Seconds for all 57 data sets with one seed (table C.13)."""

PAPER_ROUNDS = 5  # rounds of questions in the paper's protocol

_QUERIES = {
    "xgbod": ["rd"],
    "dsad": ["rd", "hc", "ab"],
    "sb": ["rd", "hc", "db", "ab"],
    "sb-nce": ["rd", "hc", "db", "ab"],
    "oc": ["rd", "hc", "ab"],
    "oc-nce": ["rd", "hc", "ab"],
}

METHODS = {
    (detector, query): f"{detector}+{query}".upper()
    for detector, queries in _QUERIES.items()
    for query in queries
} | {("imboost", "mm"): "IMBoost"}
"""Column of the tables for each detector and query strategy."""

_TABLES = {
    "test_auc": "table_test_auc.csv",
    "test_ap": "table_test_ap.csv",
    "train_auc": "table_training_auc.csv",
    "train_ap": "table_training_ap.csv",
}
_SUMMARY_ROWS = ("Average", "std")


@cache
def paper_figures(metric: str, method: str) -> dict[str, float]:
    """Return `metric`, such as "test_auc", of a column of the tables by lower-case data set.

    >>> paper_figures("test_auc", "IMBoost")["thyroid"]
    0.97
    """
    return {
        row["dataset"].lower(): float(row[method])
        for row in _read(_TABLES[metric])
        if row["dataset"] not in _SUMMARY_ROWS
    }


@cache
def paper_rounds(query: str, statistic: str = "mean") -> dict[int, float]:
    """Return the mean or std over seeds of IMBoost's test AUC after each round (table C.7).

    It is empty for a query strategy that the paper does not have. The last round is table C.6.
    """
    column = query if statistic == "mean" else f"{query} {statistic}"
    rows = _read("queries_by_round.csv")
    return {int(row["round"]): float(row[column]) for row in rows if column in row}


def _read(name: str) -> list[dict[str, str]]:
    source = files("imboost.benchmark") / "paper_tables" / name
    return list(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))
