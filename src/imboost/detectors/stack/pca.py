"""Principal components, and reconstruction errors of rows the components were not fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold

from imboost.arrays import Floats, Indices, Mask
from imboost.detectors.stack.training_rows import NEW
from imboost.parallel import limit_library_threads
from imboost.stats.row_products import Singles, multiply_rows
from imboost.stats.scaling import StandardScaling

EXPLAINED_VARIANCE = 0.95  # fraction of the variance that the retained components explain
NEGLIGIBLE_VARIANCE = 1e-12  # relative to the first component: rounding of double precision
N_FOLDS = 5
MANY_ROWS = 100  # rows for each column: a PCA adapts to its rows by about 1/100 of the variance
CHUNK_ROWS = 1024  # rows at a time, which fit into the cache of a core


@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """The components of a scikit-learn PCA."""

    mean: Singles
    components: Singles  # (n_components, n_features)

    @classmethod
    def fit(cls, X: Floats, n_components: float) -> PrincipalComponents:
        """Find this many components or, if below 1, enough to explain this fraction of variance.

        Components along which rows differ by rounding alone are left out.
        """
        if len(X) < 2:
            return cls(_single(X.mean(axis=0)), np.zeros((1, X.shape[1]), dtype=np.float32))
        # The covariance matrix is quicker to decompose where it is smaller than the data.
        solver = "covariance_eigh" if len(X) >= X.shape[1] else "full"
        # One thread is quicker for small matrices; the variance of a constant table is 0.
        with limit_library_threads(), np.errstate(invalid="ignore"):
            pca = PCA(n_components, svd_solver=solver).fit(X)
        variances = pca.explained_variance_
        n_kept = max(1, int((variances > NEGLIGIBLE_VARIANCE * variances[0]).sum()))
        return cls(_single(pca.mean_), _single(pca.components_[:n_kept]))

    def transform(self, X: Singles) -> Singles:
        """Return the coordinates of rows along the components."""
        return multiply_rows(X - self.mean, self.components.T)

    def reconstruct(self, X: Singles) -> Singles:
        """Return the projection of rows onto the components, in the original columns."""
        return multiply_rows(self.transform(X), self.components) + self.mean


class Reconstruction(NamedTuple):
    """PCA reconstruction of rows: (rows, columns) each."""

    expected: Singles
    """The reconstructed cells, in the units of the table."""
    squared_errors: Singles
    """The squared error of every cell, in variances of its column."""


@dataclass(frozen=True, eq=False)
class CrossFittedPCA:
    """One PCA of the standardised columns per fold, fitted to the rows of the other folds.

    Where rows are few, a PCA reconstructs the rows it was fitted to better than new rows.
    Training rows are therefore reconstructed out of fold, and new rows by the PCA of every fold.
    With `MANY_ROWS` rows for each column, there is one PCA of all rows.

    Parameters
    ----------
    scaling : StandardScaling
    folds : list of PrincipalComponents
    fold_of_rows : array of shape (n_training_rows,)
        The fold whose PCA was not fitted to the row.
    """

    scaling: StandardScaling
    folds: list[PrincipalComponents]
    fold_of_rows: Indices

    @classmethod
    def fit(cls, X: Singles, seed: int) -> CrossFittedPCA:
        """Fit to the training rows."""
        model = cls(StandardScaling.fit(X), [], np.zeros(len(X), dtype=np.int64))
        scaled = model.scaling.transform(X)
        if len(X) >= MANY_ROWS * X.shape[1]:
            model.folds.append(PrincipalComponents.fit(scaled, EXPLAINED_VARIANCE))
            return model
        splits = KFold(min(N_FOLDS, len(X)), shuffle=True, random_state=seed).split(scaled)
        for fold, (fitted, held_out) in enumerate(splits):
            model.folds.append(PrincipalComponents.fit(scaled[fitted], EXPLAINED_VARIANCE))
            model.fold_of_rows[held_out] = fold
        return model

    def reconstruct(self, X: Singles, training_index: Indices) -> Reconstruction:
        """Return the reconstruction of rows and its squared error, averaged over folds.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
        training_index : array of shape (n_rows,)
            Which training row each row is; `NEW` for a new row.
        """
        scaled = _single(self.scaling.transform(X))
        if len(self.folds) == 1:
            mean = self.folds[0].reconstruct(scaled)
            squared_errors = np.square(scaled - mean)
        else:
            mean, squared_errors = self._average_folds(scaled, training_index)
        expected = _single(self.scaling.mean) + _single(self.scaling.deviation) * mean
        return Reconstruction(expected, squared_errors)

    def errors(self, X: Singles, known: Mask, training_index: Indices) -> Floats:
        """Return the sum of the squared errors of every row's known cells."""
        total = np.empty(len(X))
        for start in range(0, len(X), CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            squared = self.reconstruct(X[rows], training_index[rows]).squared_errors
            total[rows] = (squared * known[rows]).sum(axis=1)
        return total

    def _average_folds(self, scaled: Singles, training_index: Indices) -> tuple[Singles, Singles]:
        is_new = training_index == NEW
        fold_of_rows = self.fold_of_rows[training_index]
        mean, squared_errors = np.zeros_like(scaled), np.zeros_like(scaled)
        for fold, pca in enumerate(self.folds):
            rows = np.flatnonzero(is_new | (fold_of_rows == fold))
            n_folds = np.where(is_new[rows], np.float32(len(self.folds)), np.float32(1))[:, None]
            reconstruction = pca.reconstruct(scaled[rows])
            mean[rows] += reconstruction / n_folds
            squared_errors[rows] += np.square(scaled[rows] - reconstruction) / n_folds
        return mean, squared_errors


def _single(values: Floats) -> Singles:
    return values.astype(np.float32)
