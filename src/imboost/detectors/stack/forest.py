"""What the trees of a forest say on average."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.detectors.shallow.base import Floats


def mean_of_trees(forest: Any, rows: Floats) -> NDArray[np.float64]:
    """Return the mean of what the trees of a scikit-learn forest say, (rows, values).

    The values are the shares of classes, or the one number that is predicted. The forest's own
    methods give the same; for few rows their checks and threads take ten times as long as the
    trees.
    """
    inputs = np.ascontiguousarray(rows, dtype=np.float32)
    total = np.zeros(1)
    for tree in forest.estimators_:
        total = total + tree.tree_.predict(inputs)
    return np.asarray(total / len(forest.estimators_))
