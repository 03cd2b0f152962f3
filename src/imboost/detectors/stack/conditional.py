"""What is expected of the cells of rows, given the rows' other cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from imboost.detectors.base import column_medians
from imboost.detectors.shallow.base import Floats
from imboost.detectors.stack.forest import mean_of_trees
from imboost.detectors.stack.pca import Rotation
from imboost.state import Stateful
from imboost.stats.scaling import StandardScaling
from imboost.tables.layout import Feature, Kind, Layout

FEWEST_IN_LEAF = 10
INPUT_SHARE = 0.5
"""Columns that a tree looks at for a split."""

TAIL = 0.01
"""The part at either end of a column that does not count for its range.

Numbers more than that range beyond it count as that far where forests learn and look: trees that
split at random would hardly find the rest of a column beside a few that are very far.
"""

USUAL_WEIGHT = 0.03
"""How much a level's share of all rows counts in its expected probability."""

LEAST_PROBABILITY = 1e-4
LEAST_ERROR = 0.02
"""No number is expected more precisely than so much of its standard deviation."""

TO_DEVIATION = 1.4826
"""Makes the median of absolute errors a standard deviation, where they are normal."""

N_HALVES = 2

Halves = NDArray[np.int64]
Known = NDArray[np.bool_]


class Expectations(Protocol):
    """What is expected of all cells. Rows of one half are judged by what the other taught."""

    features: list[Feature]
    """Those of which something is expected: all but gaps."""

    def judge(self, table: Floats, halves: Halves) -> tuple[Floats, Floats]:
        """Return how surprising cells are, (rows, features), and the table as it is expected."""
        ...


class ForestExpectations(Stateful):
    """Two forests for every feature, on the columns of all other sources.

    Parameters
    ----------
    table : array of shape (n_rows, n_columns)
        The training rows, gaps filled.
    known : array of shape (n_rows, n_columns)
        Where they were not filled.
    halves : array of shape (n_rows,)
        0 or 1 for every row.
    layout : Layout
    n_trees, max_rows, seed : int
        Of each forest: its trees, rows that it learns from at most, and its seed.
    """

    def __init__(
        self,
        table: Floats,
        known: Known,
        halves: Halves,
        layout: Layout,
        n_trees: int,
        max_rows: int,
        seed: int,
    ) -> None:
        self.features = _expected_features(layout)
        self._owners, self._sources = layout.source_of_columns(), layout.sources
        self._lowest, self._highest = _reach(table, known, layout)
        self._experts: list[_Expectation] = []
        tame = self._tame(table)
        for number, feature in enumerate(self.features):
            expert = _KINDS[feature.kind](feature)
            others, own = tame[:, self._others_than(feature)], tame[:, feature.columns]
            is_known = known[:, feature.start]
            expert.learn(others, own, is_known, halves, n_trees, max_rows, seed + number)
            self._experts.append(expert)

    def judge(self, table: Floats, halves: Halves) -> tuple[Floats, Floats]:
        """Return how surprising cells are, (rows, features), and the table as it is expected."""
        surprises, likely = [], np.zeros_like(table)
        tame = self._tame(table)
        for expert in self._experts:
            expected = expert.expect(tame[:, self._others_than(expert.feature)], halves)
            surprises.append(expert.surprise(table[:, expert.feature.columns], expected))
            likely[:, expert.feature.columns] = expert.likeliest(expected)
        return np.column_stack(surprises), likely

    def _others_than(self, feature: Feature) -> NDArray[np.bool_]:
        """Return which columns come from another source."""
        return np.asarray(self._owners != self._sources.index(feature.source))

    def _tame(self, table: Floats) -> Floats:
        return np.clip(table, self._lowest, self._highest)


class ComponentExpectations(Stateful):
    """Rows as the strongest principal components of the other half draw them.

    For tables of many columns, where forests for all of them would take too long, and a cell
    has little say in its own expectation. Levels of a category count as numbers.

    Parameters
    ----------
    table, known, halves, layout
        As in `ForestExpectations`.
    """

    def __init__(self, table: Floats, known: Known, halves: Halves, layout: Layout) -> None:
        self.features = _expected_features(layout)
        self._columns = np.concatenate(
            [np.arange(feature.start, feature.stop) for feature in self.features]
        )
        content = table[:, self._columns]
        self._scaling = StandardScaling.fit(content)
        places = self._scaling.transform(content)
        self._rotations = []
        for half in range(N_HALVES):
            others = places[halves != half]
            self._rotations.append(Rotation(others if len(others) > 1 else places, 1))
        errors = np.abs(places - self._drawn(places, halves))
        usual = column_medians(np.where(known[:, self._columns], errors, np.nan))
        self._errors = TO_DEVIATION * usual + LEAST_ERROR

    def judge(self, table: Floats, halves: Halves) -> tuple[Floats, Floats]:
        """Return how surprising cells are, (rows, features), and the table as it is expected."""
        places = self._scaling.transform(table[:, self._columns])
        drawn = self._drawn(places, halves)
        cells = np.log1p(np.square((places - drawn) / self._errors))
        widths = [feature.stop - feature.start for feature in self.features]
        starts = np.concatenate([[0], np.cumsum(widths)[:-1]]).astype(np.int64)
        likely = np.zeros_like(table)
        likely[:, self._columns] = self._scaling.mean + self._scaling.deviation * drawn
        for feature in self.features:
            if feature.kind == Kind.CATEGORICAL:
                levels = likely[:, feature.columns]
                levels[:] = np.eye(levels.shape[1])[levels.argmax(axis=1)]
        return np.maximum.reduceat(cells, starts, axis=1), likely

    def _drawn(self, places: Floats, halves: Halves) -> NDArray[np.float64]:
        drawn = np.zeros_like(places)
        for half, rotation in enumerate(self._rotations):
            rows = halves == half
            drawn[rows] = rotation.drawn(places[rows])
        return drawn


def _reach(table: Floats, known: Known, layout: Layout) -> tuple[Floats, Floats]:
    """Return the smallest and the largest number of each column that is not very far."""
    lowest = np.full(table.shape[1], -np.inf)
    highest = np.full(table.shape[1], np.inf)
    for feature in layout.of_kind(Kind.NUMERIC):
        column = table[known[:, feature.start], feature.start]
        low, high = np.quantile(column, (TAIL, 1 - TAIL)) if len(column) else (0.0, 0.0)
        if low < high:
            lowest[feature.start], highest[feature.start] = 2 * low - high, 2 * high - low
    return lowest, highest


def _expected_features(layout: Layout) -> list[Feature]:
    return [feature for feature in layout.features if feature.kind != Kind.MISSING_INDICATOR]


class _Expectation(Stateful, ABC):
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
        rows = np.flatnonzero(known) if known.any() else np.arange(1)
        measured = rng.choice(rows, min(len(rows), max_rows), replace=False)
        expected = self.expect(others[measured], halves[measured])
        self._calibrate(targets[measured], expected)

    def surprise(self, own: Floats, expected: Floats) -> NDArray[np.float64]:
        """Return how surprising the feature of rows is."""
        return self._surprise(self._targets(own), expected)

    def likeliest(self, expected: Floats) -> NDArray[np.float64]:
        """Return the columns of the feature as they are expected."""
        return expected

    def expect(self, others: Floats, halves: NDArray[np.int64]) -> NDArray[np.float64]:
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
        return mean_of_trees(forest, others)

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

    def likeliest(self, expected: Floats) -> NDArray[np.float64]:
        """Return the columns of the likeliest level."""
        return np.asarray(np.eye(self._n_values)[expected.argmax(axis=1)])

    def _new_forest(self, n_trees: int, seed: int) -> Any:
        return ExtraTreesClassifier(
            n_trees, min_samples_leaf=FEWEST_IN_LEAF, max_features=INPUT_SHARE, random_state=seed
        )

    def _targets(self, own: Floats) -> NDArray[Any]:
        return np.asarray(own.argmax(axis=1))

    def _said_by(self, forest: Any, others: Floats) -> NDArray[np.float64]:
        shares = np.zeros((len(others), self._n_values))
        shares[:, forest.classes_] = mean_of_trees(forest, others)
        return shares

    def _calibrate(self, targets: NDArray[Any], expected: Floats) -> None:
        counts = np.bincount(targets, minlength=self._n_values)
        self._usual = counts / counts.sum()

    def _surprise(self, targets: NDArray[Any], expected: Floats) -> NDArray[np.float64]:
        found = expected[np.arange(len(targets)), targets]
        mixed = (1 - USUAL_WEIGHT) * found + USUAL_WEIGHT * self._usual[targets]
        return np.asarray(-np.log(mixed + LEAST_PROBABILITY))


_KINDS: dict[Kind, type[_Expectation]] = {
    Kind.NUMERIC: ExpectedNumber,
    Kind.CATEGORICAL: ExpectedLevel,
}


def _at_least_one_column(others: Floats) -> Floats:
    """Return the columns that a forest learns from, or zeros where there are none."""
    return others if others.shape[1] else np.zeros((len(others), 1))
