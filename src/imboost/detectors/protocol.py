"""The detector interface as static types see it."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from imboost.decide.calibration import Calibration
from imboost.labels import Labels

Mask = NDArray[np.bool_]


class Detector(Protocol):
    """What sessions, scoring and persistence need of a detector.

    Every subclass of `BaseDetector` and `TableDetector` has this interface; the former take a
    matrix of numbers as `X`, the latter a table. See `BaseDetector` for the methods.
    """

    random_state: int | np.random.RandomState | None

    @property
    def default_query(self) -> str:
        """Name of the query strategy that suits the detector."""
        ...

    @property
    def decision_scores_(self) -> NDArray[np.float64]:
        """Scores of the training rows; higher is more outlying."""
        ...

    @property
    def query_scores_(self) -> NDArray[np.float64]:
        """Scores of the training rows for query strategies."""
        ...

    @property
    def labels_(self) -> NDArray[np.int64]:
        """0 or 1 for every training row."""
        ...

    @property
    def threshold_(self) -> float:
        """The score above which a row is an outlier."""
        ...

    @property
    def threshold_is_estimated_(self) -> bool:
        """Whether neither a contamination nor labels of both classes set the threshold."""
        ...

    @property
    def calibration_(self) -> Calibration:
        """The map from log-odds to probabilities."""
        ...

    @property
    def training_labels_(self) -> Labels:
        """The labels given to `fit` or `refine`: 0, 1 or -1."""
        ...

    @property
    def out_of_fold_proba_(self) -> NDArray[np.float64]:
        """Probabilities of labelled rows by models that were not fitted on them, or nan."""
        ...

    def set_params(self, **params: Any) -> Self:
        """Change settings; scikit-learn's method."""
        ...

    def fit(self, X: Any, y: Any = None, *, is_audit: Mask | None = None) -> Self:
        """Train on a table and, where there are any, on labels."""
        ...

    def refine(self, X: Any, y: Any, *, is_audit: Mask | None = None) -> Self:
        """Train further with more labels of the same rows."""
        ...

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the outlier score of every row."""
        ...

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return 1 for the rows that score above `threshold_`, 0 for the others."""
        ...

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of being an inlier and an outlier, as two columns."""
        ...

    def fit_predict(
        self, X: Any, y: Any = None, *, is_audit: Mask | None = None
    ) -> NDArray[np.int64]:
        """Call `fit`, then return 0 or 1 for every training row."""
        ...

    def scores_to_proba(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `predict_proba` of rows with these scores."""
        ...

    def log_odds(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log-odds of being an outlier for rows with these scores."""
        ...

    def calibrate(self, y: Any, is_audit: Mask | None = None) -> Self:
        """Fit probabilities and, if contamination is "auto", the threshold to labels."""
        ...

    def set_threshold(
        self,
        *,
        score: float | None = None,
        contamination: float | None = None,
        precision: float | None = None,
    ) -> Self:
        """Change the threshold without training."""
        ...

    def embed(self, X: Any) -> NDArray[np.float64]:
        """Return rows as points without missing values."""
        ...
