"""Base class of detectors without a neural network."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.detectors.base import BaseDetector, column_medians, impute
from imboost.labels import Labels
from imboost.stats.scaling import MinMaxScaling

Floats = NDArray[np.float64]


class ShallowDetector(BaseDetector):
    """Fits unsupervised parts once, in `fit`, and supervised parts in every round.

    Everything is computed on the CPU; `device` has no effect. By default, missing values
    are replaced by the median of their column.
    """

    allow_nan = True

    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        self._scaling = MinMaxScaling.fit(X)
        self._medians = column_medians(self._scaling.transform(X))
        table = self._preprocess(X)
        self._report(f"unsupervised fit on {len(X)} rows")
        self._fit_unsupervised(table)
        self._fit_labels(table, labels)

    def _refine(self, X: NDArray[Any], labels: Labels) -> None:
        self._fit_labels(self._preprocess(X), labels)

    def _score_rows(self, X: NDArray[Any]) -> Floats:
        return self._score_preprocessed(self._preprocess(X))

    def _preprocess(self, X: NDArray[Any]) -> Floats:
        """Scale a table and impute its missing values."""
        return impute(self._scaling.transform(X), self._medians)

    @abstractmethod
    def _fit_unsupervised(self, table: Floats) -> None:
        """Fit everything that does not depend on labels."""

    @abstractmethod
    def _fit_labels(self, table: Floats, labels: Labels) -> None:
        """Fit to all current labels; there may be none."""

    @abstractmethod
    def _score_preprocessed(self, table: Floats) -> Floats:
        """Return the outlier score of every row of a preprocessed table."""
