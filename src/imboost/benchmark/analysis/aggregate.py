"""Aggregate results over seeds and over the parts of a data set.

Results are one data frame with a row per run and round and the columns of `RoundResult`. A
data set is a `group`: one table, or an image or text data set whose parts are `dataset`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from imboost.benchmark.analysis.method_key import MethodKey
from imboost.benchmark.paper import paper_figures
from imboost.benchmark.run.protocol import RoundResult

if TYPE_CHECKING:
    from pandas import DataFrame

METRICS = ["test_auc", "test_ap", "train_auc", "train_ap"]
IMAGE_GROUPS = ("CIFAR10", "FashionMNIST", "MNIST-C", "MVTec-AD", "SVHN")
TEXT_GROUPS = ("20news", "agnews", "amazon", "imdb", "yelp")
EMBEDDING_GROUPS = frozenset((*IMAGE_GROUPS, *TEXT_GROUPS))
"""The paper's image and text data sets; all others are tabular."""


def is_tabular(group: str) -> bool:
    """Whether a data set is a table rather than embeddings of images or text."""
    return group.rpartition("/")[2] not in EMBEDDING_GROUPS


def reading_order(group: str) -> tuple[bool, str]:
    """Sort key: tables before embeddings, each by name."""
    return not is_tabular(group), group.lower()


def results_frame(lines: Sequence[RoundResult]) -> DataFrame:
    """Return the lines as a data frame, with the name of the method in a column."""
    import pandas as pd

    names = [MethodKey.of(line).name for line in lines]
    return pd.DataFrame([vars(line) for line in lines]).assign(method=names)


def finished_rounds(frame: DataFrame) -> DataFrame:
    """Return all rounds of the successful runs, without those whose test AUC is missing."""
    known = frame[(frame["status"] == "ok") & frame["test_auc"].notna()]
    last = known.groupby(["method", "dataset", "seed"])["round"].transform("max")
    return known[last == known["rounds"]]


def last_rounds(rounds: DataFrame) -> DataFrame:
    """Return the last round of every run."""
    return rounds[rounds["round"] == rounds["rounds"]]


def mean_over_seeds(rows: DataFrame, *keys: str) -> DataFrame:
    """Average the seeds of each part of a data set, then the parts.

    Parameters
    ----------
    rows : DataFrame
        One row per run within each combination of `keys`.
    *keys : str
        Columns to group by, such as "method" or "method" and "round".

    Returns
    -------
    DataFrame
        Indexed by the keys, group and metric, with the columns mean, std (over the seeds that
        all parts have; NaN for fewer than two), n_seeds, n_parts and seconds.
    """
    import pandas as pd

    index = [*keys, "group"]
    by_data_set = rows.groupby(index)
    counts = by_data_set.agg(
        n_seeds=("seed", "nunique"), n_parts=("dataset", "nunique"), seconds=("seconds", "mean")
    )
    mean = rows.groupby([*index, "dataset"])[METRICS].mean().groupby(index).mean()
    n_parts = by_data_set["dataset"].transform("nunique")
    has_all_parts = rows.groupby([*index, "seed"])["dataset"].transform("nunique") == n_parts
    by_seed = rows[has_all_parts].groupby([*index, "seed"])[METRICS].mean()
    std = by_seed.groupby(index).std()
    long = pd.concat({"mean": mean, "std": std}, axis=1).stack(level=1, future_stack=True)
    return long.rename_axis([*index, "metric"]).join(counts)


def of_metric(figures: DataFrame, metric: str) -> DataFrame:
    """Return the rows of `mean_over_seeds` for one metric."""
    return figures[figures.index.get_level_values("metric") == metric].droplevel("metric")


def with_paper_figures(figures: DataFrame, keys: dict[str, MethodKey]) -> DataFrame:
    """Add the paper's figure and our difference to it; NaN where the paper has none.

    Parameters
    ----------
    figures : DataFrame
        From `mean_over_seeds`, indexed by method, group and metric.
    keys : dict
        The methods by name.
    """
    papers = []
    for method, group, metric in figures.index:
        column = keys[method].paper_column
        papers.append(paper_figures(metric, column).get(group.lower()) if column else None)
    papered = figures.assign(paper=papers).astype({"paper": float})
    return papered.assign(difference=papered["mean"] - papered["paper"])
