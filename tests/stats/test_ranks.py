"""Ranks among the training rows."""

import numpy as np
import pytest

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


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize(
    "column",
    [[3.0], [0.0, 1.0], [-2.0, 5.0], [0.0, 1e-42], [-1e38, 1e38], [0.0, 1.0, 7.0]],
    ids=["one value", "two values", "not 0 and 1", "too narrow", "wide", "three values"],
)
def test_ranks_are_interpolated_and_constant_outside_the_training_values(precision, column):
    training = np.repeat(np.array(column, dtype=precision), 4)[:, None].astype(np.float64)
    ranks = RankTransform.fit(training)
    spread = max(np.ptp(column), 1.0)
    X = np.linspace(min(column) - 0.5 * spread, max(column) + 0.5 * spread, 23)
    X = np.concatenate([X, column]).astype(precision)[:, None]
    expected = np.interp(X[:, 0], ranks.values, ranks.ranks)
    np.testing.assert_allclose(ranks.transform(X)[:, 0], expected, atol=1e-6)
