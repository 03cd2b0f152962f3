"""A detector for tables as they are: mixed columns, gaps and identifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from imboost.decide import Calibration
from imboost.decide.threshold import AUTO
from imboost.detectors import BaseDetector, make_detector
from imboost.errors import SettingError, UnknownNameError
from imboost.explain import Attributions, Explanation, Reason, reference_rows
from imboost.explain.reference_values import ReferenceValues, fit_reference_values
from imboost.labels import Labels
from imboost.state import Stateful
from imboost.tables.cells import to_text
from imboost.tables.encoder import TableEncoder
from imboost.tables.frames import to_arrow
from imboost.tables.layout import Feature
from imboost.tables.number_scaling import SCALINGS
from imboost.tables.roles import ColumnFacts, find_roles


class TableDetector(Stateful, BaseEstimator):
    """Finds what each column of a table is, encodes it, and lets a detector look at that.

    Parameters
    ----------
    detector : str or BaseDetector
        What scores the rows: a name such as "stack" or "imboost", or a detector with settings
        of its own.
    roles : dict of str to str, optional
        Columns whose role is known: "numeric", "categorical", "boolean", "datetime",
        "identifier", "constant", "text" or "ignored". The roles of the others are found.
    scaling : {"robust", "quantile", "minmax"}
        How numbers are scaled: by their middle half with far values drawn in, by their ranks,
        or by smallest and largest value, as in the paper.
    contamination : float or "auto", optional
        Share of the training rows called outliers. With "auto" it is found: by two clusters of
        scores, fewer of them if labels there say inlier, or, once labels of both kinds are
        known, as the rows that are rather outliers than not. If None, it is "auto" for a
        detector that is named, and the detector's own for one with settings of its own.
    random_state : int, RandomState or None
        Source of all randomness; the detector's own if None.

    Attributes
    ----------
    facts_ : list of ColumnFacts
        Every column of the training table, its role and how it is treated.
    encoder_ : TableEncoder
        What turns tables into matrices.
    detector_ : BaseDetector
        The trained detector.
    reference_values_ : dict of str to ReferenceValues
        What the columns hold in usual rows, the training rows not called outliers.
    decision_scores_, query_scores_, labels_, threshold_, calibration_, training_labels_, \
    out_of_fold_proba_
        Those of the trained detector.

    Examples
    --------
    >>> import pandas as pd
    >>> from imboost import TableDetector
    >>> table = pd.DataFrame({"id": range(100), "size": 50 * [1.0, 2.0], "kind": 50 * ["a", "b"]})
    >>> table.loc[7, "kind"] = "unheard of"
    >>> detector = TableDetector(random_state=0).fit(table)
    >>> [str(fact.role) for fact in detector.facts_]
    ['identifier', 'numeric', 'categorical']
    >>> int(detector.decision_scores_.argmax())
    7
    """

    unsaved_attributes = ("_table",)

    def __init__(
        self,
        detector: str | BaseDetector = "stack",
        *,
        roles: Mapping[str, str] | None = None,
        scaling: str = "robust",
        contamination: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.detector = detector
        self.roles = roles
        self.scaling = scaling
        self.contamination = contamination
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, is_audit: NDArray[np.bool_] | None = None) -> Self:
        """Train on a table and, if given, on labels.

        Parameters
        ----------
        X : data frame, Arrow table, array or path
            See `imboost.tables.frames.to_arrow`.
        y : array-like of shape (n_rows,), optional
            0 for an inlier, 1 for an outlier, -1 for a row that is not labelled.
        is_audit : array of bool of shape (n_rows,), optional
            Labelled rows that were drawn at random, see `BaseDetector.calibrate`.
        """
        if self.scaling not in SCALINGS:
            raise UnknownNameError("scaling", self.scaling, SCALINGS)
        detector = self._new_detector()
        table = to_arrow(X)
        self.facts_: list[ColumnFacts] = find_roles(table, self.roles)
        self.encoder_ = TableEncoder.fit(table, self.facts_, self.scaling)
        matrix = self.encoder_.transform(table)
        self.detector_ = detector.fit(matrix, y, layout=self.encoder_.layout, is_audit=is_audit)
        self._table = table
        self._fit_reference_values()
        return self

    def refine(self, X: Any, y: Any, *, is_audit: NDArray[np.bool_] | None = None) -> Self:
        """Continue training with more labels of the rows given to `fit`."""
        table = to_arrow(X)
        self.detector_.refine(self.encode(table), y, is_audit=is_audit)
        self._table = table
        self._fit_reference_values()
        return self

    def encode(self, X: Any) -> NDArray[np.float64]:
        """Return the matrix that the detector looks at."""
        check_is_fitted(self)
        return self.encoder_.transform(to_arrow(X))

    def embed(self, X: Any) -> NDArray[np.float64]:
        """Return rows as points without gaps, see `BaseDetector.embed`."""
        matrix = self.encode(X)
        return self.detector_.embed(matrix)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the outlier score of every row; higher is more outlying."""
        matrix = self.encode(X)
        return self.detector_.decision_function(matrix)

    def explain(self, X: Any) -> list[Explanation]:
        """Say for every row which columns make its score, the oddest cells first.

        Shares are estimated or exact, as the explanation says; with the score of a usual row
        and what no column adds their sum is the row's own.
        """
        table = to_arrow(X)
        matrix = self.encode(table)
        if not hasattr(self.detector_, "attribute"):
            raise SettingError(f"{type(self.detector_).__name__} cannot explain its scores yet.")
        found: Attributions = self.detector_.attribute(matrix)
        scores = found.baseline + found.residual + found.contributions.sum(axis=1)
        layout = self.encoder_.layout
        starts = {feature.source: feature for feature in reversed(layout.features)}
        columns = [
            self._reasons(table.column(name), starts[name], number, found)
            for number, name in enumerate(layout.sources)
        ]
        return [
            Explanation(
                score=float(scores[row]),
                baseline=found.baseline,
                residual=float(found.residual[row]),
                is_exact=found.is_exact,
                reasons=sorted(reasons, key=lambda reason: reason.tolerance - reason.contribution),
            )
            for row, reasons in enumerate(zip(*columns, strict=True))
        ]

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return 1 for the rows that score above `threshold_`, 0 for the others."""
        matrix = self.encode(X)
        return self.detector_.predict(matrix)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of being an inlier and an outlier, as two columns."""
        matrix = self.encode(X)
        return self.detector_.predict_proba(matrix)

    def scores_to_proba(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what `predict_proba` says of rows that have these scores."""
        return self.detector_.scores_to_proba(scores)

    def log_odds(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores as log-odds, see `BaseDetector.log_odds`."""
        return self.detector_.log_odds(scores)

    def calibrate(self, y: Any, is_audit: NDArray[np.bool_] | None = None) -> Self:
        """Fit probabilities and choose the threshold, see `BaseDetector.calibrate`."""
        self.detector_.calibrate(y, is_audit)
        self._fit_reference_values()
        return self

    def set_threshold(
        self,
        *,
        score: float | None = None,
        contamination: float | None = None,
        precision: float | None = None,
    ) -> Self:
        """Change the score above which rows are called outliers; nothing is trained.

        Takes a score, a fraction of the training rows or an expected precision; see
        `BaseDetector.set_threshold`. The reference values follow the threshold, except after
        loading: a saved model holds no training table.
        """
        check_is_fitted(self)
        self.detector_.set_threshold(score=score, contamination=contamination, precision=precision)
        self._fit_reference_values()
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Train, then return the decision about every training row."""
        return self.fit(X, y).labels_

    @property
    def default_query(self) -> str:
        """Name of the query strategy that suits the detector."""
        return self._new_detector().default_query

    @property
    def decision_scores_(self) -> NDArray[np.float64]:
        """Scores of the training rows."""
        return self.detector_.decision_scores_

    @property
    def query_scores_(self) -> NDArray[np.float64]:
        """What a query strategy looks at."""
        return self.detector_.query_scores_

    @property
    def labels_(self) -> NDArray[np.int64]:
        """Decision about every training row."""
        return self.detector_.labels_

    @property
    def threshold_(self) -> float:
        """The score above which a row is called an outlier."""
        return self.detector_.threshold_

    @property
    def threshold_is_estimated_(self) -> bool:
        """Whether the threshold is a guess, since no labels of both classes were known."""
        return self.detector_.threshold_is_estimated_

    @property
    def calibration_(self) -> Calibration:
        """How likely rows are outliers, given their scores."""
        return self.detector_.calibration_

    @property
    def training_labels_(self) -> Labels:
        """The labels of the training rows: 0, 1 or -1."""
        return self.detector_.training_labels_

    @property
    def out_of_fold_proba_(self) -> NDArray[np.float64]:
        """How likely labelled rows would be outliers, had their labels not been known."""
        return self.detector_.out_of_fold_proba_

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is something to score with."""
        return hasattr(self, "detector_")

    def _reasons(
        self, cells: pa.ChunkedArray, first: Feature, number: int, found: Attributions
    ) -> list[Reason]:
        """Say of every row what one column adds, given its cells and the first of its features."""
        name = first.source
        return [
            Reason(name, value, share, float(found.tolerances[number]), usual, place, where)
            for value, share, usual, (place, where) in zip(
                to_text(cells).to_pylist(),
                found.contributions[:, number].tolist(),
                self.encoder_.encoders[name].describe(found.expected[:, first.columns]),
                self.reference_values_[name].locate(cells),
                strict=True,
            )
        ]

    def _fit_reference_values(self) -> None:
        """Describe the reference rows at the current threshold."""
        if not hasattr(self, "_table"):  # loaded: keep those of the threshold it was saved with
            return
        rows = reference_rows(
            self.decision_scores_, self.threshold_, is_estimated=self.threshold_is_estimated_
        )
        self.reference_values_: dict[str, ReferenceValues] = fit_reference_values(
            self._table, self.encoder_.encoders, rows
        )

    def _new_detector(self) -> BaseDetector:
        known = self.detector
        detector: BaseDetector = make_detector(known) if isinstance(known, str) else clone(known)
        share = self.contamination
        if share is None and isinstance(known, str):
            share = AUTO
        own = {"contamination": share, "random_state": self.random_state}
        detector.set_params(**{key: value for key, value in own.items() if value is not None})
        return detector
