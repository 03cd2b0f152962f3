"""Base class of the active isolation forests of the coniferest package."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.detectors.shallow.base import Floats, ShallowDetector
from imboost.labels import OUTLIER, UNLABELLED, Labels
from imboost.validation import check_number


@dataclass(kw_only=True, eq=False, repr=False)
class ConiferestDetector(ShallowDetector):
    """Wraps a forest of coniferest that learns from labels."""

    default_query = "rd"
    required_packages = ("coniferest",)

    n_trees: int = 100
    n_subsamples: int = 256

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("n_trees", self.n_trees, minimum=1, whole=True)
        check_number("n_subsamples", self.n_subsamples, minimum=2, whole=True)

    @abstractmethod
    def _new_forest(self, n_subsamples: int) -> Any:
        """Return an unfitted forest of coniferest."""

    def _fit_unsupervised(self, table: Floats) -> None:
        self._forest = self._new_forest(min(self.n_subsamples, len(table)))

    def _fit_labels(self, table: Floats, labels: Labels) -> None:
        from coniferest.label import Label

        known = labels != UNLABELLED
        answers = np.where(labels[known] == OUTLIER, Label.ANOMALY, Label.REGULAR)
        self._forest.fit_known(table, table[known], answers)

    def _score_preprocessed(self, table: Floats) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = -self._forest.score_samples(table)
        # Rounded to single precision: the last digits depend on the batch of a row.
        return scores.astype(np.float32).astype(np.float64)
