"""Attribution by occlusion."""

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
TYPICAL = np.array([[0.0, 0.0, 1.0, 0.0]])


def explain(score, table, deviations):
    expected = np.repeat(TYPICAL, len(table), axis=0)
    return occlusion_attributions(score, table, expected, deviations, LAYOUT, baseline=0.5)


def test_contributions_and_baseline_sum_to_the_score():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(20, 4))
    score = lambda rows: np.square(rows).sum(axis=1)  # noqa: E731
    found = explain(score, table, rng.normal(size=(20, 3)))
    np.testing.assert_allclose(found.baseline + found.contributions.sum(axis=1), score(table))
    assert not found.is_exact


def test_the_cell_that_causes_the_score_has_the_largest_contribution():
    table = np.array([[0.0, 3.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    score = lambda rows: rows[:, 1] + 2 * rows[:, 3]  # noqa: E731
    found = explain(score, table, np.zeros((2, 3)))
    assert found.contributions.argmax(axis=1).tolist() == [1, 2]


def test_deviations_decide_if_occluding_one_cell_changes_nothing():
    table = np.array([[5.0, 5.0, 1.0, 0.0]])
    score = lambda rows: (rows[:, :2].max(axis=1) > 1).astype(float)  # noqa: E731
    [contributions] = explain(score, table, np.array([[4.0, 4.0, 0.0]])).contributions
    assert contributions[0] == pytest.approx(contributions[1])
    assert contributions[0] > 2 * contributions[2]


def test_the_contributions_of_a_typical_row_are_zero():
    found = explain(lambda rows: np.full(len(rows), 0.5), TYPICAL, np.zeros((1, 3)))
    np.testing.assert_allclose(found.contributions, 0.0)


def test_below_the_baseline_the_most_deviating_cell_lowers_the_score_least():
    table = np.array([[-0.4, -0.4, 1.0, 0.0]])  # where 0 is expected
    low = explain(lambda rows: 0.5 + rows[:, :2].mean(axis=1), table, np.array([[-1.0, 2.0, 0.0]]))
    [[typical, deviating, _]] = low.contributions
    assert typical < deviating < 0
    assert low.contributions.sum() + low.baseline == pytest.approx(0.1)


def test_contributions_by_deviation_are_proportional_to_its_square():
    table = np.array([[5.0, 5.0, 1.0, 0.0]])
    score = lambda rows: np.full(len(rows), 1.5)  # noqa: E731  # occlusion changes nothing
    [contributions] = explain(score, table, np.array([[1.0, 3.0, 0.0]])).contributions
    np.testing.assert_allclose(contributions, 0.5 / 3 + 0.5 * np.array([0.1, 0.9, 0.0]))
