"""Attribution of a likelihood score to the columns."""

import numpy as np
import pytest

from conftest import make_quick
from imboost import TableDetector
from imboost.datasets.orders import mixed_table
from imboost.errors import SettingError
from imboost.facts import Position


@pytest.fixture(scope="module")
def made():
    return mixed_table(1000, contamination=0.05, seed=0)


@pytest.fixture(scope="module")
def fitted(made):
    return TableDetector("imboost", contamination=0.05, random_state=0).fit(made.table)


def is_named(explanation, cells):
    return bool({reason.column for reason in explanation.reasons[:2]} & set(cells))


def test_wrong_cells_are_mostly_among_the_first_two_reasons(made, fitted):
    wrong = np.flatnonzero(made.y)
    explanations = fitted.explain(made.table.take(wrong))
    named = np.array(
        [is_named(one, made.cells[row]) for one, row in zip(explanations, wrong, strict=True)]
    )
    assert named.mean() > 0.7
    assert named[fitted.labels_[wrong] == 1].mean() > 0.9


@pytest.mark.parametrize("name", ["imboost", "altbi", "odim"])
def test_baseline_residual_and_contributions_sum_to_the_score(made, name):
    detector = TableDetector(make_quick(name, n_members=2)).fit(made.table)
    answers = np.where(np.arange(1000) < 50, made.y, -1)
    for stage in (detector, detector.refine(made.table, answers)):
        rows = made.table.slice(0, 20)
        found = stage.detector_.attribute(stage.encode(rows))
        total = found.baseline + found.residual + found.contributions.sum(axis=1)
        np.testing.assert_allclose(total, stage.decision_function(rows), rtol=1e-12)
        assert found.is_exact


def test_a_reference_row_has_small_contributions_and_a_small_residual(made, fitted):
    reference = np.flatnonzero(fitted.labels_ == 0)
    explanations = fitted.explain(made.table.take(reference))
    assert np.median([one.residual for one in explanations]) == pytest.approx(0.0, abs=1e-6)
    exceeds = [
        reason.contribution > reason.tolerance for one in explanations for reason in one.reasons
    ]
    assert np.mean(exceeds) < 0.1


def test_contributions_do_not_depend_on_the_other_rows_explained(made, fitted):
    matrix = fitted.encode(made.table)
    together = fitted.detector_.attribute(matrix[:30])
    alone = fitted.detector_.attribute(matrix[7:8])
    np.testing.assert_allclose(alone.contributions[0], together.contributions[7], rtol=1e-9)
    np.testing.assert_allclose(alone.expected[0], together.expected[7], rtol=1e-9)


def test_a_new_category_a_missing_and_an_extreme_value_are_reasons(made, fitted):
    frame = made.table.slice(0, 1).to_pandas()
    frame.loc[0, ["region", "amount", "weight"]] = ["never seen", 1e12, None]
    [explanation] = fitted.explain(frame)
    reasons = {reason.column: reason for reason in explanation.reasons}
    assert explanation.reasons[0].column == "amount"
    assert reasons["region"].contribution > reasons["region"].tolerance
    assert (reasons["region"].position, reasons["region"].share) == (Position.AMONG, 0)
    assert reasons["region"].expected.startswith("R")
    assert (reasons["amount"].position, reasons["amount"].share) == (Position.ABOVE, 1)
    assert reasons["amount"].value == 1e12
    assert 0 < reasons["amount"].expected < 1000
    assert reasons["weight"].value is reasons["weight"].text is None
    assert reasons["weight"].position is Position.MISSING
    assert reasons["weight"].reference_share == pytest.approx(0.1, abs=0.05)


def test_a_plain_matrix_is_explained_column_by_column(planted):
    rows = planted.X.copy()
    rows[0, 2] = 50.0
    detector = make_quick("imboost").fit(rows)
    found = detector.attribute(rows)
    assert found.contributions.shape == found.expected.shape == rows.shape
    assert found.contributions[0].argmax() == 2
    assert abs(found.expected[0, 2]) < 25.0


@pytest.mark.parametrize("backbone", ["flow", "diffusion"])
def test_other_backbones_cannot_explain_and_say_what_can(planted, backbone):
    detector = make_quick("imboost", backbone=backbone).fit(planted.X)
    with pytest.raises(SettingError, match=rf"'{backbone}' cannot explain .*; use .*'vae'"):
        detector.attribute(planted.X)
