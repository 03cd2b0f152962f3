"""Training rows that are scored again."""

import numpy as np
import pytest

from imboost.detectors.stack.training_rows import GRID, NEW, TrainingRows


@pytest.fixture
def rows():
    return np.random.default_rng(0).uniform(size=(2_000, 30))


def find(known, X):
    return TrainingRows.fit(known).find(X)


@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-9])
def test_training_rows_are_found_up_to_rounding_errors(rows, noise):
    found = find(rows, rows * (1 + noise))
    assert (found == np.arange(len(rows))).mean() > 0.999
    assert set(found[found != np.arange(len(rows))]) <= {NEW}


@pytest.mark.parametrize("noise", [-1e-9, 1e-9])
@pytest.mark.parametrize("position", [0.0, 0.5])
def test_rounding_errors_at_the_bounds_of_one_grid_part_no_row(position, noise):
    numbers = (np.arange(1, 901).reshape(300, 3) + position) * GRID
    assert find(numbers, numbers * (1 + noise)).tolist() == list(range(300))


def test_rows_that_differ_in_one_cell_are_new(rows):
    changed = rows.copy()
    changed[np.arange(2_000), np.arange(2_000) % 30] += 1e-4
    assert (find(rows, changed) == NEW).all()


def test_of_equal_rows_the_first_is_found(rows):
    twice = np.vstack([rows[:5], rows[:5]])
    assert find(twice, rows[:5]).tolist() == [0, 1, 2, 3, 4]


def test_missing_cells_equal_each_other_alone():
    X = np.array([[0.5, np.nan], [np.nan, 0.5], [0.5, 0.0]])
    assert find(X, X).tolist() == [0, 1, 2]
    assert find(X[:1], X).tolist() == [0, NEW, NEW]


def test_no_rows_are_nothing_new(rows):
    assert find(rows, rows[:0]).tolist() == []
