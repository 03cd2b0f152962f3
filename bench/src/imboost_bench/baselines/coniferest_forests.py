"""AAD, the active isolation forest of the package coniferest."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from imboost.arrays import Floats
from imboost.detectors.base import COUNT, NOT_NEGATIVE, TWO_OR_MORE
from imboost.detectors.shallow import ShallowDetector
from imboost.labels import OUTLIER, UNLABELLED, Labels


@dataclass(kw_only=True, eq=False, repr=False)
class AAD(ShallowDetector):
    """Active Anomaly Discovery with coniferest's AADForest.

    The weights of the leaves are fitted so that labelled outliers score above a quantile of the
    scores and labelled inliers below it. The settings are in docs/reference.md.

    References
    ----------
    Das et al., "Incorporating Feedback into Tree-based Anomaly Detection", KDD workshop
    IDEA 2017.
    """

    default_query = "rd"
    refine_depends_on_history = True  # coniferest changes its forest in place

    n_trees: int = field(default=100, metadata=COUNT)
    n_subsamples: int = field(default=256, metadata=TWO_OR_MORE)
    outlier_cost: float = field(default=1.0, metadata=NOT_NEGATIVE)
    inlier_cost: float = field(default=1.0, metadata=NOT_NEGATIVE)
    prior_influence: float = field(default=0.0, metadata=NOT_NEGATIVE)

    def _fit_unsupervised(self, table: Floats) -> None:
        from coniferest.aadforest import AADForest

        self._forest = AADForest(
            n_trees=self.n_trees,
            n_subsamples=min(self.n_subsamples, len(table)),
            n_jobs=1,
            random_seed=self._seed,
            C_a=self.outlier_cost,
            C_n=self.inlier_cost,
            # Functions of this module, because coniferest's own defaults cannot be pickled.
            prior_influence=partial(_same_influence, self.prior_influence),
            map_value=_negative_reciprocal,
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


def _same_influence(value: float, _n_outliers: int, _n_inliers: int) -> float:
    return value


def _negative_reciprocal(depth: Floats) -> Floats:
    return -np.reciprocal(depth)
