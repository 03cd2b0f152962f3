"""The paper's data sets (table C.1) and results (C.2 to C.7, C.13), shipped with the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

RUNNING_TIMES = {("oc-nce", "ab"): 6900.44, ("sb-nce", "rd"): 6966.73, ("imboost", "mm"): 4484.17}
"""Seconds for all 57 data sets with one seed (table C.13)."""

PAPER_ROUNDS = 5  # rounds of questions in the paper's protocol

OUTLIER_SHARES = {
    "annthyroid": 0.07,
    "cover": 0.009,
    "MVTec-AD": 0.05,
    "satimage-2": 0.01,
    "thyroid": 0.02,
}
"""Largest fraction of outliers in the paper's runs, by data set; from the released code.

Of the other data sets the paper uses all outliers, as far as is known.
"""

OTHER_DATA = frozenset({"mnist"})
"""Data sets of the paper that are not ADBench's, see `OTHER_DATA_NOTE`."""

OTHER_DATA_NOTE = (
    "mnist is another data set, although the paper's table has the numbers of ADBench's: the "
    "paper's runs use raw MNIST with 10% outliers."
)

PARTS = {
    "20news": 6,
    "agnews": 4,
    "CIFAR10": 10,
    "FashionMNIST": 10,
    "MNIST-C": 15,
    "MVTec-AD": 15,
    "SVHN": 10,
}
"""Number of parts of ADBench's image and text data sets with more than one."""

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


@cache
def paper_datasets() -> DataFrame:
    """Return table C.1 by lower-case data set: rows, columns, outliers and their share.

    >>> paper_datasets().loc["thyroid"].to_list()
    [3772.0, 6.0, 93.0, 0.0247]
    """
    table = _read("data_sets")[["rows", "columns", "outliers", "percent"]]
    table["percent"] = (table["percent"] / 100).round(6)
    return table.rename(columns={"percent": "share"})


@cache
def paper_figures(metric: str, method: str) -> dict[str, float]:
    """Return `metric`, such as "test_auc", of a column of the tables by lower-case data set.

    >>> paper_figures("test_auc", "IMBoost")["thyroid"]
    0.97
    """
    table = _read(f"table_{metric.replace('train', 'training')}")
    figures: dict[str, float] = table[method].drop(["average", "std"]).to_dict()
    return figures


@cache
def paper_rounds(query: str, statistic: str = "mean") -> dict[int, float]:
    """Return the mean or std over seeds of IMBoost's test AUC after each round (table C.7).

    It is empty for a query strategy that the paper does not have. The last round is table C.6;
    of "rd-mm" the paper gives only that, without a deviation.
    """
    rounds = _read("queries_by_round")
    column = query if statistic == "mean" else f"{query} {statistic}"
    known = rounds[column].dropna().to_dict() if column in rounds else {}
    return {int(number): value for number, value in known.items()}


def paper_claims() -> DataFrame:
    """Return the claims of the paper that a trace can check, by the name of the check.

    The columns are losses (their scale; "" if it makes no difference), source and claim.
    """
    return _read("claims").fillna({"losses": ""})


def _read(name: str) -> DataFrame:
    """Read a table with its first column as the index, in lower case."""
    import pandas as pd

    with (files("imboost_bench") / "paper_tables" / f"{name}.csv").open("rb") as file:
        table = pd.read_csv(file, index_col=0)
    return table.set_axis(table.index.astype(str).str.lower())
