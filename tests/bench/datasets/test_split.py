import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imboost.datasets.dataset import Dataset
from imboost.errors import DataError, UnknownNameError
from imboost_bench.datasets.splits import OneClassSplitError, limit_outliers, split_dataset


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


def test_a_random_split_ignores_the_labels():
    seeds = range(20)
    counts = {split_dataset(numbered(180, 20), seed, "random").test_y.sum() for seed in seeds}
    assert len(counts) > 1
    split = split_dataset(numbered(180, 20), 1, "random")
    assert (len(split.train_y), len(split.test_y)) == (140, 60)
    assert sorted([*split.train_X[:, 0], *split.test_X[:, 0]]) == list(range(200))


@pytest.mark.parametrize(
    ("n_inliers", "n_outliers", "message"),
    [
        (3, 300, "no inlier among the 91 test rows, so AUC and AP are undefined"),
        (300, 3, "no outlier among the 91 test rows, so AUC and AP are undefined"),
        (40, 1, "no outlier among the 28 training rows"),
    ],
)
def test_a_random_split_without_a_class_is_refused(n_inliers, n_outliers, message):
    data = numbered(n_inliers, n_outliers)
    reasons = []
    for seed in range(30):
        try:
            split_dataset(data, seed, "random")
        except OneClassSplitError as error:
            reasons.append(str(error))
    assert any(message in reason for reason in reasons)


def test_a_split_that_does_not_exist_is_refused():
    with pytest.raises(UnknownNameError, match="Unknown split 'stratify'"):
        split_dataset(numbered(9, 9), 0, "stratify")


@given(st.integers(1, 300), st.integers(1, 100), st.floats(0.01, 1.0), st.integers(0, 99))
def test_outliers_are_the_most_that_the_share_allows(n_inliers, n_outliers, share, seed):
    data = numbered(n_inliers, n_outliers)
    try:
        kept = limit_outliers(data, share, seed)
    except DataError:
        assert 1 / (n_inliers + 1) > share
        return
    assert kept.n_rows - kept.n_outliers == n_inliers
    assert kept.n_outliers <= share * kept.n_rows + 1e-6
    if kept.n_outliers < n_outliers:
        assert kept.n_outliers + 1 > share * (kept.n_rows + 1)
    assert np.array_equal(kept.y, data.y[kept.X[:, 0].astype(int)])


def test_the_seed_chooses_the_outliers_that_are_kept():
    data = numbered(95, 50)
    first, same, other = (limit_outliers(data, 0.05, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.X, same.X)
    assert not np.array_equal(first.X, other.X)


def test_a_number_of_outliers_just_below_an_integer_by_rounding_is_that_integer():
    assert 0.2 * 172 / (1 - 0.2) < 43  # exactly 43 in the reals
    assert limit_outliers(numbered(172, 50), 0.2, 0).n_outliers == 43


def test_a_share_that_keeps_no_outlier_is_refused():
    with pytest.raises(
        DataError, match=r"numbered: an outlier share of 0\.01 keeps none of its 3"
    ):
        limit_outliers(numbered(20, 3), 0.01, 0)
