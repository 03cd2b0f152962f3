"""A detector for tables with mixed columns, missing values and identifiers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from operator import attrgetter
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from imboost.arrays import Floats, Mask
from imboost.decide import Decision
from imboost.detectors.adapter import as_detector
from imboost.detectors.base import N_FINGERPRINT_ROWS, BaseDetector
from imboost.detectors.detector import Detector
from imboost.detectors.distilled import Distilled, distill
from imboost.detectors.registry import DETECTORS, make_detector
from imboost.detectors.stack.detector import Stack
from imboost.errors import SettingError, UnknownNameError
from imboost.explain import Attributions, Explanation, reference_rows
from imboost.explain.reference_values import fit_reference_values
from imboost.facts import WHOLE_ROW, Fact, FactKind
from imboost.parallel import map_in_threads
from imboost.relations import Rules
from imboost.tables.cells import to_text
from imboost.tables.encoder import TableEncoder
from imboost.tables.frames import to_arrow
from imboost.tables.layout import Layout
from imboost.tables.number_scaling import SCALINGS
from imboost.tables.roles import Role
from imboost.tables.schema import ParsedColumns, Schema

AUTO_SCALING = "auto"
CHUNK_ROWS = 16_384  # rows encoded at a time by a thread


def _delegate(name: str) -> Any:
    """Return a property that delegates to an attribute of `detector_`."""
    return property(attrgetter(f"detector_.{name}"))


class TableDetector(Detector):
    """Finds the role of each column, encodes the table and trains a detector on the matrix.

    Parameters
    ----------
    detector : str or detector
        The detector that scores the encoded rows, or its name, such as "stack" or "imboost". A
        detector of PyOD or scikit-learn is adapted, see `AdaptedDetector`.
    roles : dict of str to str, optional
        Roles of some columns: "numeric", "categorical", "boolean", "datetime", "identifier",
        "constant", "text" or "ignored". The roles of the others are inferred.
    missing_values : list of str, optional
        Text that stands for a missing value, besides empty cells. Default: "NA", "None", "nan" and
        the others of `imboost.tables.cells.MISSING_STRINGS`.
    scaling : {"auto", "robust", "log", "quantile", "minmax"}
        How numbers are scaled: "robust" by median and quartiles with extreme values compressed,
        "log" likewise, but skewed columns by their logarithm, "quantile" by quantiles, "minmax"
        by minimum and maximum, as in the paper. "auto" is "log" where the detector scores single
        cells (`stack` in tables with categories or rules), else "robust".
    contamination : float or "auto", optional
        Fraction of the training rows that are predicted outliers. With "auto", they are the rows
        with a probability of at least 0.5; without labels of both classes, most detectors
        estimate the fraction from two clusters of scores. None keeps the setting of `detector`.
    random_state : int, RandomState or None
        None keeps the setting of `detector`.

    Attributes
    ----------
    schema_ : Schema
        Role and parser of every column of the training table.
    encoder_ : TableEncoder
        Encodes parsed tables as matrices.
    rules_ : Rules or None
        Relations between the columns and repeated rows, if the detector uses them.
    detector_ : BaseDetector
        The trained detector.
    reference_values_ : dict of str to ReferenceValues
        Values of the columns in reference rows, the training rows not predicted outliers.
    decision_, decision_scores_, query_scores_, labels_, threshold_
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

    allow_nan = True
    unsaved_attributes = ("_parsed", "_source", "_matrix")

    detector_: Any  # a BaseDetector; some explain scores or agree with a teacher

    decision_: Decision = _delegate("decision_")
    query_scores_: Floats = _delegate("query_scores_")

    def __init__(
        self,
        detector: str | BaseDetector = "stack",
        *,
        roles: Mapping[str, str] | None = None,
        missing_values: Sequence[str] | None = None,
        scaling: str = "auto",
        contamination: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.detector = detector
        self.roles = roles
        self.missing_values = missing_values
        self.scaling = scaling
        self.contamination = contamination
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        is_audit: Mask | None = None,
        weights: Floats | None = None,
        schema: tuple[Schema, ParsedColumns] | None = None,
    ) -> Self:
        """Train on a table and, if given, on labels.

        Parameters
        ----------
        X : data frame, Arrow table, array or path
            See `imboost.tables.frames.to_arrow`.
        y : array-like of shape (n_rows,), optional
            0 for an inlier, 1 for an outlier, -1 for a row that is not labelled.
        is_audit, weights
            See `BaseDetector.fit`.
        schema : tuple of Schema and dict, optional
            What `Schema.fit_parse` returned for `X`, if it is known already; `roles` and
            `missing_values` then have no effect.
        """
        detector = self.check_settings()
        table = self._read(X, reset=True)
        fitted_schema, parsed = schema or Schema.fit_parse(
            table, self.roles, missing_values=self.missing_values
        )
        self.rules_ = Rules.fit(fitted_schema, parsed) if detector.uses_rules else None
        scaling = self._choose_scaling(fitted_schema)
        self.encoder_ = TableEncoder.fit(fitted_schema, parsed, scaling)
        self.schema_ = fitted_schema
        self._keep_rows(X, parsed)
        self.detector_ = detector.fit(
            self._matrix, y, layout=self._layout, is_audit=is_audit, weights=weights
        )
        self._check_cells = _take_check_cells(table.select(list(parsed)), fitted_schema)
        self._fit_reference_values()
        return self

    def _choose_scaling(self, schema: Schema) -> str:
        if self.scaling != AUTO_SCALING:
            return self.scaling
        if self.rules_ is None:
            return "robust"
        has_categories = any(one.role in (Role.CATEGORICAL, Role.BOOLEAN) for one in schema)
        return "log" if has_categories or self.rules_.columns else "robust"

    def check_settings(self) -> BaseDetector:
        """Raise if a setting is invalid; return a new detector for the matrix."""
        names = (AUTO_SCALING, *SCALINGS)
        if self.scaling not in names:
            raise UnknownNameError("scaling", self.scaling, names)
        detector = self._new_detector()
        detector.check_settings()
        return detector

    def refine(
        self, X: Any, y: Any, *, is_audit: Mask | None = None, weights: Floats | None = None
    ) -> Self:
        """Continue training with more labels of the rows given to `fit`."""
        check_is_fitted(self)
        if not hasattr(self, "_parsed") or X is not self._source:
            self._keep_rows(X, self.schema_.parse(self._read(X)))
        self.detector_.refine(self._matrix, y, is_audit=is_audit, weights=weights)
        self._fit_reference_values()
        return self

    def _keep_rows(self, X: Any, parsed: ParsedColumns) -> None:
        self._parsed, self._matrix = parsed, self.encode_parsed(parsed)
        # An Arrow table cannot change, so that it need not be encoded again.
        self._source = X if isinstance(X, pa.Table) else None

    def copy(self) -> Self:
        """Return a copy, fitted if this is, whose further training leaves this unchanged."""
        copied = copy(self)
        if hasattr(self, "detector_"):
            copied.detector_ = self.detector_.copy()
        return copied

    def encode(self, X: Any) -> NDArray[np.float32]:
        """Return the matrix that `detector_` takes."""
        check_is_fitted(self)
        table = self._read(X)
        parts = map_in_threads(
            lambda start: self.encode_parsed(self.schema_.parse(table.slice(start, CHUNK_ROWS))),
            range(0, max(table.num_rows, 1), CHUNK_ROWS),
            getattr(self.detector_, "n_jobs", -1),
        )
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _read(self, X: Any, *, reset: bool = False) -> pa.Table:
        """Return the rows as an Arrow table; for an array, as scikit-learn checks it."""
        is_array = isinstance(X, np.ndarray) or issparse(X)
        if is_array:
            least = {"ensure_min_samples": 2 if reset else 0}
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False, **least)
        table = to_arrow(X)
        if reset and not is_array:
            self.feature_names_in_ = np.array(table.column_names, dtype=object)
            self.n_features_in_ = table.num_columns
        return table

    def encode_parsed(self, parsed: ParsedColumns) -> NDArray[np.float32]:
        """Return the matrix of a table that `schema_` parsed."""
        if not self.rules_:
            return self.encoder_.transform(parsed)
        flags = self.rules_.transform(parsed)
        matrix = self.encoder_.transform(parsed, n_more=flags.shape[1])
        matrix[:, matrix.shape[1] - flags.shape[1] :] = flags
        return matrix

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings; those of the detector as `detector__` and their name."""
        params = super().get_params(deep)
        if deep and isinstance(self.detector, str) and self.detector in DETECTORS:
            nested = make_detector(self.detector).get_params()
            params |= {f"detector__{name}": value for name, value in nested.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change settings, also of the detector, as in ``set_params(detector__n_trees=3)``."""
        detector = params.get("detector", self.detector)
        if isinstance(detector, str) and any(name.startswith("detector__") for name in params):
            params["detector"] = make_detector(detector)
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Any:
        """Declare that columns may hold text and categories."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    @property
    def _layout(self) -> Layout:
        """The layout of the matrix that `detector_` takes."""
        layout = self.encoder_.layout
        added = self.rules_.features(layout.n_columns) if self.rules_ else []
        return Layout((*layout.features, *added))

    def embed(self, X: Any) -> Floats:
        """Return rows as points without missing values, see `BaseDetector.embed`."""
        return self._fitted.embed(self.encode(X))

    def decision_function(self, X: Any) -> Floats:
        """Return the outlier score of every row; higher is more outlying."""
        return self._fitted.decision_function(self.encode(X))

    def distill(self, X: Any, y: Any = None, *, check: bool = True) -> Self:
        """Return a table detector whose `detector_` is a small network with nearly these scores.

        Scoring is many times faster, and the result can be exported to ONNX. It does not check
        `rules_`, so that rows that only break a rule may score lower.

        Parameters
        ----------
        X : data frame, Arrow table, array or path
            Rows of the training table's columns, best the training table itself.
        y : array-like of shape (n_rows,), optional
            Labels for the comparison of scores; those of the training table are known.
        check : bool
            Whether to raise a DistillationError if the scores disagree too much; see
            `detector_.agreement_` of the result.
        """
        detector = self._fitted
        if not isinstance(detector, Stack):
            raise SettingError(f"{type(detector).__name__} cannot be distilled: only Stack can.")
        student = copy(self)
        student.detector, student.contamination = Distilled(), None
        student.detector_ = distill(
            detector, self.schema_.parse(self._read(X)), self.encode_parsed, y, check=check
        )
        student.rules_ = None
        for name in self.unsaved_attributes:
            vars(student).pop(name, None)
        return student

    def explain(self, X: Any) -> list[Explanation]:
        """Attribute the score of every row to its columns, the largest contribution first.

        Baseline, residual and contributions sum to the score.
        """
        self.check_explains()
        table = to_arrow(X)
        parsed = self.schema_.parse(table)
        found: Attributions = self.detector_.attribute(self.encode_parsed(parsed))
        scores = found.baseline + found.residual + found.contributions.sum(axis=1)
        columns = []
        firsts: dict[str, slice] = {}  # the first matrix columns of every input column
        for feature in self._layout.features:
            firsts.setdefault(feature.source, feature.columns)
        shares = zip(found.contributions.T.tolist(), found.tolerances.tolist(), strict=True)
        for (name, first), (parts, tolerance) in zip(firsts.items(), shares, strict=True):
            facts = self._facts(name, table, parsed, found.expected[:, first])
            columns.append(
                [
                    replace(fact, contribution=part, tolerance=tolerance)
                    for fact, part in zip(facts, parts, strict=True)
                ]
            )
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

    def _facts(
        self, name: str, table: pa.Table, parsed: ParsedColumns, expected: Floats
    ) -> Iterator[Fact]:
        """Yield what is known about the cells of a column, or about whole rows."""
        rules = self.rules_ or Rules((), None, ())
        if name == WHOLE_ROW:
            for row, is_repeated in enumerate(rules.repeats(parsed)):
                kind = FactKind.NEAR_DUPLICATE if is_repeated else FactKind.VALUE
                yield Fact(kind=kind, row=row)
            return
        broken = rules.violations(parsed, name)
        encoder = self.encoder_.encoders[name]
        cells = zip(
            to_text(table.column(name), self.schema_.missing_values).to_pylist(),
            encoder.cells(parsed[name]),
            encoder.decode(expected),
            self.reference_values_[name].locate(parsed[name]),
            strict=True,
        )
        for row, (text, value, other, place) in enumerate(cells):
            yield Fact(
                kind=FactKind.RULE if row in broken else FactKind.VALUE,
                columns=(name,),
                row=row,
                text=text,
                value=value,
                expected=other,
                rule=broken.get(row),
                position=place.position,
                share=place.share,
                reference_share=place.reference_share,
            )

    def check_explains(self, otherwise: str = "") -> None:
        """Raise a SettingError, which says what to do `otherwise`, if scores have no reasons."""
        detector = self._fitted
        if hasattr(detector, "attribute"):
            return
        teacher = "use the model it was distilled from" * isinstance(detector, Distilled)
        remedy = " or ".join(filter(None, [teacher, otherwise]))
        remedy = f": {remedy}" if remedy else ""
        raise SettingError(f"{type(detector).__name__} cannot explain its scores{remedy}.")

    def _set_decision(self, decision: Decision) -> None:
        self.detector_.decision_ = decision
        self._fit_reference_values()

    @property
    def model_name(self) -> str:
        """Name of the model in score files and responses."""
        return self._fitted.model_name

    @property
    def default_query(self) -> str:
        """Name of the default query strategy.

        Wrong cells are rare, and a detector that uses rules ranks most of them first: asking
        about the highest scores finds them with the fewest answers.
        """
        detector = self._new_detector()
        return "hc" if detector.uses_rules else detector.default_query

    @property
    def refine_depends_on_history(self) -> bool:
        """Whether the detector's `refine` continues from the last round."""
        return self._new_detector().refine_depends_on_history

    @property
    def _fitted(self) -> BaseDetector:
        """The trained detector; raises NotFittedError before `fit`."""
        check_is_fitted(self)
        detector: BaseDetector = self.detector_
        return detector

    def _fit_reference_values(self) -> None:
        """Describe the reference rows at the current threshold."""
        if not hasattr(self, "_parsed"):  # loaded: keep the saved reference values
            return
        decision = self.decision_
        rows = reference_rows(
            decision.scores, decision.threshold, is_estimated=decision.is_estimated
        )
        self.reference_values_ = fit_reference_values(self.schema_, self._parsed, rows)

    def _new_detector(self) -> BaseDetector:
        known = self.detector
        detector = make_detector(known) if isinstance(known, str) else as_detector(clone(known))
        own = {"contamination": self.contamination, "random_state": self.random_state}
        detector.set_params(**{key: value for key, value in own.items() if value is not None})
        return detector


def _take_check_cells(table: pa.Table, schema: Schema) -> dict[str, list[str | None]]:
    """Return a few rows as text, with which a loaded model is checked."""
    rows = np.linspace(0, table.num_rows - 1, N_FINGERPRINT_ROWS).astype(np.int64)
    taken = table.take(pa.array(rows))
    return {
        name: to_text(taken.column(name), schema.missing_values).to_pylist()
        for name in taken.column_names
    }
