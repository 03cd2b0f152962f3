"""A data set with known labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        check_truth(self.name, self.X.shape, self.y)
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


def check_truth(name: str, shape: tuple[int, ...], y: NDArray[Any]) -> None:
    """Check the known labels of a table with this shape: one per row, 0 or 1, and both occur."""
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
