"""The conditional model of cells, given the other cells of their row."""

import numpy as np
import pytest

from imboost.detectors.stack.cell_model import REPEATED_SCORE, RULE_SCORE, CellModel
from imboost.detectors.stack.conditionals import predicted_columns
from imboost.detectors.stack.pca import CrossFittedPCA
from imboost.detectors.stack.unsupervised import UnsupervisedScores
from imboost.facts import WHOLE_ROW
from imboost.tables.layout import Feature, Kind, Layout

N = 400
LAYOUT = Layout(
    (
        Feature("size", Kind.NUMERIC, 0, 1),
        Feature("weight", Kind.NUMERIC, 1, 2),
        Feature("weight", Kind.MISSING_INDICATOR, 2, 3),
        Feature("sort", Kind.CATEGORICAL, 3, 6),
    )
)


class Fitted:
    """A cell model and the PCA that stands in for forests in tables of many columns."""

    def __init__(self, X, layout=LAYOUT):
        filled = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
        pca = CrossFittedPCA.fit(filled[:, predicted_columns(layout)], 0)
        self.model = CellModel.fit(X, layout, pca, 0)
        self.training_scores, _ = self.model.score(X, np.arange(len(X)))

    def scores(self, X):
        return self.model.score(X, np.full(len(X), -1))[0]

    def expected(self, X):
        return self.model.expected(X, np.full(len(X), -1))

    def imputed(self, X):
        return self.model.impute(X, np.full(len(X), -1))


@pytest.fixture(scope="module")
def table():
    """Return rows whose weight follows from their size, and whose sort from both."""
    rng = np.random.default_rng(0)
    size = rng.uniform(size=N)
    weight = size + 0.02 * rng.normal(size=N)
    sorts = np.eye(3)[(size > 0.5).astype(int)]
    return np.column_stack([size, weight, np.zeros(N), sorts])


@pytest.fixture(scope="module")
def fitted(table):
    return Fitted(table)


def changed(table, **cells):
    """Return a row of a small size with some cells replaced."""
    row = table[[np.argmin(np.abs(table[:, 0] - 0.2))]].copy()
    for column, value in cells.items():
        row[0, int(column[1:])] = value
    return row


def test_a_number_that_contradicts_the_others_scores_high(table, fitted):
    [[_, normal, _]] = fitted.scores(changed(table))
    [[_, wrong, _]] = fitted.scores(changed(table, c1=0.8))
    assert normal < 3 < wrong


def test_a_category_that_contradicts_the_others_scores_high_and_an_unseen_one_higher(
    table, fitted
):
    [[_, _, normal]] = fitted.scores(changed(table))
    [[_, _, wrong]] = fitted.scores(changed(table, c3=0, c4=1))
    [[_, _, unseen]] = fitted.scores(changed(table, c3=0, c5=1))
    assert normal < 1 < 2 < wrong < unseen


def test_a_few_extreme_numbers_do_not_hide_the_relation_of_the_others(table):
    extreme = table.copy()
    extreme[::150, 0] = 1e3, 1e6, 1e9
    fitted = Fitted(extreme)
    [[normal, _, _]] = fitted.scores(changed(table))
    [[wrong, _, _]] = fitted.scores(changed(table, c1=0.8))
    assert normal < 1 < 2 < wrong


def test_a_missing_cell_scores_by_how_rare_missing_cells_are(table, fitted):
    missing = {"c1": np.nan, "c2": 1.0}
    assert fitted.scores(changed(table, **missing))[0, 1] == pytest.approx(np.log(2 * (N + 1)))
    often = table.copy()
    often[::5, 1:3] = np.nan, 1.0
    found = Fitted(often).scores(changed(table, **missing))[0, 1]
    assert found == pytest.approx(np.log((N + 1) / (N / 5 + 0.5)))


def test_the_score_of_an_extreme_number_has_no_upper_limit(table, fitted):
    near, far, farther = (
        fitted.scores(changed(table, c1=value))[0, 1] for value in (2.0, 20.0, 2000.0)
    )
    assert np.log(N) < near < far - 5 < farther - 10


def test_scores_of_typical_cells_are_comparable_between_columns(fitted):
    typical = np.median(fitted.training_scores, axis=0)
    assert (typical < 1.0).all()
    shares = (fitted.training_scores > -np.log(0.1)).mean(axis=0)
    assert (shares <= 0.11).all()


def test_a_category_scores_at_most_its_negative_log_probability():
    rng = np.random.default_rng(1)
    sorts = np.eye(2)[rng.integers(2, size=N)]  # each category is as likely as the other
    X = np.column_stack([rng.uniform(size=N), sorts])
    layout = Layout((Feature("size", Kind.NUMERIC, 0, 1), Feature("sort", Kind.CATEGORICAL, 1, 3)))
    assert Fitted(X, layout).training_scores[:, 1].max() < 2.5  # not log(400)


def test_a_number_that_occurs_repeatedly_scores_at_most_by_its_frequency(table):
    repeated = table.copy()
    repeated[:8, 1] = 30.0
    once = table.copy()
    once[0, 1] = 30.0
    limited, free = Fitted(repeated), Fitted(once)
    assert limited.training_scores[0, 1] == pytest.approx(np.log(N / 8))
    assert limited.scores(changed(table, c1=30.0 + 1e-9))[0, 1] == pytest.approx(np.log(N / 8))
    assert free.training_scores[0, 1] > np.log(N)


def test_a_broken_rule_scores_above_its_rarity(table):
    layout = Layout((*LAYOUT.features, Feature("size", Kind.RULE, 6, 7)))
    flags = np.zeros((N, 1))
    flags[3] = 1.0
    fitted = Fitted(np.hstack([table, flags]), layout)
    assert fitted.training_scores[3, 0] == pytest.approx(RULE_SCORE + np.log((N + 1) / 1.5))
    assert fitted.training_scores[4, 0] < fitted.training_scores[3, 0]


def test_a_repeated_row_scores_less_than_a_broken_rule(table):
    layout = Layout((*LAYOUT.features, Feature(WHOLE_ROW, Kind.RULE, 6, 7)))
    flags = np.zeros((N, 1))
    flags[3] = 1.0
    scores = Fitted(np.hstack([table, flags]), layout).training_scores[:, 3]
    assert scores[3] == pytest.approx(REPEATED_SCORE + np.log((N + 1) / 1.5))
    assert np.delete(scores, 3).max() == 0


def test_expected_values_follow_from_the_other_cells(table, fitted):
    row = changed(table, c1=0.8)
    assert fitted.expected(row)[0, 1] == pytest.approx(row[0, 0], abs=0.1)
    assert fitted.expected(changed(table, c3=0, c4=1))[0, 3:].tolist() == [1, 0, 0]
    missing = changed(table, c1=np.nan, c2=1.0)
    assert fitted.expected(missing)[0, 1] == pytest.approx(missing[0, 0], abs=0.1)
    assert fitted.expected(missing)[0, 2] == 0


def test_missing_numbers_are_replaced_by_their_predictions_and_other_cells_stay(table, fitted):
    rows = np.vstack([changed(table, c1=np.nan, c2=1.0), changed(table)])
    expected = rows.copy()
    expected[0, 1] = fitted.expected(rows)[0, 1]
    np.testing.assert_array_equal(fitted.imputed(rows), expected)
    _, also_imputed = fitted.model.score(rows, np.array([-1, -1]))
    np.testing.assert_allclose(also_imputed, expected, rtol=1e-6)


@pytest.fixture(scope="module")
def wide():
    """Return rows of many columns that follow from three numbers."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 3)) @ rng.normal(size=(3, 90)) + 0.1 * rng.normal(size=(N, 90))


@pytest.fixture(scope="module")
def fitted_wide(wide):
    return Fitted(wide, Layout.of_numbers([str(number) for number in range(90)]))


def test_among_many_columns_a_number_that_contradicts_the_others_scores_high(wide, fitted_wide):
    row = wide[[0]].copy()
    row[0, 7] += 4.0
    scores = fitted_wide.scores(row)[0]
    assert scores.argmax() == 7
    assert scores[7] > fitted_wide.scores(wide[[0]]).max() + 1


def test_among_many_columns_missing_numbers_are_expected_from_the_others(wide, fitted_wide):
    row = wide[[0]].copy()
    row[0, 7] = np.nan
    assert abs(fitted_wide.expected(row)[0, 7] - wide[0, 7]) < 0.3 * wide[:, 7].std()


def test_training_rows_are_scored_by_trees_that_did_not_see_them(table):
    noise = table.copy()
    noise[:, 1] = np.random.default_rng(1).uniform(size=N)  # nothing to learn but by heart
    scores = Fitted(noise).training_scores[:, 1]
    error = np.abs(noise[:, 1] - noise[:, 1].mean())
    # A model that had memorized the rows would give all of them low scores.
    assert np.corrcoef(scores, error)[0, 1] > 0.5


def test_scores_do_not_depend_on_the_other_rows_of_a_call(table, fitted):
    together = fitted.scores(table[:40])
    one_by_one = np.vstack([fitted.scores(row[None]) for row in table[:40]])
    np.testing.assert_array_equal(together, one_by_one)


def test_few_rows_of_a_single_column_have_scores():
    for n in (2, 3, 8):
        X = np.linspace(0, 1, n)[:, None]
        assert np.isfinite(Fitted(X, Layout.of_numbers(["a"])).scores(X)).all()


def test_the_score_of_a_row_is_that_of_its_worst_cell(table):
    settings = {"n_isolation_trees": 5, "n_neighbors": (5,), "max_reference_rows": 100, "seed": 0}
    table = table.astype(np.float32)
    rows = UnsupervisedScores.fit(table, LAYOUT, **settings).score(table)
    np.testing.assert_array_equal(rows.scores["cells"], rows.cells.max(axis=1))


def test_a_new_category_of_a_wide_table_scores_high(wide):
    sorts = np.eye(3)[(wide[:, 0] > 0).astype(int)]
    layout = Layout(
        (
            *Layout.of_numbers([f"x{number}" for number in range(90)]).features,
            Feature("sort", Kind.CATEGORICAL, 90, 93),
        )
    )
    X = np.hstack([wide, sorts])
    X[0, 90:] = 0, 0, 1
    scores = Fitted(X, layout).training_scores[:, 90]
    assert scores[0] > 5
    assert scores[0] == scores.max()
