"""How surprising each cell of a row is, given the row's other cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from imboost.data.layout import Feature, Kind, Layout
from imboost.detectors.classic import Floats
from imboost.detectors.folds import RowFolds

FEWEST_IN_LEAF = 3
INPUT_SHARE = 0.5
"""Columns that a tree looks at for a split."""

USUAL_SHARE = 0.03
"""How much a level's share of all rows counts in its expected probability."""

LEAST_PROBABILITY = 1e-4
LEAST_ERROR = 0.02
"""No number is expected more precisely than so much of its standard deviation."""

TO_DEVIATION = 1.4826
"""Makes the median of absolute errors a standard deviation, where they are normal."""

N_HALVES = 2


class CellSurprise:
    """Forests that expect every column of a table, given the others.

    A number is the more surprising the further it is from what is expected, in the usual errors
    of that; a level of a category, the less probable it is. A missing cell surprises no one.

    Rows fall into two halves by their own values, and each is judged by forests that learned
    from the other.

    Parameters
    ----------
    table : array of shape (n_rows, n_columns)
        The training rows, without gaps.
    layout : Layout
        What the columns are.
    n_trees : int
        Trees of each forest.
    max_rows : int
        A forest learns from so many rows at most, drawn at random.
    seed : int
    """

    def __init__(
        self, table: Floats, layout: Layout, n_trees: int, max_rows: int, seed: int
    ) -> None:
        self._sources = layout.sources
        self._owners = layout.source_of_columns()
        self._gaps = {feature.source: feature.start for feature in layout.of_kind(Kind.GAP)}
        self._halves = RowFolds(table.shape[1], N_HALVES, seed)
        halves = self._halves(table)
        self._expectations: list[_Expectation] = []
        for number, feature in enumerate(layout.features):
            if feature.kind != Kind.GAP:
                expectation = _KINDS[feature.kind](feature)
                others, own, known = self._inputs(table, feature)
                expectation.learn(others, own, known, halves, n_trees, max_rows, seed + number)
                self._expectations.append(expectation)

    def __call__(self, table: Floats) -> NDArray[np.float64]:
        """Return how surprising the cells of rows are, (rows, sources of the layout)."""
        halves = self._halves(table)
        surprises = np.zeros((len(table), len(self._sources)))
        for expectation in self._expectations:
            others, own, known = self._inputs(table, expectation.feature)
            surprise = np.where(known, expectation.judge(others, own, halves), 0.0)
            place = self._sources.index(expectation.feature.source)
            surprises[:, place] = np.maximum(surprises[:, place], surprise)
        return surprises

    def expected(self, table: Floats) -> NDArray[np.float64]:
        """Return the table with every cell as the row's other cells let expect it."""
        halves = self._halves(table)
        likely = table.copy()
        for gap in self._gaps.values():
            likely[:, gap] = 0.0
        for expectation in self._expectations:
            others, _, _ = self._inputs(table, expectation.feature)
            likely[:, expectation.feature.columns] = expectation.likeliest(others, halves)
        return likely

    def _inputs(self, table: Floats, feature: Feature) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return the columns of all other sources, those of the feature, and who has a value."""
        others = self._owners != self._sources.index(feature.source)
        gap = self._gaps.get(feature.source)
        known = np.ones(len(table), dtype=bool) if gap is None else table[:, gap] < 0.5
        return table[:, others], table[:, feature.columns], known


class _Expectation(ABC):
    """What is expected of one feature, by forests on the others."""

    def __init__(self, feature: Feature) -> None:
        self.feature = feature

    def learn(
        self,
        others: Floats,
        own: Floats,
        known: NDArray[np.bool_],
        halves: NDArray[np.int64],
        n_trees: int,
        max_rows: int,
        seed: int,
    ) -> None:
        """Teach one forest with the rows of each half that have a value."""
        rng = np.random.default_rng(seed)
        targets = self._targets(own)
        self._forests = []
        for half in range(N_HALVES):
            rows = np.flatnonzero(known & (halves != half))
            if len(rows) < 2:  # a table of few rows
                rows = np.arange(len(own))
            rows = rng.choice(rows, min(len(rows), max_rows), replace=False)
            forest = self._new_forest(n_trees, seed)
            self._forests.append(forest.fit(_at_least_one_column(others[rows]), targets[rows]))
        measured = np.flatnonzero(known)[:max_rows] if known.any() else np.arange(1)
        expected = self._expect(others[measured], halves[measured])
        self._calibrate(targets[measured], expected)

    def judge(self, others: Floats, own: Floats, halves: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how surprising the feature of rows is."""
        return self._surprise(self._targets(own), self._expect(others, halves))

    def likeliest(self, others: Floats, halves: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the columns of the feature as they are expected."""
        return self._expect(others, halves)

    def _expect(self, others: Floats, halves: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what the forest that learned from the other half says, (rows, values)."""
        expected = np.zeros((len(others), self._n_values))
        for half, forest in enumerate(self._forests):
            rows = np.flatnonzero(halves == half)
            if len(rows):
                expected[rows] = self._said_by(forest, _at_least_one_column(others[rows]))
        return expected

    _n_values = 1

    @abstractmethod
    def _new_forest(self, n_trees: int, seed: int) -> Any:
        """Return an untrained forest."""

    @abstractmethod
    def _targets(self, own: Floats) -> NDArray[Any]:
        """Return what a forest should expect, by the feature's columns."""

    @abstractmethod
    def _said_by(self, forest: Any, others: Floats) -> NDArray[np.float64]:
        """Return what a forest expects, (rows, values)."""

    @abstractmethod
    def _calibrate(self, targets: NDArray[Any], expected: Floats) -> None:
        """Learn how well it can be expected."""

    @abstractmethod
    def _surprise(self, targets: NDArray[Any], expected: Floats) -> NDArray[np.float64]:
        """Return how surprising targets are."""


class ExpectedNumber(_Expectation):
    """A number, by the mean of a forest; its usual error is learned."""

    def _new_forest(self, n_trees: int, seed: int) -> Any:
        return ExtraTreesRegressor(
            n_trees, min_samples_leaf=FEWEST_IN_LEAF, max_features=INPUT_SHARE, random_state=seed
        )

    def _targets(self, own: Floats) -> NDArray[Any]:
        return own[:, 0]

    def _said_by(self, forest: Any, others: Floats) -> NDArray[np.float64]:
        return np.asarray(forest.predict(others))[:, None]

    def _calibrate(self, targets: NDArray[Any], expected: Floats) -> None:
        usual = TO_DEVIATION * float(np.median(np.abs(targets - expected[:, 0])))
        self._error = usual + LEAST_ERROR * (float(targets.std()) or 1.0)

    def _surprise(self, targets: NDArray[Any], expected: Floats) -> NDArray[np.float64]:
        return np.asarray(np.log1p(np.square((targets - expected[:, 0]) / self._error)))


class ExpectedLevel(_Expectation):
    """A level of a category, by the shares of a forest's trees."""

    def __init__(self, feature: Feature) -> None:
        super().__init__(feature)
        self._n_values = feature.stop - feature.start

    def likeliest(self, others: Floats, halves: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the columns of the likeliest level."""
        return np.asarray(np.eye(self._n_values)[self._expect(others, halves).argmax(axis=1)])

    def _new_forest(self, n_trees: int, seed: int) -> Any:
        return ExtraTreesClassifier(
            n_trees, min_samples_leaf=FEWEST_IN_LEAF, max_features=INPUT_SHARE, random_state=seed
        )

    def _targets(self, own: Floats) -> NDArray[Any]:
        return np.asarray(own.argmax(axis=1))

    def _said_by(self, forest: Any, others: Floats) -> NDArray[np.float64]:
        shares = np.zeros((len(others), self._n_values))
        shares[:, forest.classes_] = forest.predict_proba(others)
        return shares

    def _calibrate(self, targets: NDArray[Any], expected: Floats) -> None:
        counts = np.bincount(targets, minlength=self._n_values)
        self._usual = counts / counts.sum()

    def _surprise(self, targets: NDArray[Any], expected: Floats) -> NDArray[np.float64]:
        found = expected[np.arange(len(targets)), targets]
        mixed = (1 - USUAL_SHARE) * found + USUAL_SHARE * self._usual[targets]
        return np.asarray(-np.log(mixed + LEAST_PROBABILITY))


_KINDS: dict[Kind, type[_Expectation]] = {
    Kind.NUMBER: ExpectedNumber,
    Kind.CATEGORY: ExpectedLevel,
}


def _at_least_one_column(others: Floats) -> Floats:
    """Return the columns that a forest learns from, or zeros where there are none."""
    return others if others.shape[1] else np.zeros((len(others), 1))
