"""Aggregate results over seeds and over the parts of a data set.

Results are one data frame with a row per run and round and the columns of `RoundResult`. A
data set is a `group`: one table, or an image or text data set whose parts are `dataset`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def mean_over_seeds(rows: DataFrame, *keys: str) -> DataFrame:
    """Average the seeds of each part of a data set, then the parts, for every metric.

    `rows` has one row per run within each combination of the columns `keys`. The result is
    indexed by the keys, group and metric, with the columns mean, std (over the seeds that all
    parts have; NaN for fewer than two), n_seeds, n_parts and seconds.
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
