"""The interface of detectors, as a static type."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np

from imboost.arrays import Floats, Indices, Mask
from imboost.decide.calibration import Calibration
from imboost.labels import Labels


class Detector(Protocol):
    """The interface of a detector that sessions, scoring and persistence use.

    Every subclass of `BaseDetector` and `TableDetector` has this interface; the former take a
    matrix of numbers as `X`, the latter a table. See `IMBoost` for the attributes and
    `BaseDetector` for the methods.
    """

    random_state: int | np.random.RandomState | None
    default_query: str
    refine_depends_on_history: bool
    has_members: bool
    decision_scores_: Floats
    query_scores_: Floats
    labels_: Indices
    threshold_: float
    threshold_is_estimated_: bool
    calibration_: Calibration
    training_labels_: Labels
    out_of_fold_proba_: Floats

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings; scikit-learn's method."""
        ...

    def set_params(self, **params: Any) -> Self:
        """Change settings; scikit-learn's method."""

    def fit(self, X: Any, y: Any = None, *, is_audit: Mask | None = None) -> Self:
        """Train on a table and, where there are any, on labels."""

    def refine(self, X: Any, y: Any, *, is_audit: Mask | None = None) -> Self:
        """Train further with more labels of the same rows."""

    def copy(self) -> Self:
        """Return a copy whose further training leaves this detector unchanged."""
        ...

    def decision_function(self, X: Any) -> Floats:
        """Return the outlier score of every row."""

    def predict(self, X: Any) -> Indices:
        """Return 1 for the rows that score above `threshold_`, 0 for the others."""

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of being an inlier and an outlier, as two columns."""

    def fit_predict(self, X: Any, y: Any = None, *, is_audit: Mask | None = None) -> Indices:
        """Call `fit`, then return 0 or 1 for every training row."""

    def scores_to_proba(self, scores: Floats) -> Floats:
        """Return the probabilities that `predict_proba` returns for rows with these scores."""

    def log_odds(self, scores: Floats) -> Floats:
        """Return log-odds of being an outlier for rows with these scores."""

    def calibrate(
        self,
        y: Any,
        is_audit: Mask | None = None,
        *,
        weights: Floats | None = None,
    ) -> Self:
        """Calibrate probabilities and choose the threshold on labels."""

    def set_threshold(
        self,
        *,
        score: float | None = None,
        contamination: float | None = None,
        precision: float | None = None,
    ) -> Self:
        """Change the threshold without training."""

    def embed(self, X: Any) -> Floats:
        """Return rows as points without missing values."""

    def member_proba(self, X: Any) -> Floats:
        """Return each member's outlier probability of the training rows: (members, rows)."""
