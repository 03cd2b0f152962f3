"""Detectors without a network that learn from labels."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from conftest import make_quick
from imboost.detectors import Trees
from imboost.detectors.shallow import NeighborDistances
from imboost.labels import has_both_classes

LEARNING = {"aad": {"n_trees": 100}}
"""Settings with enough trees to learn from labels."""
SHALLOW = ("trees", "xgbod", "aad", "stack")


@pytest.fixture(scope="module")
def half_space():
    """Outliers in one half-space: they are not isolated, so only labels reveal them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    return X, (X[:, 0] > 0.8).astype(np.int8)


@pytest.mark.parametrize("name", SHALLOW)
def test_labels_improve_the_scores_of_unlabelled_rows(half_space, name):
    X, y = half_space
    labels = np.where(np.arange(500) < 150, y, -1)
    detector = make_quick(name, **LEARNING.get(name, {})).fit(X)
    unseen = labels == -1
    before = roc_auc_score(y[unseen], detector.decision_scores_[unseen])
    detector.refine(X, labels)
    after = roc_auc_score(y[unseen], detector.decision_scores_[unseen])
    assert after > before + 0.05


@pytest.mark.parametrize("name", SHALLOW)
@pytest.mark.parametrize("kind", [0, 1])
def test_labels_of_one_class_alone_are_accepted(half_space, name, kind):
    X, _ = half_space
    labels = np.full(500, -1)
    labels[:5] = kind
    assert np.isfinite(make_quick(name).fit(X).refine(X, labels).decision_scores_).all()


@pytest.mark.parametrize("name", ["trees", "xgbod"])
def test_until_both_classes_are_known_the_score_is_the_unsupervised_rank(half_space, name):
    X, _ = half_space
    detector = make_quick(name).fit(X)
    before = detector.decision_scores_
    labels = np.full(500, -1)
    labels[:5] = 0
    np.testing.assert_array_equal(detector.refine(X, labels).decision_scores_, before)
    assert before.min() >= 0
    assert before.max() <= 1


def test_has_both_classes_needs_an_inlier_and_an_outlier():
    assert not has_both_classes(np.array([-1, -1, 0]))
    assert not has_both_classes(np.array([-1, 1]))
    assert has_both_classes(np.array([-1, 1, 0]))


def test_neighbour_distances_leave_the_row_itself_out():
    rows = np.random.default_rng(0).random((60, 3))
    expected, _ = NearestNeighbors(n_neighbors=4).fit(rows).kneighbors()
    np.testing.assert_allclose(NeighborDistances(rows, 4)(rows), expected, rtol=1e-6)


@pytest.mark.parametrize("n_columns", [3, 8], ids=["by a tree", "by brute force"])
def test_neighbour_distances_do_not_depend_on_the_chunks(monkeypatch, n_columns):
    rows = np.random.default_rng(0).random((60, n_columns))
    at_once = NeighborDistances(rows, 4)(rows)
    monkeypatch.setattr("imboost.detectors.shallow.MAX_CHUNK_VALUES", 100)
    np.testing.assert_array_equal(NeighborDistances(rows, 4)(rows), at_once)


def test_of_two_equal_rows_each_is_the_others_neighbour():
    rows = np.random.default_rng(0).random((30, 3))
    rows[1] = rows[0]
    assert NeighborDistances(rows, 1)(rows)[:2].tolist() == [[0.0], [0.0]]


def test_a_small_table_has_no_more_neighbours_than_rows():
    assert NeighborDistances(np.eye(3), 10)(np.eye(3)).shape == (3, 2)


def test_neighbours_are_searched_in_a_sample_of_a_large_table():
    rows = np.random.default_rng(0).random((90, 3))
    settings = {"n_neighbors": (89,), "n_trees": 5, "random_state": 0}
    part = Trees(max_reference_rows=20, **settings).fit(rows)._training_scores
    full = Trees(**settings).fit(rows)._training_scores
    assert (part[:, 1] <= full[:, 1]).all()  # the farthest of 20 rows, the farthest of 90
    assert part[:, 1].sum() < full[:, 1].sum()


def test_equal_votes_of_trees_are_ordered_by_the_unsupervised_rank(half_space):
    X, y = half_space
    detector = Trees(n_trees=5, random_state=0).fit(X).refine(X, y)
    rank = Trees(n_trees=5, random_state=0).fit(X).decision_scores_
    votes = np.round((detector.decision_scores_ - rank / 5) * 5).astype(int)
    assert set(votes) <= set(range(6))
    order = np.argsort(detector.decision_scores_)
    assert (np.diff(votes[order]) >= 0).all()  # no rank outweighs the vote of a tree
    for vote in range(6):
        own = detector.decision_scores_[votes == vote]
        assert (np.diff(own[np.argsort(rank[votes == vote])]) >= 0).all()
