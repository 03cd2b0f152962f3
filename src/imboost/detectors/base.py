"""The base class of all detectors: the estimator contract of the package.

A detector is a scikit-learn estimator with PyOD's methods and attributes. It takes rows and
their labels, and is independent of oracles and query strategies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from copy import copy, deepcopy
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from imboost.arrays import Floats, Indices, Mask
from imboost.decide.calibration import Calibration
from imboost.decide.threshold import (
    AUTO,
    choose_threshold,
    threshold_by_contamination,
    threshold_by_precision,
)
from imboost.detectors.device import resolve_device
from imboost.detectors.notebook import fitted_html
from imboost.errors import DataError, MissingPackageError, SettingError
from imboost.labels import UNLABELLED, Labels, check_labels
from imboost.state import Stateful
from imboost.stats.log_odds import rank_log_odds
from imboost.tables.layout import Layout
from imboost.validation import check_number, check_numbers

N_FINGERPRINT_ROWS = 64  # training rows kept to recognise the table, spread evenly over it


# Ranges of settings: arguments of `check_number`, stored in the metadata of a field.
COUNT = {"minimum": 1, "whole": True}
COUNT_OR_ZERO = {"minimum": 0, "whole": True}
TWO_OR_MORE = {"minimum": 2, "whole": True}
POSITIVE = {"above": 0.0}
NOT_NEGATIVE = {"minimum": 0.0}
FRACTION = {"above": 0.0, "maximum": 1.0}


@dataclass(kw_only=True, eq=False, repr=False)
class BaseDetector(Stateful, BaseEstimator, ABC):
    """Base class with fitting, scoring, calibration and thresholds.

    A subclass implements `_fit`, `_score_rows` and, if it uses labels, `_refine`. Its fields are
    its settings; a number has its range in the metadata of the field.
    """

    default_query: ClassVar[str] = "mm"
    """Name of the query strategy that a session uses by default."""

    required_packages: ClassVar[tuple[str, ...]] = ()
    """Packages of the extra `peers` that the detector needs."""

    has_out_of_fold_scores: ClassVar[bool] = False
    """Whether labelled rows have scores by models that were not fitted on their labels."""

    uses_rules: ClassVar[bool] = False
    """Whether flags of broken rules (`Kind.RULE`) are added to the matrix of a table."""

    allow_nan: ClassVar[bool] = False
    """Whether the rows may have missing values (nan)."""

    has_own_query_scores: ClassVar[bool] = False
    """Whether training sets `query_scores_`; they are `decision_scores_` otherwise."""
    refine_depends_on_history: ClassVar[bool] = True
    """Whether `refine` continues from the last round.

    If False, `refine` computes new attributes from the fit and the labels alone and changes
    nothing in place: earlier rounds need not be repeated, and `copy` is shallow.
    """

    decision_scores_: Floats = field(init=False)
    query_scores_: Floats = field(init=False)
    labels_: Indices = field(init=False)
    threshold_: float = field(init=False)
    threshold_is_estimated_: bool = field(init=False)
    calibration_: Calibration = field(init=False)
    training_labels_: Labels = field(init=False)
    out_of_fold_proba_: Floats = field(init=False)
    n_features_in_: int = field(init=False)

    contamination: float | str = AUTO
    random_state: int | np.random.RandomState | None = None
    device: str = "auto"
    verbose: bool = False

    def __sklearn_tags__(self) -> Any:
        """Declare that labels, if given, are of two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.input_tags.allow_nan = self.allow_nan
        return tags

    @property
    def has_members(self) -> bool:
        """Whether `member_proba` has members to compare, in every round."""
        return False

    @abstractmethod
    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        """Train from scratch."""

    def _refine(self, X: NDArray[Any], labels: Labels) -> None:
        """Continue training with more labels; does nothing for unsupervised detectors."""

    @abstractmethod
    def _score_rows(self, X: NDArray[Any]) -> Floats:
        """Return the outlier score of every row of a validated table."""

    def _score_training_rows(self, X: NDArray[Any]) -> Floats:
        """Return the scores of the training rows; override if they are already known."""
        return self._score_rows(X)

    def check_settings(self) -> None:
        """Raise if a setting is invalid or a package is missing; `fit` calls this first."""
        missing = [name for name in self.required_packages if find_spec(name) is None]
        if missing:
            raise MissingPackageError(type(self).__name__, missing)
        for setting in fields(self):
            if setting.metadata:
                check = check_numbers if isinstance(setting.default, tuple) else check_number
                check(setting.name, getattr(self, setting.name), **setting.metadata)
        self._check_settings()

    def _check_settings(self) -> None:
        """Check settings that need more than the range of a number."""
        if isinstance(self.contamination, str) and self.contamination != AUTO:
            raise SettingError(
                f"contamination must be a number or {AUTO!r}, got {self.contamination!r}."
            )
        if self.contamination != AUTO:
            check_number("contamination", self.contamination, above=0.0, maximum=0.5)
        resolve_device(self.device)

    def fit(
        self, X: Any, y: Any = None, *, layout: Layout | None = None, is_audit: Mask | None = None
    ) -> Self:
        """Train on a table and, if given, on labels.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; some detectors accept nan for missing values.
        y : array-like of shape (n_rows,), optional
            0 for an inlier, 1 for an outlier, -1 for a row that is not labelled.
        layout : Layout, optional
            Which columns encode categories or missing values; all are numbers by default.
        is_audit : array of bool of shape (n_rows,), optional
            Labelled rows that were drawn at random, see `calibrate`.
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
        self._fingerprint_rows = self._take_fingerprint_rows(X)
        self._fit(X, labels)
        self._set_scores(X, labels, is_audit)
        return self

    def refine(self, X: Any, y: Any, *, is_audit: Mask | None = None) -> Self:
        """Continue training with more labels of the rows given to `fit`.

        Parameters
        ----------
        X, is_audit
            As in `fit`: the same rows, in the same order.
        y : array-like of shape (n_rows,)
            All labels known by now: 0, 1 or -1.
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
            self._fingerprint_rows, self._take_fingerprint_rows(X), equal_nan=True
        ):
            raise ValueError("refine needs the rows given to fit, in the same order.")
        labels = check_labels(y, len(X))
        self._refine(X, labels)
        self._set_scores(X, labels, is_audit)
        return self

    @property
    def model_name(self) -> str:
        """Name of the model in score files and responses."""
        return type(self).__name__

    def copy(self) -> Self:
        """Return a copy, fitted if this is, whose further training leaves this unchanged."""
        return deepcopy(self) if self.refine_depends_on_history else copy(self)

    def decision_function(self, X: Any) -> Floats:
        """Return the outlier score of every row; higher is more outlying."""
        return self._score_rows(self._check_table(X))

    def predict(self, X: Any) -> Indices:
        """Return 1 for the rows that score above `threshold_`, 0 for the others."""
        return (self.decision_function(X) > self.threshold_).astype(np.int64)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of being an inlier and an outlier, in two columns.

        They are calibrated by the labels. Without labels they rest on the assumption that about
        one row in ten is an outlier; `Stack` on a table with categories assumes one in a hundred.
        """
        return self.scores_to_proba(self.decision_function(X))

    def scores_to_proba(self, scores: Floats) -> Floats:
        """Return the probabilities that `predict_proba` returns for rows with these scores."""
        check_is_fitted(self)
        outlier = self.calibration_.probability(self.log_odds(scores))
        return np.column_stack([1.0 - outlier, outlier])

    def log_odds(self, scores: Floats) -> Floats:
        """Return scores as log-odds of being an outlier, before calibration."""
        check_is_fitted(self)
        return rank_log_odds(scores, self.decision_scores_)

    def calibrate(
        self,
        y: Any,
        is_audit: Mask | None = None,
        *,
        weights: Floats | None = None,
    ) -> Self:
        """Calibrate probabilities and choose the threshold on labels; `fit` and `refine` call it.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            All labels known by now: 0, 1 or -1; the detector need not be trained on all of them.
        is_audit : array of bool of shape (n_rows,), optional
            Labelled rows that were drawn at random instead of selected; none by default.
        weights : array of shape (n_rows,), optional
            If the training rows are a sample of a larger table, how many of its rows each of them
            stands for. The threshold, also of `set_threshold`, is then chosen for that table.
        """
        check_is_fitted(self)
        self._weights = weights
        labels = check_labels(y, self._n_rows)
        known = labels != UNLABELLED
        audit = np.zeros(len(labels), dtype=bool) if is_audit is None else is_audit
        log_odds = self._out_of_fold_log_odds(self._fitted_labels)
        self.training_labels_ = labels
        self.calibration_ = Calibration.fit(
            log_odds[known], labels[known], audit[known], out_of_fold=self.has_out_of_fold_scores
        )
        proba = self.calibration_.probability(log_odds, selected=True)
        self.out_of_fold_proba_ = np.where(known & self.has_out_of_fold_scores, proba, np.nan)
        threshold, is_estimated = choose_threshold(
            self.decision_scores_,
            self.scores_to_proba(self.decision_scores_)[:, 1],
            labels,
            self.contamination,
            mixture_scores=self._scores_for_mixture(),
            seed=self._seed,
            weights=weights,
        )
        self.set_threshold(score=threshold)
        self.threshold_is_estimated_ = is_estimated
        return self

    def set_threshold(
        self,
        *,
        score: float | None = None,
        contamination: float | None = None,
        precision: float | None = None,
    ) -> Self:
        """Change the score above which rows are called outliers; nothing is trained.

        Parameters
        ----------
        score : float, optional
            The threshold itself.
        contamination : float, optional
            Fraction of the training rows to call outliers.
        precision : float, optional
            Expected fraction of outliers among the training rows above the threshold; the lowest
            threshold that reaches it is chosen.
        """
        check_is_fitted(self)
        if [score, contamination, precision].count(None) != 2:
            raise SettingError("set_threshold takes one of score, contamination and precision.")
        if contamination is not None:
            check_number("contamination", contamination, above=0.0, maximum=1.0)
            weights = getattr(self, "_weights", None)  # older saved models have none
            score = threshold_by_contamination(self.decision_scores_, contamination, weights)
        elif precision is not None:
            check_number("precision", precision, above=0.0, maximum=1.0)
            score = self._threshold_by_precision(precision)
        check_number("score", score)
        self.threshold_ = float(score)  # type: ignore[arg-type]
        self.threshold_is_estimated_ = False
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(np.int64)
        return self

    def _threshold_by_precision(self, precision: float) -> float:
        proba = self.scores_to_proba(self.decision_scores_)[:, 1]
        threshold, reached = threshold_by_precision(
            self.decision_scores_,
            proba,
            self.training_labels_,
            precision,
            getattr(self, "_weights", None),
        )
        if reached < precision:
            raise SettingError(
                f"No threshold has an expected precision of {precision:g}; the highest is "
                f"{reached:.2g}. Ask for less, or label more rows."
            )
        return threshold

    def _scores_for_mixture(self) -> Floats | None:
        """Return the training scores on a scale on which the classes may form clusters.

        None if probabilities without labels are good enough to choose the threshold.
        """
        return self.decision_scores_

    def _out_of_fold_log_odds(self, labels: Labels) -> Floats:
        """Return log-odds of the training rows; of labelled rows out of fold, if available."""
        return self.log_odds(self.decision_scores_)

    def embed(self, X: Any) -> Floats:
        """Return rows as points in Euclidean space, for query strategies that use distances.

        Missing values are replaced by the median of their column in `X`.
        """
        return impute(self._check_table(X).astype(np.float64))

    def member_proba(self, X: Any) -> Floats:
        """Return each member's outlier probability of the training rows, (members, rows).

        Members are the models whose scores the detector averages: the networks of a deep detector
        with `n_members`, groups of trees of `Trees` and the base learners of `Stack`; of the last
        two, the unsupervised scores until labels of both classes are known. They share the
        calibration.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows given to `fit`.

        Raises
        ------
        DataError
            If `X` has another number of rows than the table given to `fit`.
        SettingError
            If the detector has fewer than two members.
        """
        table = self._check_table(X)
        if len(table) != len(self.decision_scores_):
            raise DataError(
                "member_proba needs the rows given to fit: expected "
                f"{len(self.decision_scores_)}, got {len(table)}. Use predict_proba for other "
                "rows."
            )
        log_odds = self._member_log_odds(table)
        if len(log_odds) < 2:
            raise SettingError(
                f"{type(self).__name__} has no members whose predictions could be compared; use "
                "trees, stack with several base learners, or imboost with n_members of at least 2."
            )
        return np.stack([self.calibration_.probability(own) for own in log_odds])

    def _member_log_odds(self, X: NDArray[Any]) -> list[Floats]:
        """Return each member's log-odds of the training rows; by default from its own ranks."""
        return [rank_log_odds(own, own) for own in self._member_scores(X)]

    def _member_scores(self, X: NDArray[Any]) -> Iterable[Floats]:
        """Return each member's scores of the training rows; nothing without members."""
        return ()

    def fit_predict(
        self, X: Any, y: Any = None, *, layout: Layout | None = None, is_audit: Mask | None = None
    ) -> Indices:
        """Call `fit`, then return 0 or 1 for every training row."""
        return self.fit(X, y, layout=layout, is_audit=is_audit).labels_

    def _check_can_train(self) -> None:
        if not all(hasattr(self, name) for name in self.unsaved_attributes):
            raise SettingError(
                f"This {type(self).__name__} was loaded from a saved model, which lacks "
                "the state that further training needs; fit it again to refine it."
            )

    def _check_table(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        return self._validate(X, reset=False)

    def _validate(self, X: Any, **settings: Any) -> NDArray[Any]:
        table: NDArray[Any] = validate_data(
            self,
            X,
            dtype=(np.float64, np.float32),
            order="C",
            ensure_all_finite="allow-nan" if self.allow_nan else True,
            **settings,
        )
        return table

    @staticmethod
    def _take_fingerprint_rows(X: NDArray[Any]) -> NDArray[Any]:
        """Return a few rows by which another table, or another order of rows, is recognised."""
        return X[np.linspace(0, len(X) - 1, N_FINGERPRINT_ROWS).astype(np.int64)]

    def _set_scores(self, X: NDArray[Any], labels: Labels, is_audit: Mask | None) -> None:
        """Score the training rows after training, calibrate and choose the threshold."""
        self._fitted_labels = labels
        self.decision_scores_ = self._score_training_rows(X)
        self.calibrate(labels, is_audit)
        if not self.has_own_query_scores:
            self.query_scores_ = self.decision_scores_

    def _html_repr(self) -> str:  # scikit-learn shows it in notebooks
        return f"{super()._html_repr()}{fitted_html(self)}"

    def _report(self, text: str) -> None:
        """Print a line of progress if `verbose` is set."""
        if self.verbose:
            print(f"[{type(self).__name__}] {text}", flush=True)


def impute(table: NDArray[Any], values: NDArray[Any] | None = None) -> NDArray[Any]:
    """Replace missing values by the given value of their column, by default its median."""
    missing = np.isnan(table)
    if not missing.any():
        return table
    return np.where(missing, column_medians(table) if values is None else values, table)


def column_medians(table: NDArray[Any]) -> NDArray[Any]:
    """Return the median of the known values of every column; 0 if there are none."""
    if not np.isnan(table).any():
        return np.asarray(np.median(table, axis=0))
    columns = [column[~np.isnan(column)] for column in table.T]
    medians = [np.median(column) if len(column) else 0.0 for column in columns]
    return np.array(medians, dtype=table.dtype)
