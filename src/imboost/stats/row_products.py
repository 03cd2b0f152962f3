"""Matrix products in single precision that are the same for any number of rows in a call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]

BLOCK_ROWS = 8
"""Rows of every matrix product. The last digits of a product depend on its shape, so that the
last block is filled up with zeros. In larger blocks they also depend on the place of a row: the
kernels of OpenBLAS for Haswell and Zen treat every twelve rows in two ways."""


def multiply_rows(X: Singles, matrix: Singles) -> Singles:
    """Return ``X @ matrix``, of shape (n_rows, n_outputs)."""
    n_blocks = -(-len(X) // BLOCK_ROWS)
    blocks = X
    if len(X) % BLOCK_ROWS:
        blocks = np.zeros((n_blocks * BLOCK_ROWS, X.shape[1]), dtype=np.float32)
        blocks[: len(X)] = X
    products = np.matmul(blocks.reshape(n_blocks, BLOCK_ROWS, X.shape[1]), matrix)
    flat: Singles = products.reshape(n_blocks * BLOCK_ROWS, matrix.shape[1])
    return flat[: len(X)]


def squared_distances(X: Singles, Y: Singles) -> Singles:
    """Return the squared Euclidean distances between rows, of shape (n_X, n_Y).

    Rounding errors are proportional to the squared norms of the rows: subtract a point near to
    them from both matrices first.

    >>> squared_distances(np.float32([[0, 0], [3, 4]]), np.float32([[0, 0], [3, 0]])).tolist()
    [[0.0, 9.0], [25.0, 16.0]]
    """
    squared = multiply_rows(-2 * X, Y.T)
    squared += np.square(X).sum(axis=1)[:, None]
    squared += np.square(Y.T).sum(axis=0)
    return squared
