"""Ranks among the training rows."""

import numpy as np

from imboost.stats.ranks import RankTransform


def test_ranks_are_fractions_of_the_training_rows_below_and_ties_count_half():
    ranks = RankTransform.fit(np.array([[1.0, 10.0], [2.0, 10.0], [2.0, 30.0], [4.0, 20.0]]))
    found = ranks.transform(np.array([[2.0, 10.0], [9.0, 0.0]]))
    assert found.tolist() == [[0.5, 0.25], [0.875, 0.25]]


def test_a_small_change_of_a_tied_value_hardly_changes_its_rank():
    ranks = RankTransform.fit(np.array([[0.0]] * 98 + [[1.0], [2.0]]))
    tied, moved = ranks.transform(np.array([[0.0], [1e-9]])).ravel()
    assert abs(moved - tied) < 1e-8


def test_ranks_of_many_values_are_interpolated_between_some_of_them(monkeypatch):
    monkeypatch.setattr("imboost.stats.ranks.MAX_KNOTS", 11)
    X = np.linspace(0, 1, 1001)[:, None]
    ranks = RankTransform.fit(X)
    assert len(ranks.values) == 11
    np.testing.assert_allclose(ranks.transform(X), X, atol=1e-3)
