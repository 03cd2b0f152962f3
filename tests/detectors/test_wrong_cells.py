"""Wrong cells of real tables: ranking, calls and labels of the highest scores."""

import numpy as np
import pyarrow as pa
import pytest

from imboost import TableDetector
from imboost.datasets.orders import mixed_table
from imboost.decide.threshold import ASSUMED_CONTAMINATION
from imboost.detectors.stack.base_learners import (
    PRIOR_SLOPE,
    prior_intercept,
)
from imboost.facts import FactKind


@pytest.fixture(scope="module")
def orders():
    return mixed_table(1500, contamination=0.02, seed=3)


@pytest.fixture(scope="module")
def fitted(orders):
    return TableDetector(random_state=0).fit(orders.table)


def refined(fitted, table, labels):
    return fitted.copy().refine(table, labels)


def label(y, rows):
    labels = np.full(len(y), -1)
    labels[rows] = y[rows]
    return labels


def test_few_rows_are_called_without_labels_and_most_of_them_rightly(orders, fitted):
    called = fitted.labels_ == 1
    assert 5 <= called.sum() <= orders.y.sum()
    assert orders.y[called].mean() > 0.9
    assert fitted.decision_.is_estimated


def test_rows_are_called_if_their_probability_is_at_least_one_half(fitted):
    proba = fitted.decision_.probability(fitted.decision_scores_)
    np.testing.assert_array_equal(fitted.labels_ == 1, proba >= 0.5)
    assert proba.mean() == pytest.approx(ASSUMED_CONTAMINATION, rel=0.5)


def test_a_table_without_errors_has_hardly_any_called_row():
    made = mixed_table(1000, contamination=0.01, seed=5)
    clean = made.table.filter(pa.array(made.y == 0))
    assert TableDetector(random_state=0).fit(clean).labels_.mean() <= 0.005


@pytest.mark.parametrize("n", [15, 40])
def test_labels_of_the_highest_scores_do_not_make_everything_an_outlier(orders, fitted, n):
    top = np.argsort(-fitted.decision_scores_)[:n]
    found = refined(fitted, orders.table, label(orders.y, top))
    called = found.labels_ == 1
    assert called.sum() <= 2 * orders.y.sum()
    assert orders.y[called].mean() > 0.5


def test_labels_of_inliers_alone_leave_the_ranking(orders, fitted):
    def n_found(scores):
        return orders.y[np.argsort(-scores)[: orders.y.sum()]].sum()

    inliers = np.flatnonzero(orders.y == 0)[:75]
    found = refined(fitted, orders.table, label(orders.y, inliers))
    assert n_found(found.decision_scores_) >= n_found(fitted.decision_scores_) - 3


def test_outlier_labels_alone_train_the_learners_against_unlabelled_rows(orders, fitted):
    outliers = np.flatnonzero(orders.y == 1)[:10]
    found = refined(fitted, orders.table, label(orders.y, outliers)).detector_
    assert found.learner_weights_
    proba = found._ensemble.score_model.predict(found._extractor.scores(found._training_rows))
    background = found._background_rows(found.decision_.labels, proba)
    assert len(background) == 200
    assert not set(background) & set(outliers)
    assert proba[background].max() < np.quantile(proba, 0.95)


def test_broken_sums_of_a_numeric_table_come_first():
    rng = np.random.default_rng(0)
    net, tax = rng.integers(100, 90_000, 900) / 100, rng.integers(10, 9_000, 900) / 100
    total = net + tax
    total[[5, 50, 500]] += [11.0, -7.0, 30.0]
    table = pa.table({"net": net, "tax": tax, "total": total})
    detector = TableDetector(random_state=0).fit(table)
    assert set(np.argsort(-detector.decision_scores_)[:3].tolist()) == {5, 50, 500}
    reasons = detector.explain(table.slice(50, 1))[0].main_reasons
    assert any(reason.kind is FactKind.RULE for reason in reasons)


def test_the_prior_intercept_gives_the_expected_error_rate():
    scores = np.random.default_rng(0).exponential(size=(500, 2))
    weights = np.array([0.7, 0.3])
    log_odds = prior_intercept(scores, weights) + PRIOR_SLOPE * scores @ weights
    assert (1 / (1 + np.exp(-log_odds))).mean() == pytest.approx(ASSUMED_CONTAMINATION)


def test_a_table_detector_asks_about_the_highest_scores():
    assert TableDetector().default_query == "hc"
    assert TableDetector("trees").default_query == "mix"
