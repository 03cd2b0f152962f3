"""The label convention of the whole package, and the only converters to others.

A row is an inlier (0), an outlier (1) or not labelled (-1). This is PyOD's convention;
scikit-learn's outlier detectors say +1 for an inlier and -1 for an outlier instead.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

INLIER: Final = 0
OUTLIER: Final = 1
UNLABELLED: Final = -1

Labels = NDArray[np.int8]
"""One label per row: INLIER, OUTLIER or UNLABELLED."""


def unlabelled(n_rows: int) -> Labels:
    """Return the labels of `n_rows` rows about which nothing is known."""
    return np.full(n_rows, UNLABELLED, dtype=np.int8)


def check_labels(y: Any, n_rows: int) -> Labels:
    """Return `y` as labels of `n_rows` rows, or all unlabelled if `y` is None.

    Raises
    ------
    ValueError
        If `y` has another length than `n_rows` or holds anything but -1, 0 and 1.
    """
    if y is None:
        return unlabelled(n_rows)
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (n_rows,):
        raise ValueError(
            f"y must hold one label per row: expected shape ({n_rows},), got {values.shape}."
        )
    known = np.isin(values, (UNLABELLED, INLIER, OUTLIER))
    if not known.all():
        strange = ", ".join(np.unique(values[~known].astype(str))[:5].tolist())
        raise ValueError(
            "y must hold only 0 (inlier), 1 (outlier) and -1 (not labelled); "
            f"got {strange}. Recode the other values, or set them to -1."
        )
    return values.astype(np.int8)


def to_sklearn(labels: NDArray[Any]) -> NDArray[np.int8]:
    """Turn 0/1 predictions into scikit-learn's +1 (inlier) and -1 (outlier).

    >>> to_sklearn(np.array([0, 1]))
    array([ 1, -1], dtype=int8)
    """
    return np.where(labels == OUTLIER, -1, 1).astype(np.int8)


def from_sklearn(labels: NDArray[Any]) -> Labels:
    """Turn scikit-learn's +1 (inlier) and -1 (outlier) into 0/1.

    >>> from_sklearn(np.array([1, -1]))
    array([0, 1], dtype=int8)
    """
    return np.where(labels == -1, OUTLIER, INLIER).astype(np.int8)
