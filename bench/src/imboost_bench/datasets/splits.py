"""Splits of a data set into training and test rows, and fewer outliers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from imboost.datasets.dataset import Dataset
from imboost.errors import DataError, UnknownNameError
from imboost.labels import INLIER, OUTLIER

STRATIFIED, RANDOM = "stratified", "random"
SPLITS = (STRATIFIED, RANDOM)
"""Splits with the same fraction of outliers in training and test rows, or at random."""


class OneClassSplitError(DataError):
    """A random split whose training or test rows are all inliers or all outliers."""


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows of a data set, with their true labels."""

    train_X: NDArray[Any]
    train_y: NDArray[np.int8]
    test_X: NDArray[Any]
    test_y: NDArray[np.int8]


def limit_outliers(dataset: Dataset, share: float, seed: int) -> Dataset:
    """Remove outliers at random until at most `share` of the rows are outliers.

    >>> y = np.repeat([0, 1], [95, 20]).astype(np.int8)
    >>> limit_outliers(Dataset("a", "a", np.ones((115, 1)), y), 0.05, seed=0).n_outliers
    5
    """
    n_inliers = dataset.n_rows - dataset.n_outliers
    if dataset.n_outliers <= share * dataset.n_rows:
        return dataset
    n_kept = int(share * n_inliers / (1 - share) + 1e-9)  # the sum may be just below an integer
    if n_kept == 0:
        raise DataError(
            f"{dataset.name}: an outlier share of {share:g} keeps none of its "
            f"{dataset.n_outliers} outliers beside {n_inliers} inliers. Use a larger share."
        )
    outliers = np.flatnonzero(dataset.y == OUTLIER)
    kept = np.random.default_rng(seed).choice(outliers, n_kept, replace=False)
    rows = np.sort(np.concatenate([np.flatnonzero(dataset.y == INLIER), kept]))
    return replace(dataset, X=dataset.X[rows], y=dataset.y[rows])


def split_dataset(dataset: Dataset, seed: int, split: str = STRATIFIED) -> Split:
    """Split into 70% training and 30% test rows; see `SPLITS`.

    A random split that leaves no outlier, or no inlier, on one side is a `OneClassSplitError`.
    """
    if split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    rarest = min(dataset.n_outliers, dataset.n_rows - dataset.n_outliers)
    if split == STRATIFIED and rarest < 2:
        raise DataError(
            f"{dataset.name}: a stratified split needs at least two inliers and two outliers; "
            f"the rarer class has {rarest}."
        )
    train_X, test_X, train_y, test_y = train_test_split(
        dataset.X,
        dataset.y,
        test_size=0.3,
        stratify=dataset.y if split == STRATIFIED else None,
        random_state=seed,
    )
    for part, labels in (("test", test_y), ("training", train_y)):
        for kind, name in ((OUTLIER, "outlier"), (INLIER, "inlier")):
            if split == RANDOM and kind not in labels:
                raise OneClassSplitError(
                    f"{dataset.name}: the random split with seed {seed} leaves no {name} among "
                    f"the {len(labels)} {part} rows, so AUC and AP are undefined. Use another "
                    "seed or a stratified split."
                )
    return Split(train_X, train_y, test_X, test_y)
