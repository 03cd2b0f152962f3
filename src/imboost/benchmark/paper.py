"""The paper's results (tables C.2 to C.7 and C.13), shipped with the package."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

RUNNING_TIMES = {("oc-nce", "ab"): 6900.44, ("sb-nce", "rd"): 6966.73, ("imboost", "mm"): 4484.17}
"""Seconds for all 57 data sets with one seed (table C.13)."""

PAPER_ROUNDS = 5
"""Rounds of questions in the paper's protocol."""

METHODS: dict[tuple[str, str], str] = {
    ("xgbod", "rd"): "XGBOD+RD",
    ("dsad", "rd"): "DSAD+RD",
    ("dsad", "hc"): "DSAD+HC",
    ("dsad", "ab"): "DSAD+AB",
    ("sb", "rd"): "SB+RD",
    ("sb", "hc"): "SB+HC",
    ("sb", "db"): "SB+DB",
    ("sb", "ab"): "SB+AB",
    ("sb-nce", "rd"): "SB-NCE+RD",
    ("sb-nce", "hc"): "SB-NCE+HC",
    ("sb-nce", "db"): "SB-NCE+DB",
    ("sb-nce", "ab"): "SB-NCE+AB",
    ("oc", "rd"): "OC+RD",
    ("oc", "hc"): "OC+HC",
    ("oc", "ab"): "OC+AB",
    ("oc-nce", "rd"): "OC-NCE+RD",
    ("oc-nce", "hc"): "OC-NCE+HC",
    ("oc-nce", "ab"): "OC-NCE+AB",
    ("imboost", "mm"): "IMBoost",
}
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
    """Return the metric of every data set after the last round, by lower-case name.

    Parameters
    ----------
    metric : {"test_auc", "test_ap", "train_auc", "train_ap"}
        Selects the table.
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
    """Return IMBoost's mean test AUC after each round with a query strategy (table C.7).

    The last round is table C.6.
    """
    return _rounds(query)


@cache
def paper_round_deviations(query: str) -> dict[int, float]:
    """Return the standard deviations over seeds of `paper_rounds`."""
    return _rounds(f"{query} std")


def _rounds(column: str) -> dict[int, float]:
    rows = _read("queries_by_round.csv")
    return {int(row["round"]): float(row[column]) for row in rows if column in row}


def _read(name: str) -> list[dict[str, str]]:
    source = files("imboost.benchmark") / "paper_tables" / name
    return list(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))
