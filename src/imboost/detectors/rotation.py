"""Principal components of rows, and what the strongest of them leave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from imboost.detectors.classic import Floats

NO_LENGTH = 1e-7
"""Shorter differences, in standard deviations, are those of rounding."""

EXPLAINED = 0.9
"""What the strongest components leave of a row is a view: as many as explain less than this
share of the variance."""


class Rotation:
    """Principal components of places, and how much of a row the strongest leave unexplained.

    Values are rounded: the last digits of a matrix product depend on how rows are batched.
    """

    def __init__(self, places: Floats, n_components: int, seed: int) -> None:
        with np.errstate(invalid="ignore"):  # shares of the variance, where there is none
            rotation = PCA(min(places.shape), random_state=seed).fit(places)
        lengths = np.sqrt(rotation.explained_variance_)
        # Along the others rows differ by nothing but rounding.
        n_axes = max(1, int((lengths > NO_LENGTH * lengths.max()).sum()))
        self._axes, self._middle = rotation.components_[:n_axes], rotation.mean_
        self._n_components = n_components
        explained = np.cumsum(np.nan_to_num(rotation.explained_variance_ratio_[:n_axes]))
        n_explaining = int(np.searchsorted(explained, EXPLAINED))
        self._n_explaining = max(1, min(n_explaining, n_axes - 1))

    def components(self, places: Floats) -> NDArray[np.float64]:
        """Return the first components of every row."""
        return _rounded(self._rotate(places, self._n_components))

    def rest(self, places: Floats) -> NDArray[np.float64]:
        """Return the squared length of what the explaining components leave of every row."""
        found = self._rotate(places, self._n_explaining)
        left = places - self._middle - found @ self._axes[: self._n_explaining]
        length = np.square(left).sum(axis=1)
        return _rounded(np.where(length > NO_LENGTH**2, length, 0.0))

    def _rotate(self, places: Floats, number: int) -> NDArray[np.float64]:
        return np.asarray((places - self._middle) @ self._axes[:number].T)


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values.astype(np.float32).astype(np.float64)
