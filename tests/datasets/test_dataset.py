import numpy as np
import pytest

from imboost.datasets import load_demo, planted_outliers
from imboost.datasets.dataset import IMAGE_SHAPE, OUTLIER_DIGIT


def test_planted_sets_have_the_size_and_share_asked_for():
    data = planted_outliers(200, 7, 0.1)
    assert (data.n_rows, data.n_features, data.n_outliers) == (200, 7, 20)


def test_a_planted_set_has_an_outlier_however_small_its_share():
    assert planted_outliers(50, 3, 0.001).n_outliers == 1


@pytest.mark.parametrize("make", [lambda seed: planted_outliers(seed=seed), load_demo])
def test_the_seed_decides_a_synthetic_set(make):
    first, again, other = make(1), make(1), make(2)
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)


def test_a_planted_outlier_lies_within_the_range_of_every_column():
    data = planted_outliers(300, 5, seed=3)
    inliers, outliers = data.X[data.y == 0], data.X[data.y == 1]
    slack = 0.1 * np.ptp(inliers, axis=0)
    assert (outliers >= inliers.min(axis=0) - slack).all()
    assert (outliers <= inliers.max(axis=0) + slack).all()


def test_planted_outliers_lie_off_the_sheet_of_the_inliers():
    data = planted_outliers(600, 5, seed=3)
    inliers, outliers = data.X[data.y == 0], data.X[data.y == 1]

    def nearest(rows):
        distances = np.linalg.norm(rows[:, None] - inliers[None], axis=2)
        return np.median(np.sort(distances, axis=1)[:, 1])

    assert nearest(outliers) > 2 * nearest(inliers)


def test_the_demo_set_is_digits_with_a_few_fours():
    data = load_demo()
    assert (data.n_rows, data.n_features, data.n_outliers) == (1696, 64, 80)
    assert data.X[0].reshape(IMAGE_SHAPE).shape == (8, 8)


def test_the_outliers_of_the_demo_set_are_real_fours():
    from sklearn.datasets import load_digits

    digits = load_digits()
    fours = {row.tobytes() for row in digits.data[digits.target == OUTLIER_DIGIT]}
    data = load_demo()
    assert all(
        (row.tobytes() in fours) == label for row, label in zip(data.X, data.y, strict=True)
    )
