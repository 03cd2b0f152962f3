"""Principal components of rows, and what the strongest of them leave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

from imboost.detectors.shallow.base import Floats
from imboost.state import Stateful
from imboost.stats.folds import RowFolds

NO_LENGTH = 1e-6
"""Shorter differences, in standard deviations, are those of rounding."""

EXPLAINED = 0.95
"""What the strongest components leave of a row is a view: as many as explain less than this
share of the variance."""


N_FOLDS = 5
PLENTY = 50
"""With so many rows for each explaining component none of them fits a single row."""


class Rotation(Stateful):
    """Principal components of places, and how much of a row the strongest leave unexplained.

    Values are rounded: the last digits of a matrix product depend on how rows are batched.

    Parameters
    ----------
    places : array of shape (n_rows, n_columns)
        The training rows, every column in its standard deviations.
    n_components : int
        Components to return.
    n_explaining : int, optional
        How many components count as the strongest; as many as explain most if not given.
    """

    def __init__(self, places: Floats, n_components: int, n_explaining: int | None = None) -> None:
        self._middle = places.mean(axis=0)
        variances, self._axes = _principal_axes(places - self._middle)
        self._n_components = n_components
        if n_explaining is None:
            explained = np.cumsum(variances) / (variances.sum() or 1.0)
            n_explaining = int(np.searchsorted(explained, EXPLAINED))
        self.n_explaining = max(1, min(n_explaining, len(self._axes) - 1))

    def components(self, places: Floats) -> NDArray[np.float64]:
        """Return the first components of every row."""
        return _rounded(self._rotate(places, self._n_components))

    def rest(self, places: Floats) -> NDArray[np.float64]:
        """Return the squared length of what the explaining components leave of every row."""
        length = np.square(places - self.drawn(places)).sum(axis=1)
        return _rounded(np.where(length > NO_LENGTH**2, length, 0.0))

    def drawn(self, places: Floats) -> NDArray[np.float64]:
        """Return every row as the explaining components draw it."""
        found = self._rotate(places, self.n_explaining)
        return _rounded(self._middle + found @ self._axes[: self.n_explaining])

    def _rotate(self, places: Floats, number: int) -> NDArray[np.float64]:
        return np.asarray((places - self._middle) @ self._axes[:number].T)


class Rest(Stateful):
    """How much of a row the strongest components of other rows leave unexplained.

    Where there are few rows for so many components, they explain the rows they were found with
    better than any other: rows are then judged by components of the other folds.

    Parameters
    ----------
    rotation : Rotation
        That of all rows.
    places : array of shape (n_rows, n_columns)
        The rows it was found with.
    seed : int
    """

    def __init__(self, rotation: Rotation, places: Floats, seed: int) -> None:
        n_folds = 1 if len(places) >= PLENTY * rotation.n_explaining else N_FOLDS
        self._folds = RowFolds(places.shape[1], n_folds, seed)
        of_rows = self._folds(places)
        self._rotations = [rotation] * n_folds
        for fold in range(n_folds):
            others = places[of_rows != fold]
            if n_folds > 1 and len(others) > 1:
                self._rotations[fold] = Rotation(others, 1, rotation.n_explaining)

    def __call__(self, places: Floats) -> NDArray[np.float64]:
        """Return the squared length of what is left of every row."""
        length = np.zeros(len(places))
        of_rows = self._folds(places)
        for fold, rotation in enumerate(self._rotations):
            rows = of_rows == fold
            length[rows] = rotation.rest(places[rows])
        return length


def _principal_axes(places: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the variances along the principal axes, largest first, and the axes as rows.

    By eigenvectors of the smaller matrix of products, which are found for every table; a
    singular value decomposition now and then is not.
    """
    is_wide = places.shape[1] > places.shape[0]
    products = places @ places.T if is_wide else places.T @ places
    with threadpool_limits(limits=1):  # threads that fight for cores cost far more
        squares, vectors = eigh(products)
    axes = vectors.T @ places if is_wide else vectors.T
    largest_first = np.argsort(squares)[::-1]
    # Along axes that are shorter rows differ by nothing but rounding.
    is_long = squares[largest_first] > NO_LENGTH**2 * squares[largest_first[0]]
    kept = largest_first[is_long] if is_long.any() else largest_first[:1]
    axes = axes[kept]
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    turn = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    return squares[kept].clip(0), axes / np.where(lengths > 0, lengths, 1.0) * turn[:, None]


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values.astype(np.float32).astype(np.float64)
