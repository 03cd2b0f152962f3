"""A data set with known labels, and the paper's split of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from imboost.errors import DataError
from imboost.labels import INLIER, OUTLIER


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
        shape, labels = self.X.shape, np.unique(self.y).tolist()
        if len(shape) != 2 or 0 in shape:
            raise DataError(
                f"{self.name}: X must be a table with rows and columns, got shape {shape}."
            )
        if self.y.shape != shape[:1]:
            raise DataError(
                f"{self.name}: y must have one label per row of X, "
                f"got {self.y.shape} for {shape[0]} rows."
            )
        if labels != [INLIER, OUTLIER]:
            raise DataError(
                f"{self.name}: y must hold both 0 (inlier) and 1 (outlier) "
                f"and nothing else, got {labels[:5]}."
            )
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


def split_dataset(dataset: Dataset, seed: int) -> Split:
    """Split into 70% training and 30% test rows, with the same fraction of outliers in both."""
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
