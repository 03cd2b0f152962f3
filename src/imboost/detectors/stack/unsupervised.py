"""Unsupervised scores of rows: isolation forest, nearest neighbours, PCA error, cell model.

A further score is one more entry in the dictionary of `UnsupervisedScores._score` and its prior
weight in `priors.score_weights`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest

from imboost.detectors.base import column_medians, impute
from imboost.detectors.stack.cell_model import CellModel, predicted_columns
from imboost.detectors.stack.neighbors import NeighborScores, sample_rows
from imboost.detectors.stack.pca import CrossFittedPCA, Reconstruction
from imboost.detectors.stack.training_rows import TrainingRows
from imboost.tables.layout import Kind, Layout

Floats = NDArray[np.float64]


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
        Scores of the cells: negative logs of tail probabilities, see `CellModel`.
    expected : array of shape (n_rows, n_columns)
        Prediction of the cell model for every cell, given the other cells of the row.
    """

    X: Floats
    scores: dict[str, Floats]
    lof: Floats
    cells: Floats
    expected: Floats


@dataclass(frozen=True, eq=False)
class UnsupervisedScores:
    """The fitted unsupervised models and their scores.

    A model that could adapt to single rows scores training rows out of fold or out of bag, and
    new rows by all its folds or trees. Training rows that are scored again are recognised.

    Parameters
    ----------
    layout, pca, cell_model, isolation_forest, neighbors
        The fitted models.
    training_rows : TrainingRows
    """

    layout: Layout
    pca: CrossFittedPCA
    cell_model: CellModel
    isolation_forest: IsolationForest
    neighbors: NeighborScores
    training_rows: TrainingRows

    @classmethod
    def fit(
        cls,
        X: Floats,
        layout: Layout,
        *,
        n_isolation_trees: int,
        n_neighbors: tuple[int, ...],
        max_reference_rows: int,
        seed: int,
    ) -> tuple[UnsupervisedScores, ScoredRows]:
        """Return the fitted models and the scored training rows; missing numbers are nan."""
        columns = predicted_columns(layout)
        with_medians = impute(X, column_medians(X))[:, columns]
        pca, reconstruction = CrossFittedPCA.fit(with_medians, seed)
        cell_model, cells, expected = CellModel.fit(X, layout, reconstruction, seed)
        content = impute(X, expected)[:, columns]
        reference_index = sample_rows(len(X), max_reference_rows, seed)
        forest = IsolationForest(n_estimators=n_isolation_trees, random_state=seed)
        fitted = cls(
            layout=layout,
            pca=pca,
            cell_model=cell_model,
            isolation_forest=forest.fit(content),
            neighbors=NeighborScores.fit(content[reference_index], n_neighbors),
            training_rows=TrainingRows.fit(with_medians, np.isnan(X[:, columns])),
        )
        return fitted, fitted._score(X, reconstruction, cells, expected)

    def score(self, X: Floats) -> ScoredRows:
        """Return rows with their scores; missing numbers are nan."""
        columns = predicted_columns(self.layout)
        content = impute(X, self.cell_model.medians)[:, columns]
        training_index = self.training_rows.find(content, np.isnan(X[:, columns]))
        reconstruction = self.pca.reconstruct(content, training_index)
        cells, expected = self.cell_model.score(X, reconstruction, training_index)
        return self._score(X, reconstruction, cells, expected)

    def _score(
        self, X: Floats, reconstruction: Reconstruction, cells: Floats, expected: Floats
    ) -> ScoredRows:
        columns = predicted_columns(self.layout)
        filled = impute(X, expected)
        content = filled[:, columns]
        knn, lof = self.neighbors(content)
        is_known = ~np.isnan(X[:, columns])
        pca_error = (reconstruction.squared_errors * is_known).sum(axis=1)
        scores = {
            "isolation_forest": -self.isolation_forest.score_samples(content),
            "knn": knn,
            "pca": pca_error.astype(np.float32).astype(np.float64),  # see `PrincipalComponents`
        }
        if any(f.kind in (Kind.CATEGORICAL, Kind.RULE) for f in self.layout.features):
            scores["cells"] = cells.max(axis=1)
        return ScoredRows(filled, scores, lof, cells, expected)
