"""The paper's split: 70% training and 30% test rows, stratified by label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from imboost.datasets.dataset import Dataset
from imboost.errors import DataError


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows of a data set, with their true labels."""

    train_X: NDArray[Any]
    train_y: NDArray[np.int8]
    test_X: NDArray[Any]
    test_y: NDArray[np.int8]


def split_dataset(dataset: Dataset, seed: int) -> Split:
    """Split at random, with the same fraction of outliers in both parts."""
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
