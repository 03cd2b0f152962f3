"""A data set with known labels, its outliers limited to a share, and its split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from imboost.errors import DataError, OneClassSplitError, UnknownNameError
from imboost.labels import INLIER, OUTLIER

STRATIFIED, RANDOM = "stratified", "random"
SPLITS = (STRATIFIED, RANDOM)
"""Splits with the same fraction of outliers in training and test rows, or at random."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows and their true labels.

    Parameters
    ----------
    name : str
        The name used on the command line, such as "thyroid".
    group : str
        The row of the paper's tables that includes the data set, such as "MVTec-AD".
    X : array of shape (n_rows, n_features)
        Finite floats.
    y : array of shape (n_rows,)
        0 for an inlier, 1 for an outlier; both occur.
    """

    name: str
    group: str
    X: NDArray[Any]
    y: NDArray[np.int8]

    def __post_init__(self) -> None:
        """Check shapes, labels and values."""
        check_labels(self.name, self.X.shape, self.y)
        if not np.isfinite(self.X).all():
            raise DataError(f"{self.name}: X holds missing or infinite values.")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def n_outliers(self) -> int:
        """Number of outliers."""
        return int((self.y == OUTLIER).sum())


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows of a data set, with their true labels."""

    train_X: NDArray[Any]
    train_y: NDArray[np.int8]
    test_X: NDArray[Any]
    test_y: NDArray[np.int8]


def check_labels(name: str, shape: tuple[int, ...], y: NDArray[Any]) -> None:
    """Check the labels `y` of a table with this shape: one per row, 0 or 1, and both occur."""
    if len(shape) != 2 or 0 in shape:
        raise DataError(f"{name}: X must be a table with rows and columns, got shape {shape}.")
    if y.shape != shape[:1]:
        raise DataError(
            f"{name}: y must have one label per row of X, got {y.shape} for {shape[0]} rows."
        )
    labels = np.unique(y).tolist()
    if labels != [INLIER, OUTLIER]:
        raise DataError(
            f"{name}: y must hold both 0 (inlier) and 1 (outlier) "
            f"and nothing else, got {labels[:5]}."
        )


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
    """Split into 70% training and 30% test rows.

    Parameters
    ----------
    dataset : Dataset
    seed : int
    split : {"stratified", "random"}
        Whether training and test rows have the same fraction of outliers.

    Raises
    ------
    OneClassSplitError
        If a random split leaves no outlier, or no inlier, among the training or the test rows.
    """
    if split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    if split == RANDOM:
        return _split_at_random(dataset, seed)
    rarest = min(dataset.n_outliers, dataset.n_rows - dataset.n_outliers)
    if rarest < 2:
        raise DataError(
            f"{dataset.name}: a stratified split needs at least two inliers and two outliers; "
            f"the rarer class has {rarest}."
        )
    train_X, test_X, train_y, test_y = train_test_split(
        dataset.X, dataset.y, test_size=0.3, stratify=dataset.y, random_state=seed
    )
    return Split(train_X, train_y, test_X, test_y)


def _split_at_random(dataset: Dataset, seed: int) -> Split:
    train_X, test_X, train_y, test_y = train_test_split(
        dataset.X, dataset.y, test_size=0.3, random_state=seed
    )
    for part, labels in (("test", test_y), ("training", train_y)):
        for kind, name in ((OUTLIER, "outlier"), (INLIER, "inlier")):
            if kind not in labels:
                raise OneClassSplitError(
                    f"{dataset.name}: the random split with seed {seed} leaves no {name} among "
                    f"the {len(labels)} {part} rows, so AUC and AP are undefined. Use another "
                    "seed or a stratified split."
                )
    return Split(train_X, train_y, test_X, test_y)
