"""A detector for tables with mixed columns, missing values and identifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from imboost.decide import Calibration
from imboost.detectors.base import BaseDetector
from imboost.detectors.registry import make_detector
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
from imboost.tables.schema import Schema


class TableDetector(Stateful, BaseEstimator):
    """Finds the role of each column, encodes the table and trains a detector on the matrix.

    Parameters
    ----------
    detector : str or BaseDetector
        The detector that scores the encoded rows, or its name, such as "stack" or "imboost".
    roles : dict of str to str, optional
        Roles of some columns: "numeric", "categorical", "boolean", "datetime", "identifier",
        "constant", "text" or "ignored". The roles of the others are inferred.
    scaling : {"robust", "quantile", "minmax"}
        How numbers are scaled: by median and quartiles with extreme values compressed, by
        quantiles, or by minimum and maximum, as in the paper.
    contamination : float or "auto", optional
        Share of the training rows called outliers. With "auto" it is estimated: from two
        clusters of scores or, once labels of both classes are known, as the rows that are more
        likely outliers than not. The detector's own if None.
    random_state : int, RandomState or None
        The detector's own if None.

    Attributes
    ----------
    schema_ : Schema
        Role and parser of every column of the training table.
    encoder_ : TableEncoder
        Encodes parsed tables as matrices.
    detector_ : BaseDetector
        The trained detector.
    reference_values_ : dict of str to ReferenceValues
        Values of the columns in reference rows, the training rows not called outliers.
    decision_scores_, query_scores_, labels_, threshold_, calibration_, training_labels_, \
    out_of_fold_proba_
        Those of the trained detector.

    Examples
    --------
    >>> import pandas as pd
    >>> from imboost import TableDetector
    >>> table = pd.DataFrame({"id": range(100), "size": 50 * [1.0, 2.0], "kind": 50 * ["a", "b"]})
    >>> table.loc[7, "kind"] = "c"
    >>> detector = TableDetector(random_state=0).fit(table)
    >>> [str(column.role) for column in detector.schema_]
    ['identifier', 'numeric', 'categorical']
    >>> int(detector.decision_scores_.argmax())
    7
    """

    unsaved_attributes = ("_parsed",)

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

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        is_audit: NDArray[np.bool_] | None = None,
        schema: Schema | None = None,
    ) -> Self:
        """Train on a table and, if given, on labels.

        Parameters
        ----------
        X : data frame, Arrow table, array or path
            See `imboost.tables.frames.to_arrow`.
        y : array-like of shape (n_rows,), optional
            0 for an inlier, 1 for an outlier, -1 for a row that is not labelled.
        is_audit : array of bool of shape (n_rows,), optional
            Labelled rows that were drawn at random, see `BaseDetector.calibrate`.
        schema : Schema, optional
            The schema of `X`, if it is known already; `roles` then has no effect.
        """
        if self.scaling not in SCALINGS:
            raise UnknownNameError("scaling", self.scaling, SCALINGS)
        detector = self._new_detector()
        table = to_arrow(X)
        if schema is None:
            schema, parsed = Schema.fit_parse(table, self.roles)
        else:
            parsed = schema.parse(table)
        encoder = TableEncoder.fit(schema, parsed, self.scaling)
        matrix = encoder.transform(parsed)
        self.detector_ = detector.fit(matrix, y, layout=encoder.layout, is_audit=is_audit)
        self.schema_, self.encoder_, self._parsed = schema, encoder, parsed
        self._fit_reference_values()
        return self

    def refine(self, X: Any, y: Any, *, is_audit: NDArray[np.bool_] | None = None) -> Self:
        """Continue training with more labels of the rows given to `fit`."""
        check_is_fitted(self)
        parsed = self.schema_.parse(to_arrow(X))
        self.detector_.refine(self.encoder_.transform(parsed), y, is_audit=is_audit)
        self._parsed = parsed
        self._fit_reference_values()
        return self

    def encode(self, X: Any) -> NDArray[np.float64]:
        """Return the matrix that `detector_` takes."""
        check_is_fitted(self)
        return self.encoder_.transform(self.schema_.parse(to_arrow(X)))

    def embed(self, X: Any) -> NDArray[np.float64]:
        """Return rows as points without missing values, see `BaseDetector.embed`."""
        matrix = self.encode(X)
        return self.detector_.embed(matrix)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the outlier score of every row; higher is more outlying."""
        matrix = self.encode(X)
        return self.detector_.decision_function(matrix)

    def explain(self, X: Any) -> list[Explanation]:
        """Attribute the score of every row to its columns, the largest contribution first.

        Baseline, residual and contributions sum to the score.
        """
        check_is_fitted(self)
        table = to_arrow(X)
        parsed = self.schema_.parse(table)
        matrix = self.encoder_.transform(parsed)
        if not hasattr(self.detector_, "attribute"):
            raise SettingError(f"{type(self.detector_).__name__} cannot explain its scores yet.")
        found: Attributions = self.detector_.attribute(matrix)
        scores = found.baseline + found.residual + found.contributions.sum(axis=1)
        layout = self.encoder_.layout
        starts = {feature.source: feature for feature in reversed(layout.features)}
        columns = [
            self._reasons(table.column(name), parsed[name], starts[name], number, found)
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
        """Return what `predict_proba` returns for rows that have these scores."""
        check_is_fitted(self)
        return self.detector_.scores_to_proba(scores)

    def log_odds(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores as log-odds, see `BaseDetector.log_odds`."""
        check_is_fitted(self)
        return self.detector_.log_odds(scores)

    def calibrate(self, y: Any, is_audit: NDArray[np.bool_] | None = None) -> Self:
        """Fit probabilities and choose the threshold, see `BaseDetector.calibrate`."""
        check_is_fitted(self)
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

    def fit_predict(
        self,
        X: Any,
        y: Any = None,
        *,
        is_audit: NDArray[np.bool_] | None = None,
        schema: Schema | None = None,
    ) -> NDArray[np.int64]:
        """Train, then return the prediction for every training row."""
        return self.fit(X, y, is_audit=is_audit, schema=schema).labels_

    @property
    def default_query(self) -> str:
        """Name of the detector's default query strategy."""
        return self._new_detector().default_query

    @property
    def decision_scores_(self) -> NDArray[np.float64]:
        """Scores of the training rows."""
        return self.detector_.decision_scores_

    @property
    def query_scores_(self) -> NDArray[np.float64]:
        """Scores of the training rows that query strategies use."""
        return self.detector_.query_scores_

    @property
    def labels_(self) -> NDArray[np.int64]:
        """Prediction for every training row."""
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
        """Probability of being an outlier by score."""
        return self.detector_.calibration_

    @property
    def training_labels_(self) -> Labels:
        """The labels of the training rows: 0, 1 or -1."""
        return self.detector_.training_labels_

    @property
    def out_of_fold_proba_(self) -> NDArray[np.float64]:
        """Outlier probabilities of training rows, predicted without their own labels."""
        return self.detector_.out_of_fold_proba_

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has been called."""
        return hasattr(self, "detector_")

    def _reasons(
        self,
        cells: pa.ChunkedArray,
        values: Any,
        first: Feature,
        number: int,
        found: Attributions,
    ) -> list[Reason]:
        """Return the reason of every row for one column, `first` being its first feature."""
        name, tolerance = first.source, float(found.tolerances[number])
        return [
            Reason(name, text, contribution, tolerance, expected, *position)
            for text, contribution, expected, position in zip(
                to_text(cells).to_pylist(),
                found.contributions[:, number].tolist(),
                self.encoder_.encoders[name].describe(found.expected[:, first.columns]),
                self.reference_values_[name].locate(values),
                strict=True,
            )
        ]

    def _fit_reference_values(self) -> None:
        """Describe the reference rows at the current threshold."""
        if not hasattr(self, "_parsed"):  # loaded: keep those of the threshold it was saved with
            return
        rows = reference_rows(
            self.decision_scores_, self.threshold_, is_estimated=self.threshold_is_estimated_
        )
        self.reference_values_: dict[str, ReferenceValues] = fit_reference_values(
            self.schema_, self._parsed, rows
        )

    def _new_detector(self) -> BaseDetector:
        known = self.detector
        detector: BaseDetector = make_detector(known) if isinstance(known, str) else clone(known)
        own = {"contamination": self.contamination, "random_state": self.random_state}
        detector.set_params(**{key: value for key, value in own.items() if value is not None})
        return detector
