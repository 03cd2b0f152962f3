"""Detectors without a network, built on libraries of the field."""

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
    """Scales the table and looks at it without labels once; learns from labels every round.

    Everything here computes on the CPU; `device` is accepted as everywhere. Missing numbers
    count as the median of their column.
    """

    allow_nan = True

    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        self._scaling = MinMaxScaling.fit(X)
        self._usual = column_medians(self._scaling.transform(X))
        table = self._preprocess(X)
        self._report(f"building on {len(X)} rows")
        self._fit_unsupervised(table)
        self._fit_labels(table, labels)

    def _refine(self, X: NDArray[Any], labels: Labels) -> None:
        self._fit_labels(self._preprocess(X), labels)

    def _score_rows(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return self._score_preprocessed(self._preprocess(X))

    def _preprocess(self, X: NDArray[Any]) -> Floats:
        """Scale a table and fill its gaps."""
        return impute(self._scaling.transform(X), self._usual)

    @abstractmethod
    def _fit_unsupervised(self, table: Floats) -> None:
        """Prepare what depends on the rows alone."""

    @abstractmethod
    def _fit_labels(self, table: Floats, labels: Labels) -> None:
        """Learn from all labels known by now; there may be none."""

    @abstractmethod
    def _score_preprocessed(self, table: Floats) -> NDArray[np.float64]:
        """Return the outlier score of every row of a scaled table."""
