import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imboost.datasets import Dataset, split_dataset
from imboost.errors import DataError


def numbered(n_inliers, n_outliers):
    """Return a data set whose only column is the row's number."""
    y = np.repeat([0, 1], [n_inliers, n_outliers]).astype(np.int8)
    return Dataset("numbered", "numbered", np.arange(float(len(y)))[:, None], y)


def test_seven_parts_train_and_three_test_with_outliers_in_both_alike():
    split = split_dataset(numbered(180, 20), seed=1)
    assert (len(split.train_y), len(split.test_y)) == (140, 60)
    assert (split.train_y.sum(), split.test_y.sum()) == (14, 6)


def test_every_row_goes_to_one_side_with_its_own_label():
    data = numbered(90, 10)
    split = split_dataset(data, seed=1)
    rows = np.concatenate([split.train_X, split.test_X])[:, 0].astype(int)
    labels = np.concatenate([split.train_y, split.test_y])
    assert sorted(rows) == list(range(100))
    assert np.array_equal(labels, data.y[rows])


def test_the_same_seed_gives_the_same_split():
    first, second = (split_dataset(numbered(90, 10), seed=300) for _ in range(2))
    assert np.array_equal(first.train_X, second.train_X)
    assert np.array_equal(first.test_X, second.test_X)


def test_another_seed_gives_another_split():
    first, second = (split_dataset(numbered(90, 10), seed=seed) for seed in (100, 200))
    assert set(first.test_X[:, 0]) != set(second.test_X[:, 0])


@given(st.integers(2, 300), st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_both_classes_are_on_both_sides_however_rare_one_is(n_inliers, n_outliers, seed):
    split = split_dataset(numbered(n_inliers, n_outliers), seed)
    assert set(split.train_y) == set(split.test_y) == {0, 1}


@pytest.mark.parametrize(("n_inliers", "n_outliers"), [(50, 1), (1, 50)])
def test_a_set_with_one_row_of_a_class_is_refused(n_inliers, n_outliers):
    with pytest.raises(DataError, match=r"numbered: .* two inliers and two outliers.* has 1\."):
        split_dataset(numbered(n_inliers, n_outliers), seed=0)
