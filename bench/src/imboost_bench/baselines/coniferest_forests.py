"""The active isolation forests of the package coniferest: AAD and Pine."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from imboost.arrays import Floats
from imboost.detectors.base import COUNT, COUNT_OR_ZERO, NOT_NEGATIVE, TWO_OR_MORE
from imboost.detectors.shallow import ShallowDetector
from imboost.labels import OUTLIER, UNLABELLED, Labels


@dataclass(kw_only=True, eq=False, repr=False)
class ConiferestDetector(ShallowDetector):
    """Wraps a forest of coniferest that learns from labels."""

    default_query = "rd"
    refine_depends_on_history = True  # coniferest changes its forest in place

    n_trees: int = field(default=100, metadata=COUNT)
    n_subsamples: int = field(default=256, metadata=TWO_OR_MORE)

    @abstractmethod
    def _new_forest(self, **shared: Any) -> Any:
        """Return an unfitted forest of coniferest."""

    def _fit_unsupervised(self, table: Floats) -> None:
        self._forest = self._new_forest(
            n_trees=self.n_trees,
            n_subsamples=min(self.n_subsamples, len(table)),
            n_jobs=1,
            random_seed=self._seed,
        )

    def _fit_labels(self, table: Floats, labels: Labels) -> None:
        from coniferest.label import Label

        known = labels != UNLABELLED
        answers = np.where(labels[known] == OUTLIER, Label.ANOMALY, Label.REGULAR)
        self._forest.fit_known(table, table[known], answers)

    def _score_preprocessed(self, table: Floats) -> Floats:
        scores: Floats = -self._forest.score_samples(table)
        # Rounded to single precision: the last digits depend on the batch of a row.
        return scores.astype(np.float32).astype(np.float64)


@dataclass(kw_only=True, eq=False, repr=False)
class AAD(ConiferestDetector):
    """Active Anomaly Discovery with coniferest's AADForest.

    The weights of the leaves are fitted so that labelled outliers score above a quantile of the
    scores and labelled inliers below it. The settings are in docs/reference.md.

    References
    ----------
    Das et al., "Incorporating Feedback into Tree-based Anomaly Detection", KDD workshop
    IDEA 2017.
    """

    outlier_cost: float = field(default=1.0, metadata=NOT_NEGATIVE)
    inlier_cost: float = field(default=1.0, metadata=NOT_NEGATIVE)
    prior_influence: float = field(default=0.0, metadata=NOT_NEGATIVE)

    def _new_forest(self, **shared: Any) -> Any:
        from coniferest.aadforest import AADForest

        return AADForest(
            C_a=self.outlier_cost,
            C_n=self.inlier_cost,
            prior_influence=partial(_same_influence, self.prior_influence),
            map_value=_negative_reciprocal,
            **shared,
        )


@dataclass(kw_only=True, eq=False, repr=False)
class Pine(ConiferestDetector):
    """coniferest's PineForest (Korolev et al.).

    In every round new trees are grown, and the trees that rank the labelled rows worst are
    discarded. The settings are in docs/reference.md.
    """

    n_spare_trees: int = field(default=400, metadata=COUNT_OR_ZERO)

    def _new_forest(self, **shared: Any) -> Any:
        from coniferest.pineforest import PineForest

        return PineForest(n_spare_trees=self.n_spare_trees, **shared)


# Module-level functions, because coniferest's own defaults cannot be pickled.


def _same_influence(value: float, _n_outliers: int, _n_inliers: int) -> float:
    return value


def _negative_reciprocal(depth: Floats) -> Floats:
    return -np.reciprocal(depth)
