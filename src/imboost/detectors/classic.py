"""Detectors without a network, built on libraries of the field."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.data.scaling import UnitScaling
from imboost.detectors.base import BaseDetector
from imboost.labels import Labels

Floats = NDArray[np.float64]


class ClassicDetector(BaseDetector):
    """Scales the table and looks at it without labels once; learns from labels every round.

    Everything here computes on the CPU; `device` is accepted as everywhere.
    """

    def _train(self, X: NDArray[Any], labels: Labels) -> None:
        self._scaling = UnitScaling.fit(X)
        table = self._scaling.apply(X)
        self._report(f"building on {len(X)} rows")
        self._build(table)
        self._learn(table, labels)

    def _train_further(self, X: NDArray[Any], labels: Labels) -> None:
        self._learn(self._scaling.apply(X), labels)

    def _score(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return self._judge(self._scaling.apply(X))

    @abstractmethod
    def _build(self, table: Floats) -> None:
        """Prepare what depends on the rows alone."""

    @abstractmethod
    def _learn(self, table: Floats, labels: Labels) -> None:
        """Learn from all labels known by now; there may be none."""

    @abstractmethod
    def _judge(self, table: Floats) -> NDArray[np.float64]:
        """Return the outlier score of every row of a scaled table."""
