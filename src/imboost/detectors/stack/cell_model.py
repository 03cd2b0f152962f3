"""How surprising each cell of a row is, given the row's other cells."""

from __future__ import annotations

import numpy as np

from imboost.detectors.base import column_medians, impute
from imboost.detectors.shallow.base import Floats
from imboost.detectors.stack.conditional import (
    N_HALVES,
    ComponentExpectations,
    Expectations,
    ForestExpectations,
)
from imboost.state import Stateful
from imboost.stats.folds import RowFolds
from imboost.tables.layout import Kind, Layout

MOST_FORESTS = 64
"""Features for each of which forests are grown; of more, all are expected by components."""

ROWS_AT_ONCE = 16_384

USUAL_GAPS = 0.05
"""In a column with a larger share of missing cells, a missing one is no surprise."""


class CellSurprise(Stateful):
    """Expects every cell of a table, given the others of its row.

    A number is the more surprising the further it is from what is expected, in the usual errors
    of that; a level of a category, the less probable it is; a missing number, the rarer gaps are
    in its column, and where they are not rare, not at all.

    Rows fall into two halves by their own values, and each is judged by what learned from the
    other.

    Parameters
    ----------
    table : array of shape (n_rows, n_columns)
        The training rows; missing numbers are nan.
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
        self._usual = column_medians(table)
        known = ~np.isnan(table)
        gap_shares = ((~known).sum(axis=0) + 0.5) / (len(table) + 1)
        self._gap_surprise = np.maximum(np.log(USUAL_GAPS / gap_shares), 0.0)
        plain = impute(table, self._usual)
        self._halves = RowFolds(table.shape[1], N_HALVES, seed)
        halves = self._halves(plain)
        n_features = sum(feature.kind != Kind.MISSING_INDICATOR for feature in layout.features)
        self._expectations: Expectations = (
            ForestExpectations(plain, known, halves, layout, n_trees, max_rows, seed)
            if n_features <= MOST_FORESTS
            else ComponentExpectations(plain, known, halves, layout)
        )
        features = self._expectations.features
        self._starts = np.array([feature.start for feature in features])
        self._places = np.array([layout.sources.index(feature.source) for feature in features])
        self._n_sources = len(layout.sources)

    def judge(self, table: Floats) -> tuple[Floats, Floats]:
        """Return how surprising cells are, (rows, sources), and the table as it is expected.

        Every cell is expected given the row's other cells. Few rows are judged at a time, since
        columns are copied for every feature.
        """
        starts = range(0, max(len(table), 1), ROWS_AT_ONCE)
        parts = [self._judge(table[start : start + ROWS_AT_ONCE]) for start in starts]
        surprises, expected = zip(*parts, strict=True)
        return np.vstack(surprises), np.vstack(expected)

    def _judge(self, table: Floats) -> tuple[Floats, Floats]:
        plain = impute(table, self._usual)
        of_values, expected = self._expectations.judge(plain, self._halves(plain))
        is_missing = np.isnan(table[:, self._starts])
        of_features = np.where(is_missing, self._gap_surprise[self._starts], of_values)
        surprises = np.zeros((self._n_sources, len(table)))
        np.maximum.at(surprises, self._places, of_features.T)
        return surprises.T, expected
