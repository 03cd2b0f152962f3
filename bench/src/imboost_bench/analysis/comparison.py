"""Means over seeds, paired differences with intervals, ranks and their significance, times.

Data sets are the statistical units: seeds and the parts of a data set are averaged first,
because they are not independent.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import pandas as pd
from pandas import DataFrame, Series
from scipy import stats

from imboost_bench.analysis.method_key import MethodKey
from imboost_bench.paper import RUNNING_TIMES

METRICS = ["test_auc", "test_ap", "train_auc", "train_ap"]
IMAGE_GROUPS = ("CIFAR10", "FashionMNIST", "MNIST-C", "MVTec-AD", "SVHN")
TEXT_GROUPS = ("20news", "agnews", "amazon", "imdb", "yelp")
EMBEDDING_GROUPS = frozenset((*IMAGE_GROUPS, *TEXT_GROUPS))
"""The paper's image and text data sets; all others are tabular."""

CONFIDENCE = 0.95  # level of the confidence intervals; tests have the level 1 - CONFIDENCE


def is_tabular(group: str) -> bool:
    """Whether a data set is a table rather than embeddings of images or text."""
    return group.rpartition("/")[2] not in EMBEDDING_GROUPS


def reading_order(group: str) -> tuple[bool, str]:
    """Sort key: tables before embeddings, each by name."""
    return not is_tabular(group), group.lower()


def mean_over_seeds(rows: DataFrame, *keys: str) -> DataFrame:
    """Average the seeds of each part of a data set, then the parts, for every metric.

    `rows` has one row per run within each combination of the columns `keys`, with the columns of
    `RoundResult`. A data set is a `group`, and its parts are `dataset`. The result is indexed by
    the keys, group and metric, with the columns mean, std (over the seeds that all parts have;
    NaN for fewer than two), n_seeds, n_parts and seconds.
    """
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


def mean_intervals(sample: DataFrame) -> DataFrame:
    """Return the mean of every column with Student's t interval; NaN for a single value."""
    n, mean = sample.count(), sample.mean()
    half = stats.t.ppf((1 + CONFIDENCE) / 2, n - 1) * sample.sem()
    return pd.DataFrame({"n": n, "mean": mean, "low": mean - half, "high": mean + half})


def paired_intervals(runs: DataFrame, reference: str, metric: str) -> DataFrame:
    """Return the mean difference of every other method to the reference, with its interval.

    Runs are paired by data set and seed; the differences of a data set are averaged.
    """
    runs = runs.pivot(index=["group", "dataset", "seed"], columns="method", values=metric)
    differences = runs.drop(columns=reference).sub(runs[reference], axis=0)
    return mean_intervals(differences.groupby("group").mean())


def outcomes(gains: DataFrame) -> Series:
    """Return whether rows of `paired_intervals` are better or worse than the reference."""
    words = gains["mean"].gt(0).map({True: "better", False: "worse"}).astype(object)
    words = words.mask((gains["low"] <= 0) & (gains["high"] >= 0), "not distinguishable")
    return words.mask(gains["low"].isna(), "too few data sets")


def nemenyi_difference(n_methods: int, n_data_sets: int) -> float:
    """Return the critical difference of mean ranks in Nemenyi's test.

    It is q sqrt(k (k + 1) / 6 N), with q a quantile of the studentized range over sqrt(2).

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.

    >>> round(nemenyi_difference(4, 14), 2)
    1.25
    """
    quantile = float(stats.studentized_range.ppf(CONFIDENCE, n_methods, math.inf)) / math.sqrt(2)
    return quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * n_data_sets))


class Ranking(NamedTuple):
    """Mean rank (1 is best) and data sets won by method; NaN if there are too few of either."""

    ranks: Series
    wins: Series
    friedman: float = math.nan  # p value of the Friedman test
    critical: float = math.nan  # Nemenyi's critical difference of mean ranks


def rank_methods(values: DataFrame) -> Ranking:
    """Rank the columns of a table of data sets by methods; higher values are better.

    Ties share ranks and wins. Without a value for every method and data set, all is NaN.
    """
    n_data_sets, n_methods = values.shape
    if values.empty or values.isna().any(axis=None):
        missing = values.mean() * math.nan
        return Ranking(missing, missing)
    ranks = values.rank(axis=1, ascending=False)
    is_best = values.eq(values.max(axis=1), axis=0)
    wins = is_best.div(is_best.sum(axis=1), axis=0).sum()
    if n_methods < 3 or n_data_sets < 2 or (ranks.nunique(axis=1) == 1).all():
        return Ranking(ranks.mean(), wins)
    friedman = float(stats.friedmanchisquare(*ranks.to_numpy().T).pvalue)
    return Ranking(ranks.mean(), wins, friedman, nemenyi_difference(n_methods, n_data_sets))


def time_ratios(runs: DataFrame, reference: str, keys: dict[str, MethodKey]) -> DataFrame:
    """Compare the running times of methods with the reference's, fastest first on every machine.

    Only runs of the same data set and seed on the same machine are compared. The columns are
    method, device, host, runs, seconds, reference_seconds, ratio and paper (the ratio of the
    paper's times, NaN where it has none).
    """
    same = ["dataset", "seed", "device", "host"]
    base = runs.loc[runs["method"] == reference, [*same, "seconds"]]
    pairs = runs.merge(base, on=same, suffixes=("", "_reference"))
    times = pairs.groupby(["method", "device", "host"], sort=False, as_index=False).agg(
        runs=("seconds", "size"),
        seconds=("seconds", "sum"),
        reference_seconds=("seconds_reference", "sum"),
    )
    times = times[times["reference_seconds"] > 0]
    plain = {name: key[:2] for name, key in keys.items() if key.is_plain}
    papers = pd.Series(plain, dtype=object).map(RUNNING_TIMES).astype(float)
    paper = times["method"].map(papers).astype(float) / papers.get(reference, float("nan"))
    times = times.assign(ratio=times["seconds"] / times["reference_seconds"], paper=paper)
    return times.sort_values(["device", "host", "ratio"], kind="stable")
