"""Shares of a score that are estimated by replacing cells."""

import numpy as np
import pytest

from imboost.explain import occlusion_attributions
from imboost.tables.layout import Feature, Kind, Layout

LAYOUT = Layout(
    (
        Feature("a", Kind.NUMERIC, 0, 1),
        Feature("b", Kind.NUMERIC, 1, 2),
        Feature("c", Kind.CATEGORICAL, 2, 4),
    )
)
USUAL = np.array([[0.0, 0.0, 1.0, 0.0]])


def explain(score, table, surprise):
    expected = np.repeat(USUAL, len(table), axis=0)
    return occlusion_attributions(score, table, expected, surprise, LAYOUT, baseline=0.5)


def test_shares_and_base_sum_to_the_score():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(20, 4))
    score = lambda rows: np.square(rows).sum(axis=1)  # noqa: E731
    found = explain(score, table, rng.normal(size=(20, 3)))
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), score(table))
    assert not found.is_exact


def test_the_cell_that_makes_the_score_has_the_largest_share():
    table = np.array([[0.0, 3.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    score = lambda rows: rows[:, 1] + 2 * rows[:, 3]  # noqa: E731
    found = explain(score, table, np.zeros((2, 3)))
    assert found.contributions.argmax(axis=1).tolist() == [1, 2]


def test_where_replacing_one_cell_changes_nothing_surprise_decides():
    table = np.array([[5.0, 5.0, 1.0, 0.0]])
    score = lambda rows: (rows[:, :2].max(axis=1) > 1).astype(float)  # noqa: E731
    [shares] = explain(score, table, np.array([[4.0, 4.0, 0.0]])).contributions
    assert shares[0] == pytest.approx(shares[1])
    assert shares[0] > 2 * shares[2]


def test_a_usual_row_has_even_shares():
    found = explain(lambda rows: np.full(len(rows), 0.5), USUAL, np.zeros((1, 3)))
    np.testing.assert_allclose(found.contributions, 0.0)


def test_of_a_row_below_the_usual_score_the_oddest_cell_takes_least_away():
    table = np.array([[-0.4, -0.4, 1.0, 0.0]])  # where 0 would be usual
    low = explain(lambda rows: 0.5 + rows[:, :2].mean(axis=1), table, np.array([[-1.0, 2.0, 0.0]]))
    [[usual, odd, _]] = low.contributions
    assert usual < odd < 0
    assert low.contributions.sum() + low.baseline == pytest.approx(0.1)
