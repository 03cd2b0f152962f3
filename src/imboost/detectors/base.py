"""What every detector shares: the estimator contract of the package.

A detector is a scikit-learn estimator with PyOD's methods and attributes. It never sees an
oracle or a query strategy: it takes rows and what is known of their labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.util import find_spec
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from imboost.data.layout import Layout
from imboost.detectors.device import resolve_device
from imboost.errors import MissingPackageError
from imboost.labels import Labels, check_labels
from imboost.validation import check_number

FLOATS = (np.float64, np.float32)
N_PROBES = 64


class BaseDetector(BaseEstimator, ABC):
    """Fit, score and decide; subclasses train and give scores.

    A subclass implements `_train` (and `_train_further`, if labels help it) and `_score`.
    """

    default_query: ClassVar[str] = "mm"
    """Name of the query strategy that suits the detector; it never calls one itself."""

    needs: ClassVar[tuple[str, ...]] = ()
    """Packages of the extra `peers` that the detector is built on."""

    takes_gaps: ClassVar[bool] = False
    """Whether missing numbers (nan) are part of the data."""

    decision_scores_: NDArray[np.float64]
    query_scores_: NDArray[np.float64]
    labels_: NDArray[np.int64]
    threshold_: float
    n_features_in_: int

    def __init__(
        self,
        *,
        contamination: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        device: str = "auto",
        verbose: bool = False,
    ) -> None:
        self.contamination = contamination
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that labels, where there are any, are of two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.input_tags.allow_nan = self.takes_gaps
        return tags

    @abstractmethod
    def _train(self, X: NDArray[Any], labels: Labels) -> None:
        """Train from scratch, and set `query_scores_` if it differs from the scores."""

    def _train_further(self, X: NDArray[Any], labels: Labels) -> None:
        """Train on with more labels; a detector that uses none has nothing to do."""

    @abstractmethod
    def _score(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the outlier score of every row of a checked table."""

    def _score_training(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the scores of the training rows; for detectors that know a short cut."""
        return self._score(X)

    def check_settings(self) -> None:
        """Raise if a setting is out of its range, or a package is missing; `fit` does so too."""
        missing = [name for name in self.needs if find_spec(name) is None]
        if missing:
            raise MissingPackageError(type(self).__name__, missing)
        self._check_settings()

    def _check_settings(self) -> None:
        """Raise if a setting is out of its range."""
        check_number("contamination", self.contamination, above=0.0, maximum=0.5)
        resolve_device(self.device)

    def fit(self, X: Any, y: Any = None, *, layout: Layout | None = None) -> Self:
        """Train on a table and, where there are any, on labels.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; some detectors take nan for missing ones.
        y : array-like of shape (n_rows,), optional
            0 for an inlier, 1 for an outlier, -1 for a row that is not labelled.
        layout : Layout, optional
            What the columns are, where some stand for categories or gaps; all are numbers if
            not given.

        Returns
        -------
        self
        """
        self.check_settings()
        X = self._validate(X, ensure_min_samples=2)
        labels = check_labels(y, len(X))
        if layout is not None and layout.n_columns != X.shape[1]:
            raise ValueError(
                f"layout describes {layout.n_columns} columns, but X has {X.shape[1]}."
            )
        self._layout = layout
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._n_rows = len(X)
        self._probe = self._probe_of(X)
        self._train(X, labels)
        self._set_scores(X)
        return self

    def refine(self, X: Any, y: Any) -> Self:
        """Train on with more labels of the rows given to `fit`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The same rows, in the same order.
        y : array-like of shape (n_rows,)
            All labels known by now: 0, 1 or -1.

        Returns
        -------
        self
        """
        X = self._check_table(X)
        self.check_settings()
        if len(X) != self._n_rows:
            raise ValueError(
                f"refine needs the rows given to fit: expected {self._n_rows}, got {len(X)}. "
                "Use fit for another table."
            )
        if not np.array_equal(self._probe, self._probe_of(X), equal_nan=True):
            raise ValueError("refine needs the rows given to fit, in the same order.")
        labels = check_labels(y, len(X))
        self._train_further(X, labels)
        self._set_scores(X)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the outlier score of every row; higher is more outlying."""
        return self._score(self._check_table(X))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return 1 for the rows that score above `threshold_`, 0 for the others."""
        return (self.decision_function(X) > self.threshold_).astype(np.int64)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return columns for inlier and outlier: the score on the scale of the training rows.

        The smallest training score counts as 0, the largest as 1, as in PyOD.
        """
        scores = self.decision_function(X)
        low, high = self.decision_scores_.min(), self.decision_scores_.max()
        share = (scores - low) / (high - low) if high > low else (scores > high).astype(float)
        outlier = np.clip(share, 0.0, 1.0)
        return np.column_stack([1.0 - outlier, outlier])

    def places(self, X: Any) -> NDArray[np.float64]:
        """Return rows as points between which there are distances: gaps are filled.

        A missing number counts as the median of its column in `X`.
        """
        return fill_gaps(self._check_table(X).astype(np.float64))

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Train, then return the decision about every training row."""
        return self.fit(X, y).labels_

    def _check_table(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        return self._validate(X, reset=False)

    def _validate(self, X: Any, **settings: Any) -> NDArray[Any]:
        finite = "allow-nan" if self.takes_gaps else True
        table: NDArray[Any] = validate_data(
            self, X, dtype=FLOATS, order="C", ensure_all_finite=finite, **settings
        )
        return table

    @staticmethod
    def _probe_of(X: NDArray[Any]) -> NDArray[Any]:
        """Copy a few rows, by which another table or another order is told."""
        return X[np.linspace(0, len(X) - 1, N_PROBES).astype(np.int64)]

    def _set_scores(self, X: NDArray[Any]) -> None:
        self.decision_scores_ = self._score_training(X)
        self.threshold_ = float(np.quantile(self.decision_scores_, 1.0 - self.contamination))
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(np.int64)
        if not self._has_own_query_scores():
            self.query_scores_ = self.decision_scores_

    def _has_own_query_scores(self) -> bool:
        """Whether training itself sets `query_scores_`."""
        return False

    def _report(self, text: str) -> None:
        """Print a line of progress if the user asked for it."""
        if self.verbose:
            print(f"[{type(self).__name__}] {text}", flush=True)


def fill_gaps(
    table: NDArray[np.float64], usual: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return a table with its missing numbers replaced by usual ones, or by medians."""
    gaps = np.isnan(table)
    if not gaps.any():
        return table
    return np.where(gaps, column_medians(table) if usual is None else usual, table)


def column_medians(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of the known values of every column; 0 where there are none."""
    if not np.isnan(table).any():
        return np.asarray(np.median(table, axis=0))
    columns = [column[~np.isnan(column)] for column in table.T]
    return np.array([np.median(column) if len(column) else 0.0 for column in columns])
