"""XGBOD: boosted trees on the columns and on the scores of many unsupervised detectors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from imboost.arrays import Floats
from imboost.detectors.base import COUNT, POSITIVE, TWO_OR_MORE
from imboost.detectors.shallow import ScoreFeatureClassifier
from imboost.labels import Labels
from imboost.stats.sampling import sample_rows

NEIGHBOUR_COUNTS = (1, 3, 5, 10, 20, 30, 40, 50)
BIN_COUNTS = (5, 10, 15, 20, 25, 30, 50)
OCSVM_NUS = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
TREE_COUNTS = (10, 20, 50, 70, 100, 150, 200)
"""Settings of the pool: PyOD's defaults for XGBOD."""


@dataclass(kw_only=True, eq=False, repr=False)
class XGBOD(ScoreFeatureClassifier):
    """Extreme gradient boosting outlier detection.

    A pool of unsupervised PyOD detectors (KNN, LOF, HBOS, OCSVM and IForest, each with several
    settings) is fitted to at most `max_reference_rows` rows: the time of a one-class SVM grows
    with their square. Their scores are additional features of XGBoost, which is fitted to the
    labelled rows. Until labels of both classes are known, the score is the mean rank of the pool's
    scores. The settings are in docs/reference.md.

    References
    ----------
    Zhao and Hryniewicki, "XGBOD: Improving Supervised Outlier Detection with Unsupervised
    Representation Learning", IJCNN 2018.
    """

    default_query = "rd"

    n_trees: int = field(default=100, metadata=COUNT)
    max_depth: int = field(default=3, metadata=COUNT)
    learning_rate: float = field(default=0.1, metadata=POSITIVE)
    max_reference_rows: int = field(default=3_000, metadata=TWO_OR_MORE)

    def _fit_scores(self, table: Floats) -> None:
        reference = table[sample_rows(len(table), self.max_reference_rows, self._seed)]
        self._mean, self._std = reference.mean(0), reference.std(0)
        self._std[self._std == 0] = 1.0
        self._pool = _make_pool(len(reference), self._seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about duplicates and constant columns
            for detector in self._pool:
                detector.fit(self._standardise(reference))
        # The training scores of reference rows leave out their distance to themselves.
        own_scores = np.column_stack([detector.decision_scores_ for detector in self._pool])
        self._known_rows = {row.tobytes(): n for n, row in enumerate(reference)}
        self._known_scores = _clip_scores(own_scores)

    def _fit_classifier(self, features: Floats, labels: Labels) -> Any:
        from xgboost import XGBClassifier

        classifier = XGBClassifier(
            n_estimators=self.n_trees,
            max_depth=self.max_depth,
            learning_rate=self.learning_rate,
            base_score=0.5,  # as in PyOD; from a small fraction of outliers no tree would grow
            n_jobs=1,
            random_state=self._seed,
        )
        return classifier.fit(features, labels)

    def _classify(self, features: Floats, mean_rank: Floats) -> Floats:
        return np.asarray(self._classifier.predict_proba(features)[:, 1], dtype=np.float64)

    def _unsupervised_scores(self, table: Floats) -> Floats:
        """Return the pool's scores: (rows, detectors)."""
        rows = self._standardise(table)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = _clip_scores(np.column_stack([d.decision_function(rows) for d in self._pool]))
        for number, row in enumerate(table):
            known = self._known_rows.get(row.tobytes())
            if known is not None:
                scores[number] = self._known_scores[known]
        return scores

    def _standardise(self, table: Floats) -> Floats:
        return np.asarray((table - self._mean) / self._std)


def _make_pool(n_rows: int, seed: int) -> list[Any]:
    """Return the unfitted PyOD detectors that `n_rows` rows allow."""
    from pyod.models.hbos import HBOS
    from pyod.models.iforest import IForest
    from pyod.models.knn import KNN
    from pyod.models.lof import LOF
    from pyod.models.ocsvm import OCSVM

    counts = [k for k in NEIGHBOUR_COUNTS if k < n_rows]
    return [
        *(KNN(n_neighbors=k) for k in counts),
        *(LOF(n_neighbors=k) for k in counts),
        *(HBOS(n_bins=n) for n in BIN_COUNTS),
        *(OCSVM(nu=nu) for nu in OCSVM_NUS),
        *(IForest(n_estimators=n, random_state=seed) for n in TREE_COUNTS),
    ]


def _clip_scores(scores: Floats) -> Floats:
    """Clip scores to finite values and round to single precision, independent of the batch."""
    limit = float(np.finfo(np.float32).max)
    finite = np.nan_to_num(scores, nan=0.0, posinf=limit, neginf=-limit)
    return np.clip(finite, -limit, limit).astype(np.float32).astype(np.float64)
