"""What all detectors share: those of matrices (`BaseDetector`) and those of tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from imboost.arrays import Floats, Indices, Mask
from imboost.decide import Decision
from imboost.detectors.notebook import fitted_html
from imboost.labels import INLIER, OUTLIER
from imboost.state import Stateful

if TYPE_CHECKING:

    class BaseEstimator:
        """Scikit-learn's, which has no types: mypy would accept any setting of its subclasses."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the settings."""

        def set_params(self, **params: Any) -> Self:
            """Change settings."""

        def __sklearn_tags__(self) -> Any: ...

        def _html_repr(self) -> str: ...

else:
    from sklearn.base import BaseEstimator


class Detector(Stateful, BaseEstimator, ABC):
    """The interface of a detector that sessions, scoring and persistence use.

    A `BaseDetector` takes a matrix of numbers as `X`, a `TableDetector` a table. See `IMBoost`
    for the attributes.
    """

    allow_nan: ClassVar[bool] = False
    """Whether the rows may have missing values."""

    random_state: int | np.random.RandomState | None
    decision_: Decision
    query_scores_: Floats
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        """Declare that labels, if given, are of two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.input_tags.allow_nan = self.allow_nan
        return tags

    @property
    def classes_(self) -> Indices:
        """The classes of `predict` and of the columns of `predict_proba`: 0 and 1."""
        check_is_fitted(self)
        return np.array([INLIER, OUTLIER])

    @property
    def decision_scores_(self) -> Floats:
        """Scores of the training rows, higher for outliers."""
        return self.decision_.scores

    @property
    def labels_(self) -> Indices:
        """0 or 1 for every training row."""
        return self.decision_.predictions

    @property
    def threshold_(self) -> float:
        """The score above which a row is a predicted outlier."""
        return self.decision_.threshold

    @property
    def default_query(self) -> str:
        """Name of the query strategy that a session uses by default."""
        return "mm"

    @property
    def refine_depends_on_history(self) -> bool:
        """Whether `refine` continues from the last round.

        If False, `refine` computes new attributes from the fit and the labels alone and changes
        nothing in place: earlier rounds need not be repeated, and `copy` is shallow.
        """
        return True

    @property
    def model_name(self) -> str:
        """Name of the model in score files and responses."""
        return type(self).__name__

    @abstractmethod
    def fit(
        self, X: Any, y: Any = None, *, is_audit: Mask | None = None, weights: Floats | None = None
    ) -> Self:
        """Train on a table and, if given, on labels."""

    @abstractmethod
    def refine(
        self, X: Any, y: Any, *, is_audit: Mask | None = None, weights: Floats | None = None
    ) -> Self:
        """Continue training with more labels of the rows given to `fit`."""

    @abstractmethod
    def copy(self) -> Self:
        """Return a copy, fitted if this is, whose further training leaves this unchanged."""

    @abstractmethod
    def decision_function(self, X: Any) -> Floats:
        """Return the outlier score of every row; higher is more outlying."""

    @abstractmethod
    def embed(self, X: Any) -> Floats:
        """Return rows as points without missing values."""

    def predict(self, X: Any) -> Indices:
        """Return 1 for the rows that score above `threshold_`, 0 for the others."""
        return (self.decision_function(X) > self.threshold_).astype(np.int64)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of being an inlier and an outlier, in two columns.

        They are calibrated by the labels. Without labels they rest on the assumption that one
        row in a hundred is an outlier.
        """
        scores = self.decision_function(X)
        outlier = self.decision_.probability(scores)
        return np.column_stack([1.0 - outlier, outlier])

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> Indices:
        """Call `fit`, then return 0 or 1 for every training row."""
        return self.fit(X, y, **options).labels_

    def set_threshold(
        self,
        *,
        score: float | None = None,
        contamination: float | None = None,
        precision: float | None = None,
    ) -> Self:
        """Change the threshold; nothing is trained. See `Decision.with_threshold`."""
        check_is_fitted(self)
        self._set_decision(
            self.decision_.with_threshold(
                score=score, contamination=contamination, precision=precision
            )
        )
        return self

    def _set_decision(self, decision: Decision) -> None:
        self.decision_ = decision

    def _html_repr(self) -> str:  # scikit-learn shows it in notebooks
        return f"{super()._html_repr()}{fitted_html(self, getattr(self, 'schema_', ()))}"
