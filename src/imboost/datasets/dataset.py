"""Data sets with known labels: scikit-learn's digits for the demo, and a synthetic one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.errors import DataError
from imboost.labels import INLIER, OUTLIER

OUTLIER_DIGIT = 4
IMAGE_SHAPE = (8, 8)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows and their true labels."""

    name: str  # on the command line, such as "thyroid"
    group: str  # the row of the paper's tables that includes the data set, such as "MVTec-AD"
    X: NDArray[Any]  # (n_rows, n_features), finite floats
    y: NDArray[np.int8]  # (n_rows,), 0 for an inlier, 1 for an outlier; both occur

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


def load_demo(seed: int = 0) -> Dataset:
    """Return scikit-learn's digits with few fours, the outliers: 1,696 rows of 64 pixels.

    No pixel of a four is unusual by itself, so that a detector needs labels to find fours.

    `seed` decides which fours are kept and the order of the rows.

    >>> load_demo().n_outliers
    80
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    rng = np.random.default_rng(seed)
    is_outlier = digits.target == OUTLIER_DIGIT
    inliers = np.flatnonzero(~is_outlier)
    n_outliers = int(0.05 * len(inliers))
    outliers = rng.choice(np.flatnonzero(is_outlier), n_outliers, replace=False)
    rows = rng.permutation(np.concatenate([inliers, outliers]))
    return Dataset("digits", "digits", digits.data[rows], is_outlier[rows].astype(np.int8))


def planted_outliers(
    n_rows: int = 600, n_features: int = 5, contamination: float = 0.05, *, seed: int = 0
) -> Dataset:
    """Generate inliers near a two-dimensional manifold, and outliers uniform in its range.

    No value of an outlier is unusual by itself; a detector must learn how columns depend on
    each other.

    >>> planted_outliers(100, 4).n_outliers
    5
    """
    rng = np.random.default_rng(seed)
    n_outliers = max(1, round(n_rows * contamination))
    code = rng.uniform(-1, 1, (n_rows, 2))
    directions = rng.normal(size=(2, n_features))
    sheet = np.tanh(code @ directions) + 0.05 * rng.normal(size=(n_rows, n_features))
    y = np.zeros(n_rows, dtype=np.int8)
    outliers = rng.choice(n_rows, n_outliers, replace=False)
    y[outliers] = OUTLIER
    low, high = sheet.min(axis=0), sheet.max(axis=0)
    sheet[outliers] = rng.uniform(low, high, (n_outliers, n_features))
    return Dataset("planted", "planted", sheet, y)
