"""Principal components, and reconstruction errors of rows the components were not fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from imboost.stats.scaling import StandardScaling

Floats = NDArray[np.float64]

EXPLAINED_VARIANCE = 0.95  # share of the variance that the retained components explain
NEGLIGIBLE_VARIANCE = 1e-12  # relative to the first component: rounding of double precision
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """The components of a scikit-learn PCA.

    Results are rounded to single precision: the last digits of a matrix product depend on the
    number of rows in a call.
    """

    mean: Floats
    components: Floats  # (n_components, n_features)

    @classmethod
    def fit(cls, X: Floats, n_components: float) -> PrincipalComponents:
        """Find so many components or, below 1, as many as explain that share of the variance.

        Components along which rows differ by rounding alone are left out.
        """
        if len(X) < 2:
            return cls(X.mean(axis=0), np.zeros((1, X.shape[1])))
        # The covariance matrix is quicker to decompose where it is smaller than the data.
        solver = "covariance_eigh" if len(X) >= X.shape[1] else "full"
        # One thread is quicker for small matrices; the variance of a constant table is 0.
        with threadpool_limits(limits=1), np.errstate(invalid="ignore"):
            pca = PCA(n_components, svd_solver=solver).fit(X)
        variances = pca.explained_variance_
        n_kept = max(1, int((variances > NEGLIGIBLE_VARIANCE * variances[0]).sum()))
        return cls(pca.mean_, pca.components_[:n_kept])

    def transform(self, X: Floats) -> Floats:
        """Return the coordinates of rows along the components."""
        return _round((X - self.mean) @ self.components.T)

    def reconstruct(self, X: Floats) -> Floats:
        """Return the projection of rows onto the components, in the original columns."""
        return _round(self.transform(X) @ self.components + self.mean)


class Reconstruction(NamedTuple):
    """PCA reconstruction of rows: (rows, columns) each."""

    expected: Floats
    """The reconstructed cells, in the units of the table."""
    squared_errors: Floats
    """The squared error of every cell, in variances of its column."""


@dataclass(frozen=True, eq=False)
class CrossFittedPCA:
    """One PCA of the standardised columns per fold, fitted to the rows of the other folds.

    Where rows are few, a PCA reconstructs the rows it was fitted to better than any other.
    Training rows are therefore reconstructed out of fold, and new rows by the PCA of every fold.
    """

    scaling: StandardScaling
    folds: list[PrincipalComponents]

    @classmethod
    def fit(cls, X: Floats, seed: int) -> tuple[CrossFittedPCA, Reconstruction]:
        """Return the fitted model and the out-of-fold reconstruction of `X`."""
        model = cls(StandardScaling.fit(X), [])
        scaled = model.scaling.transform(X)
        reconstruction = np.empty_like(scaled)
        folds = KFold(min(N_FOLDS, len(X)), shuffle=True, random_state=seed)
        for fitted, held_out in folds.split(scaled):
            pca = PrincipalComponents.fit(scaled[fitted], EXPLAINED_VARIANCE)
            reconstruction[held_out] = pca.reconstruct(scaled[held_out])
            model.folds.append(pca)
        return model, model._unscale(reconstruction, np.square(scaled - reconstruction))

    def reconstruct(self, X: Floats) -> Reconstruction:
        """Return the mean reconstruction of new rows and its mean squared error over the folds."""
        scaled = self.scaling.transform(X)
        mean, squared_errors = np.zeros_like(scaled), np.zeros_like(scaled)
        for pca in self.folds:
            reconstruction = pca.reconstruct(scaled)
            mean += reconstruction / len(self.folds)
            squared_errors += np.square(scaled - reconstruction) / len(self.folds)
        return self._unscale(mean, squared_errors)

    def _unscale(self, reconstruction: Floats, squared_errors: Floats) -> Reconstruction:
        expected = self.scaling.mean + self.scaling.deviation * reconstruction
        return Reconstruction(expected, squared_errors)


def _round(values: Floats) -> Floats:
    return values.astype(np.float32).astype(np.float64)
