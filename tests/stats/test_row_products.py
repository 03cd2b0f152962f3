"""Matrix products that do not depend on the other rows of a call."""

import numpy as np
import pytest

from imboost.stats.row_products import multiply_rows, squared_distances


def drawn(n_rows, n_columns, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)).astype(np.float32)


@pytest.mark.parametrize("n_columns", [1, 3, 10, 30, 100, 768])
@pytest.mark.parametrize("n_outputs", [5, 40, 200, 1000])
def test_a_product_does_not_depend_on_the_place_of_its_row(n_columns, n_outputs):
    X, matrix = drawn(50, n_columns, 0), drawn(n_columns, n_outputs, 1)
    together = multiply_rows(X, matrix)
    np.testing.assert_array_equal(together, [multiply_rows(row[None], matrix)[0] for row in X])
    np.testing.assert_array_equal(together[::-1], multiply_rows(X[::-1], matrix))
    np.testing.assert_allclose(together, X.astype(float) @ matrix.astype(float), atol=1e-3)


def test_distances_do_not_depend_on_the_place_of_their_row():
    X, Y = drawn(50, 10, 0), drawn(200, 10, 1)
    together = squared_distances(X, Y)
    np.testing.assert_array_equal(together, [squared_distances(row[None], Y)[0] for row in X])
