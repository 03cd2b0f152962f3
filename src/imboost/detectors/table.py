"""A detector for tables as they are: mixed columns, gaps and identifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from imboost.data.cells import words
from imboost.data.encoding import TableEncoder
from imboost.data.number_scaling import SCALINGS
from imboost.data.roles import ColumnFacts, find_roles
from imboost.data.tables import as_table
from imboost.detectors import BaseDetector, make_detector
from imboost.errors import SettingError, UnknownNameError
from imboost.explain import CellShares, Explanation, Reason


class TableDetector(BaseEstimator):
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
    contamination : float, optional
        Share of the training rows called outliers; the detector's own if not given.
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
    decision_scores_, query_scores_, labels_, threshold_
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

    def __init__(
        self,
        detector: str | BaseDetector = "stack",
        *,
        roles: Mapping[str, str] | None = None,
        scaling: str = "robust",
        contamination: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.detector = detector
        self.roles = roles
        self.scaling = scaling
        self.contamination = contamination
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on a table and, where there are any, on labels.

        Parameters
        ----------
        X : data frame, Arrow table, array or path
            See `imboost.data.tables.as_table`.
        y : array-like of shape (n_rows,), optional
            0 for an inlier, 1 for an outlier, -1 for a row that is not labelled.
        """
        if self.scaling not in SCALINGS:
            raise UnknownNameError("scaling", self.scaling, SCALINGS)
        detector = self._new_detector()
        table = as_table(X)
        self.facts_: list[ColumnFacts] = find_roles(table, self.roles)
        self.encoder_ = TableEncoder.fit(table, self.facts_, self.scaling)
        matrix = self.encoder_.encode(table)
        self.detector_ = detector.fit(matrix, y, layout=self.encoder_.layout)
        return self

    def refine(self, X: Any, y: Any) -> Self:
        """Train on with more labels of the rows given to `fit`."""
        self.detector_.refine(self.encode(X), y)
        return self

    def encode(self, X: Any) -> NDArray[np.float64]:
        """Return the matrix that the detector looks at."""
        check_is_fitted(self)
        return self.encoder_.encode(as_table(X))

    def places(self, X: Any) -> NDArray[np.float64]:
        """Return rows as points without gaps, see `BaseDetector.places`."""
        return self.detector_.places(self.encode(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the outlier score of every row; higher is more outlying."""
        return self.detector_.decision_function(self.encode(X))

    def explain(self, X: Any) -> list[Explanation]:
        """Say for every row which columns make its score, the largest share first.

        Shares are estimated or exact, as the explanation says; with the score of a usual row
        their sum is the row's own.
        """
        table = as_table(X)
        matrix = self.encode(table)
        if not hasattr(self.detector_, "cell_shares"):
            raise SettingError(f"{type(self.detector_).__name__} cannot explain its scores yet.")
        found: CellShares = self.detector_.cell_shares(matrix)
        layout = self.encoder_.layout
        first = {feature.source: feature.columns for feature in reversed(layout.features)}
        usual = {
            name: self.encoder_.encoders[name].describe(found.expected[:, first[name]])
            for name in layout.sources
        }
        values = {name: words(table.column(name)).to_pylist() for name in layout.sources}
        scores = found.base + found.shares.sum(axis=1)
        return [
            Explanation(
                score=float(scores[row]),
                base=found.base,
                is_exact=found.is_exact,
                reasons=[
                    Reason(
                        column=layout.sources[place],
                        value=values[layout.sources[place]][row],
                        share=float(found.shares[row, place]),
                        usual=usual[layout.sources[place]][row],
                    )
                    for place in np.argsort(-found.shares[row], kind="stable")
                ],
            )
            for row in range(len(matrix))
        ]

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return 1 for the rows that score above `threshold_`, 0 for the others."""
        return self.detector_.predict(self.encode(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return columns for inlier and outlier."""
        return self.detector_.predict_proba(self.encode(X))

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

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is something to score with."""
        return hasattr(self, "detector_")

    def _new_detector(self) -> BaseDetector:
        known = self.detector
        detector: BaseDetector = make_detector(known) if isinstance(known, str) else clone(known)
        own = {"contamination": self.contamination, "random_state": self.random_state}
        detector.set_params(**{key: value for key, value in own.items() if value is not None})
        return detector
