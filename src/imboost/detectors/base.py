"""The base class of all detectors: the estimator contract of the package.

A detector is a scikit-learn estimator with PyOD's methods and attributes. It takes rows and
their labels, and is independent of oracles and query strategies.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from copy import copy, deepcopy
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from imboost.arrays import Floats, Mask
from imboost.decide import Decision
from imboost.decide.threshold import AUTO
from imboost.detectors.detector import Detector
from imboost.errors import DataError, SettingError
from imboost.labels import Labels, check_labels
from imboost.tables.layout import Layout
from imboost.validation import check_number, check_numbers

if TYPE_CHECKING:
    import torch

LOGGER = logging.getLogger("imboost")
N_FINGERPRINT_ROWS = 64  # training rows kept to recognise the table, spread evenly over it


# Ranges of settings: arguments of `check_number`, stored in the metadata of a field.
COUNT = {"minimum": 1, "whole": True}
COUNT_OR_ZERO = {"minimum": 0, "whole": True}
TWO_OR_MORE = {"minimum": 2, "whole": True}
POSITIVE = {"above": 0.0}
NOT_NEGATIVE = {"minimum": 0.0}
FRACTION = {"above": 0.0, "maximum": 1.0}


@dataclass(kw_only=True, eq=False, repr=False)
class BaseDetector(Detector):
    """Base class with fitting, scoring, calibration and thresholds.

    A subclass implements `_fit`, `_score_rows` and, if it uses labels, `_refine`. Its fields are
    its settings; a number has its range in the metadata of the field.
    """

    uses_rules: ClassVar[bool] = False
    """Whether flags of broken rules (`Kind.RULE`) are added to the matrix of a table."""

    has_own_query_scores: ClassVar[bool] = False
    """Whether training sets `query_scores_`; they are `decision_scores_` otherwise."""

    scores_are_probabilities: ClassVar[bool] = False
    """Whether scores are probabilities. Otherwise only their ranks have a meaning."""

    decision_: Decision = field(init=False)
    query_scores_: Floats = field(init=False)
    n_features_in_: int = field(init=False)

    contamination: float | str = AUTO
    random_state: int | np.random.RandomState | None = None
    device: str = "auto"
    verbose: bool = False

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
        """Raise if a setting is invalid; `fit` calls this first."""
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
        if self.device not in ("auto", "cpu"):
            resolve_device(self.device)

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        layout: Layout | None = None,
        is_audit: Mask | None = None,
        weights: Floats | None = None,
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
            Labelled rows that were drawn at random instead of selected; none by default.
        weights : array of shape (n_rows,), optional
            If the rows are a sample of a larger table, how many of its rows each of them stands
            for. The threshold, also of `set_threshold`, is then chosen for that table.
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
        self._set_scores(X, labels, is_audit, weights)
        return self

    def refine(
        self, X: Any, y: Any, *, is_audit: Mask | None = None, weights: Floats | None = None
    ) -> Self:
        """Continue training with more labels of the rows given to `fit`.

        Parameters
        ----------
        X, is_audit, weights
            As in `fit`: the same rows, in the same order.
        y : array-like of shape (n_rows,)
            All labels known by now: 0, 1 or -1.
        """
        X = self._check_table(X)
        if len(X) != self._n_rows:
            raise DataError(
                f"refine needs the rows given to fit: expected {self._n_rows}, got {len(X)}."
            )
        if not self._has_fingerprint(X):
            raise DataError("refine needs the rows given to fit, in the same order.")
        self.check_settings()
        self._check_can_train()
        labels = check_labels(y, len(X))
        self._refine(X, labels)
        self._set_scores(X, labels, is_audit, weights)
        return self

    def copy(self) -> Self:
        """Return a copy, fitted if this is, whose further training leaves this unchanged."""
        return deepcopy(self) if self.refine_depends_on_history else copy(self)

    def decision_function(self, X: Any) -> Floats:
        """Return the outlier score of every row; higher is more outlying."""
        table = self._check_table(X)
        return self._score_rows(table) if len(table) else np.zeros(0)

    def _scores_rest_on_base_rate(self) -> bool:
        """Whether scores without labels are probabilities with `ASSUMED_CONTAMINATION`."""
        return False

    def _out_of_fold_scores(self) -> Floats | None:
        """Return scores of the labelled rows by models that were not fitted on their labels."""
        return None

    def embed(self, X: Any) -> Floats:
        """Return rows as points in Euclidean space, for query strategies that use distances.

        Missing values are replaced by the median of their column in `X`.
        """
        return impute(self._check_table(X).astype(np.float64))

    def _check_can_train(self) -> None:
        if not all(hasattr(self, name) for name in self.unsaved_attributes):
            raise SettingError(
                f"This {type(self).__name__} was loaded from a saved model, which lacks "
                "the state that further training needs; fit it again to refine it."
            )

    def _check_table(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        return self._validate(X, reset=False, ensure_min_samples=0)

    def _has_fingerprint(self, X: NDArray[Any]) -> bool:
        rows = self._take_fingerprint_rows(X)
        return np.array_equal(self._fingerprint_rows, rows, equal_nan=True)

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

    def _set_scores(
        self, X: NDArray[Any], labels: Labels, is_audit: Mask | None, weights: Floats | None
    ) -> None:
        """Score the training rows after training, calibrate and choose the threshold."""
        self.decision_ = Decision.make(
            self._score_training_rows(X),
            labels,
            contamination=self.contamination,
            is_audit=is_audit,
            weights=weights,
            out_of_fold=self._out_of_fold_scores(),
            are_probabilities=self.scores_are_probabilities,
            has_base_rate=self._scores_rest_on_base_rate(),
            seed=self._seed,
        )
        if not self.has_own_query_scores:
            self.query_scores_ = self.decision_.scores

    def _report(self, text: str) -> None:
        """Log progress; `verbose` shows it unless the program has set up logging itself."""
        if self.verbose:
            LOGGER.setLevel(logging.INFO)
            if not LOGGER.hasHandlers():
                LOGGER.addHandler(logging.StreamHandler())
        LOGGER.info("%s: %s", type(self).__name__, text)


def resolve_device(device: str) -> torch.device:
    """Return the device called `device`; "auto" is the GPU where there is one."""
    import torch  # seconds, which detectors without a network do not need

    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        resolved = torch.device(str(device))
        torch.empty(1, device=resolved).item()  # a device without memory, like meta, fails too
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise SettingError(
            f"device must be 'auto', 'cpu' or a device this machine has, such as 'cuda'; "
            f"got {device!r} ({reason})."
        ) from None
    return resolved


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
