"""Unsupervised scores of rows: isolation forest, nearest neighbours, PCA error, cell model.

A further score is one more entry in the dictionary of `UnsupervisedScores.score` and its prior
weight in `priors.score_weights`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Floats, Indices
from imboost.detectors.base import column_medians, impute
from imboost.detectors.stack.cell_model import CellModel
from imboost.detectors.stack.conditionals import feature_values, predicted_columns
from imboost.detectors.stack.isolation import IsolationScores
from imboost.detectors.stack.neighbors import MAX_CANDIDATES, NeighborScores
from imboost.detectors.stack.pca import CrossFittedPCA
from imboost.detectors.stack.training_rows import TrainingRows
from imboost.stats.row_products import Singles
from imboost.stats.sampling import sample_rows
from imboost.tables.layout import Kind, Layout


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with their unsupervised scores.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        The rows, with missing numbers replaced by expected values.
    scores : dict of str to array of shape (n_rows,)
        Higher is more outlying.
    lof : array of shape (n_rows,)
        Local outlier factor, a feature of the forests.
    cells : array of shape (n_rows, n_input_columns)
        Scores of the cells, see `CellModel`; no columns where "cells" is not one of the scores.
    """

    X: NDArray[np.floating[Any]]
    scores: dict[str, Floats]
    lof: Floats
    cells: Floats

    @classmethod
    def concatenate(cls, parts: list[ScoredRows]) -> ScoredRows:
        """Return the rows of all parts, as single-precision numbers."""
        return cls(
            np.concatenate([part.X.astype(np.float32) for part in parts]),
            {name: np.concatenate([p.scores[name] for p in parts]) for name in parts[0].scores},
            np.concatenate([part.lof for part in parts]),
            np.concatenate([part.cells for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: slice | NDArray[Any]) -> ScoredRows:
        scores = {name: values[rows] for name, values in self.scores.items()}
        return ScoredRows(self.X[rows], scores, self.lof[rows], self.cells[rows])


@dataclass(frozen=True, eq=False)
class UnsupervisedScores:
    """The fitted unsupervised models and their scores.

    A model that could adapt to single rows scores training rows out of fold or out of bag, and
    new rows by all its folds or trees. Training rows that are scored again are recognised.

    Parameters
    ----------
    layout, pca, cell_model, isolation, neighbors
        The fitted models.
    training_rows : TrainingRows
    """

    layout: Layout
    pca: CrossFittedPCA
    cell_model: CellModel
    isolation: IsolationScores
    neighbors: NeighborScores
    training_rows: TrainingRows

    @classmethod
    def fit(
        cls,
        X: Singles,
        layout: Layout,
        *,
        n_isolation_trees: int,
        n_neighbors: tuple[int, ...],
        max_reference_rows: int,
        seed: int,
    ) -> UnsupervisedScores:
        """Fit the models to training rows; missing numbers are nan."""
        columns, index = predicted_columns(layout), np.arange(len(X))
        with_medians = impute(X, column_medians(X)).take(columns, axis=1)
        pca = CrossFittedPCA.fit(with_medians, seed)
        cell_model = CellModel.fit(X, layout, pca, seed)
        content = cell_model.impute(X, index).take(columns, axis=1)
        reference = content[sample_rows(len(X), max_reference_rows, seed)]
        # Distances between one-hot encoded categories tell little, and there the cells decide.
        has_categories = layout.n_of_kind(Kind.CATEGORICAL) > 0
        n_candidates = MAX_CANDIDATES // 2 if has_categories else MAX_CANDIDATES
        return cls(
            layout=layout,
            pca=pca,
            cell_model=cell_model,
            isolation=IsolationScores.fit(content, n_isolation_trees, seed),
            neighbors=NeighborScores.fit(reference, n_neighbors, seed, n_candidates),
            training_rows=TrainingRows.fit(feature_values(X, layout)),
        )

    @property
    def has_cell_score(self) -> bool:
        """Whether the score of the worst cell is one of the scores."""
        kinds = {feature.kind for feature in self.layout.features}
        return bool(kinds & {Kind.CATEGORICAL, Kind.RULE})

    def score(self, X: Singles) -> ScoredRows:
        """Return rows with their scores; missing numbers are nan."""
        index = self._find(X)
        if self.has_cell_score:
            cells, filled = self.cell_model.score(X, index)
        else:
            cells = np.empty((len(X), 0))
            filled = self.cell_model.impute(X, index)
        columns = predicted_columns(self.layout)
        with_medians = impute(X, self.cell_model.medians).take(columns, axis=1)
        pca_errors = self.pca.errors(with_medians, ~np.isnan(X.take(columns, axis=1)), index)
        content = filled.take(columns, axis=1)
        knn, lof = self.neighbors(content)
        scores = {
            "isolation_forest": self.isolation(content),
            "knn": knn,
            "pca": pca_errors,
        }
        if self.has_cell_score:
            scores["cells"] = cells.max(axis=1)
        return ScoredRows(filled, scores, lof, cells)

    def impute(self, X: Singles) -> Singles:
        """Return rows with missing numbers replaced by expected values."""
        return self.cell_model.impute(X, self._find(X))

    def score_cells(self, X: Singles) -> tuple[Floats, Singles]:
        """Return the scores of all cells and their expected values, see `CellModel`."""
        index = self._find(X)
        return self.cell_model.score(X, index)[0], self.cell_model.expected(X, index)

    def _find(self, X: Singles) -> Indices:
        """Return which training row each row is."""
        return self.training_rows.find(feature_values(X, self.layout))
