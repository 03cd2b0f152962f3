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

from imboost.decide.calibration import Calibration
from imboost.decide.threshold import (
    share_by_mixture,
    share_without_outliers,
    threshold_by_precision,
    threshold_by_probability,
    threshold_by_share,
)
from imboost.detectors.device import resolve_device
from imboost.errors import MissingPackageError, SettingError
from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels, check_labels
from imboost.state import Stateful
from imboost.stats.log_odds import rank_log_odds
from imboost.tables.layout import Layout
from imboost.validation import check_number

FLOATS = (np.float64, np.float32)
N_PROBES = 64

AUTO = "auto"
"""Contamination that is found: by clusters of scores, and by labels."""


class BaseDetector(Stateful, BaseEstimator, ABC):
    """Fit, score and decide; subclasses train and give scores.

    A subclass implements `_fit` (and `_refine`, if labels help it) and `_score_rows`.
    """

    default_query: ClassVar[str] = "mm"
    """Name of the query strategy that suits the detector; it never calls one itself."""

    required_packages: ClassVar[tuple[str, ...]] = ()
    """Packages of the extra `peers` that the detector is built on."""

    has_out_of_fold_scores: ClassVar[bool] = False
    """Whether it can say what it would think of a labelled row without the label."""

    allow_nan: ClassVar[bool] = False
    """Whether missing numbers (nan) are part of the data."""

    decision_scores_: NDArray[np.float64]
    query_scores_: NDArray[np.float64]
    labels_: NDArray[np.int64]
    threshold_: float
    calibration_: Calibration
    training_labels_: Labels
    out_of_fold_proba_: NDArray[np.float64]
    n_features_in_: int

    def __init__(
        self,
        *,
        contamination: float | str = 0.1,
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
        tags.input_tags.allow_nan = self.allow_nan
        return tags

    @abstractmethod
    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        """Train from scratch, and set `query_scores_` if it differs from the scores."""

    def _refine(self, X: NDArray[Any], labels: Labels) -> None:
        """Train on with more labels; a detector that uses none has nothing to do."""

    @abstractmethod
    def _score_rows(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the outlier score of every row of a checked table."""

    def _score_training_rows(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the scores of the training rows; for detectors that know a short cut."""
        return self._score_rows(X)

    def check_settings(self) -> None:
        """Raise if a setting is out of its range, or a package is missing; `fit` does so too."""
        missing = [name for name in self.required_packages if find_spec(name) is None]
        if missing:
            raise MissingPackageError(type(self).__name__, missing)
        self._check_settings()

    def _check_settings(self) -> None:
        """Raise if a setting is out of its range."""
        if isinstance(self.contamination, str) and self.contamination != AUTO:
            raise SettingError(
                f"contamination must be a number or {AUTO!r}, got {self.contamination!r}."
            )
        if self.contamination != AUTO:
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
        self._fingerprint_rows = self._fingerprint_rows_of(X)
        self._fit(X, labels)
        self._set_scores(X, labels)
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
        self._check_can_train()
        if len(X) != self._n_rows:
            raise ValueError(
                f"refine needs the rows given to fit: expected {self._n_rows}, got {len(X)}. "
                "Use fit for another table."
            )
        if not np.array_equal(
            self._fingerprint_rows, self._fingerprint_rows_of(X), equal_nan=True
        ):
            raise ValueError("refine needs the rows given to fit, in the same order.")
        labels = check_labels(y, len(X))
        self._refine(X, labels)
        self._set_scores(X, labels)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the outlier score of every row; higher is more outlying."""
        return self._score_rows(self._check_table(X))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return 1 for the rows that score above `threshold_`, 0 for the others."""
        return (self.decision_function(X) > self.threshold_).astype(np.int64)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of being an inlier and an outlier, as two columns.

        The labels say how probability grows with the score. Before there are labels it is an
        assumption: that about one row in ten is an outlier.
        """
        return self.scores_to_proba(self.decision_function(X))

    def scores_to_proba(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what `predict_proba` says of rows that have these scores."""
        check_is_fitted(self)
        outlier = self.calibration_.probability(self.log_odds(scores))
        return np.column_stack([1.0 - outlier, outlier])

    def log_odds(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores as log-odds of being an outlier, by what the detector itself thinks."""
        return rank_log_odds(scores, self.decision_scores_)

    def calibrate(self, y: Any, is_audit: NDArray[np.bool_] | None = None) -> Self:
        """Learn from labels how likely rows are outliers and, if it is "auto", the threshold.

        `fit` and `refine` do so themselves; they do not know which labels are an audit.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            All labels of the training rows: 0, 1 or -1.
        is_audit : array of bool of shape (n_rows,), optional
            Rows that were labelled because they were drawn at random; none if not given.
        """
        labels = check_labels(y, self._n_rows)
        self.training_labels_ = labels
        known = labels != UNLABELLED
        drawn = np.zeros(len(labels), dtype=bool) if is_audit is None else is_audit
        held_out = self._out_of_fold_log_odds(labels)
        self.calibration_ = Calibration.fit(
            held_out[known], labels[known], drawn[known], are_held_out=self.has_out_of_fold_scores
        )
        opinion = self.calibration_.probability(held_out, when_asked=True)
        told = known & self.has_out_of_fold_scores
        self.out_of_fold_proba_ = np.where(told, opinion, np.nan)
        if self.contamination != AUTO:
            return self.set_threshold(share=float(self.contamination))
        odds = self.log_odds(self.decision_scores_)
        if not {INLIER, OUTLIER} <= set(labels.tolist()):
            share = share_by_mixture(self._scores_for_mixture(), self._seed)
            if OUTLIER not in labels:
                share = share_without_outliers(self.decision_scores_, share, labels)
            if share * self._n_rows < 1:
                return self.set_threshold(score=float(self.decision_scores_.max()))
            return self.set_threshold(share=share)
        likely = self.calibration_.probability(odds)
        return self.set_threshold(score=threshold_by_probability(self.decision_scores_, likely))

    def set_threshold(
        self,
        *,
        score: float | None = None,
        share: float | None = None,
        precision: float | None = None,
    ) -> Self:
        """Change the score above which rows are called outliers; nothing is trained.

        Parameters
        ----------
        score : float, optional
            The threshold itself.
        share : float, optional
            Share of the training rows to be called outliers.
        precision : float, optional
            Share of the rows above the threshold that should be outliers: the lowest threshold
            is taken for which that is to be expected of the training rows.
        """
        check_is_fitted(self)
        given = [wish for wish in (score, share, precision) if wish is not None]
        if len(given) != 1:
            raise SettingError("set_threshold takes one of score, share and precision.")
        if score is not None:
            check_number("score", score)
        if share is not None:
            check_number("share", share, above=0.0, maximum=1.0)
            score = threshold_by_share(self.decision_scores_, share)
        elif precision is not None:
            check_number("precision", precision, above=0.0, maximum=1.0)
            score = self._threshold_of_precision(precision)
        self.threshold_ = float(given[0] if score is None else score)
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(np.int64)
        return self

    def _threshold_of_precision(self, precision: float) -> float:
        likely = self.scores_to_proba(self.decision_scores_)[:, 1]
        threshold, reached = threshold_by_precision(
            self.decision_scores_, likely, self.training_labels_, precision
        )
        if reached < precision:
            raise SettingError(
                f"No threshold has a precision of {precision:g}; the best to be expected is "
                f"{reached:.2g}. More labels may change that."
            )
        return threshold

    def _scores_for_mixture(self) -> NDArray[np.float64]:
        """Return the training scores on a scale on which the two kinds may be clusters."""
        return self.decision_scores_

    def _out_of_fold_log_odds(self, labels: Labels) -> NDArray[np.float64]:
        """Return log-odds of the training rows, as if the labels of these were not known.

        Where a detector cannot tell (`has_out_of_fold_scores`), those that it has with them.
        """
        return self.log_odds(self.decision_scores_)

    def embed(self, X: Any) -> NDArray[np.float64]:
        """Return rows as points between which there are distances: gaps are filled.

        A missing number counts as the median of its column in `X`.
        """
        return impute(self._check_table(X).astype(np.float64))

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Train, then return the decision about every training row."""
        return self.fit(X, y).labels_

    def _check_can_train(self) -> None:
        if not all(hasattr(self, name) for name in self.unsaved_attributes):
            raise SettingError(
                f"This {type(self).__name__} was loaded from a saved model, which holds no "
                "training rows; fit it again to refine it."
            )

    def _check_table(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        return self._validate(X, reset=False)

    def _validate(self, X: Any, **settings: Any) -> NDArray[Any]:
        finite = "allow-nan" if self.allow_nan else True
        table: NDArray[Any] = validate_data(
            self, X, dtype=FLOATS, order="C", ensure_all_finite=finite, **settings
        )
        return table

    @staticmethod
    def _fingerprint_rows_of(X: NDArray[Any]) -> NDArray[Any]:
        """Copy a few rows, by which another table or another order is told."""
        return X[np.linspace(0, len(X) - 1, N_PROBES).astype(np.int64)]

    def _set_scores(self, X: NDArray[Any], labels: Labels) -> None:
        self.decision_scores_ = self._score_training_rows(X)
        self.calibrate(labels)
        if not self._has_own_query_scores():
            self.query_scores_ = self.decision_scores_

    def _has_own_query_scores(self) -> bool:
        """Whether training itself sets `query_scores_`."""
        return False

    def _report(self, text: str) -> None:
        """Print a line of progress if the user asked for it."""
        if self.verbose:
            print(f"[{type(self).__name__}] {text}", flush=True)


def impute(
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
