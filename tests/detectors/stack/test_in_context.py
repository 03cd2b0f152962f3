"""The in-context network as a base learner of stack, and as the detector `pretrained`."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from conftest import make_quick
from imboost import TableDetector, load, save
from imboost.datasets import planted_outliers
from imboost.datasets.orders import mixed_table
from imboost.detectors.stack import detector as stack_detector
from imboost.detectors.stack.features import FeatureExtractor
from imboost.detectors.stack.in_context import (
    CONTEXT_ROWS,
    MAX_LABELLED,
    InContextLearner,
)
from imboost.detectors.stack.pooling import LogarithmicPool
from imboost.detectors.stack.priors import network_weight
from imboost.models.in_context import SCORES
from imboost.models.pretrained import load_pretrained
from imboost.stats.log_odds import logit

LEARNERS = ("random_forest", "linear", "in_context")
N_SCORES = len(SCORES)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def features(rng, n_rows, n_columns=5):
    """Return columns and four scores that are large for rows far from the mean."""
    columns = rng.normal(size=(n_rows, n_columns))
    scores = np.square(columns).sum(axis=1)[:, None] + rng.normal(size=(n_rows, N_SCORES))
    return np.hstack([columns, scores]).astype(np.float32)


def some_labels(data, n=60):
    """Return the labels of every third row of the first rows, and of half of the outliers."""
    labels = np.full(len(data.y), -1)
    labels[: 3 * n : 3] = data.y[: 3 * n : 3]
    outliers = np.flatnonzero(data.y == 1)
    labels[outliers[::2]] = 1
    return labels


@pytest.fixture(scope="module")
def joined(planted):
    return make_quick("stack", base_learners=LEARNERS).fit(planted.X, some_labels(planted))


def test_it_learns_from_a_few_labels_in_context(rng):
    X = features(rng, 400)
    is_outlier = X[:, 0] > 1.2
    labels = is_outlier[:60].astype(np.int8)
    learner = InContextLearner.fit(X[:60], labels, X[60:200], 0)
    assert roc_auc_score(is_outlier[200:], learner.predict(X[200:])) > 0.95
    assert roc_auc_score(labels, learner.out_of_fold) > 0.9


def test_out_of_fold_predictions_do_not_know_the_label(rng):
    X, noise = features(rng, 80), rng.integers(0, 2, 80).astype(np.int8)
    learner = InContextLearner.fit(X, noise, X[:0], 0)
    assert roc_auc_score(noise, learner.predict(X)) > 0.8
    assert roc_auc_score(noise, learner.out_of_fold) < 0.7


def test_a_single_outlier_has_the_share_of_outliers_out_of_fold(rng):
    X = features(rng, 10)
    labels = (np.arange(10) == 3).astype(np.int8)
    np.testing.assert_allclose(InContextLearner.fit(X, labels, X[:0], 0).out_of_fold, 0.1)


def test_the_context_has_all_labelled_rows_and_is_filled_with_others(rng):
    X = features(rng, 600)
    labels = (np.arange(50) % 5 == 0).astype(np.int8)
    learner = InContextLearner.fit(X[:50], labels, X[50:], 0)
    np.testing.assert_array_equal(learner.X[:50], X[:50])
    np.testing.assert_array_equal(learner.labels[:50], labels)
    np.testing.assert_array_equal(learner.X[50:], X[50:CONTEXT_ROWS])
    assert set(learner.labels[50:]) == {-1}


@pytest.mark.parametrize(("n_outliers", "expected"), [(30, 30), (950, 142), (500, 96)])
def test_many_labels_are_sampled_and_the_rarer_class_is_kept(rng, n_outliers, expected):
    X, labels = features(rng, 1000), np.zeros(1000, dtype=np.int8)
    labels[rng.choice(1000, n_outliers, replace=False)] = 1
    learner = InContextLearner.fit(X, labels, X[:200], 0)
    assert (learner.labels >= 0).sum() == MAX_LABELLED
    assert (learner.labels == 1).sum() == expected
    assert len(learner.labels) == CONTEXT_ROWS


def test_unlabelled_rows_of_the_context_count(rng):
    X = features(rng, 100)
    labels = (X[:20, 0] > 0).astype(np.int8)
    with_others = InContextLearner.fit(X[:20], labels, X[20:80], 0).log_odds(X[80:])
    alone = InContextLearner.fit(X[:20], labels, X[:0], 0).log_odds(X[80:])
    assert np.abs(with_others - alone).max() > 0.01


def test_predictions_are_the_same_in_any_batch_and_order(rng):
    X = features(rng, 300)
    learner = InContextLearner.fit(X[:40], (X[:40, 1] > 0.5).astype(np.int8), X[40:80], 0)
    expected = learner.log_odds(X)
    order = rng.permutation(300)
    np.testing.assert_array_equal(learner.log_odds(X[order]), expected[order])
    for size in (1, 7, 65):
        parts = [learner.log_odds(X[at : at + size]) for at in range(0, 130, size)]
        np.testing.assert_array_equal(np.concatenate(parts)[:130], expected[:130])
    assert len(learner.log_odds(X[:0])) == 0


def extract(rows, order):
    """Return the features of the network, and those of rows with their columns in an order."""
    moved = replace(rows, X=np.ascontiguousarray(rows.X[:, order]))
    names, columns = list(rows.scores), np.arange(rows.X.shape[1])
    first, second = (FeatureExtractor.fit(own, names, columns, 10) for own in (rows, moved))
    return first.in_context(rows), second.in_context(moved)


def test_the_network_gets_the_same_numbers_in_any_order_of_columns(rng):
    rows = make_quick("stack").fit(rng.normal(size=(300, 20)))._training_rows
    np.testing.assert_array_equal(*extract(rows, rng.permutation(20)))


def test_the_network_gets_the_same_columns_of_a_wide_table_in_any_order(rng):
    rows = make_quick("stack").fit(rng.normal(size=(300, 40)))._training_rows
    first, moved = extract(rows, rng.permutation(40))
    np.testing.assert_array_equal(first[:, :14], moved[:, :14])
    # Principal components are the same up to rounding and sign.
    np.testing.assert_allclose(np.abs(first), np.abs(moved), atol=1e-2)


def test_a_wide_table_is_shown_by_some_columns_and_components(rng):
    found = make_quick("stack").fit(rng.normal(size=(300, 40)))
    assert len(found._extractor.network_columns) == 14
    assert found._extractor.in_context(found._training_rows).shape == (300, 24 + N_SCORES)


def test_scores_do_not_depend_on_batches_or_threads(joined, planted):
    expected = joined.decision_function(planted.X)
    np.testing.assert_array_equal(expected, joined.decision_scores_)
    order = np.random.default_rng(0).permutation(len(planted.X))[:150]
    for n_jobs in (1, 3):
        own = joined.copy().set_params(n_jobs=n_jobs)
        np.testing.assert_array_equal(own.decision_function(planted.X[order]), expected[order])


def test_the_network_adds_its_log_odds_to_those_of_the_other_learners(planted, joined):
    labels = some_labels(planted)
    others = make_quick("stack", base_learners=LEARNERS[:-1]).fit(planted.X, labels)
    expected = network_weight(joined._high, int((labels >= 0).sum()))
    assert joined.learner_weights_["in_context"] == pytest.approx(expected)
    for name, weight in others.learner_weights_.items():
        assert joined.learner_weights_[name] == weight
    rows = joined._training_rows
    network = joined._network.learner.log_odds(joined._extractor.in_context(rows))
    pooled = np.clip(others.decision_scores_, 1e-4, 1 - 1e-4)
    log_odds = np.log(pooled / (1 - pooled)) + expected * network
    np.testing.assert_allclose(joined.decision_scores_, 1 / (1 + np.exp(-log_odds)))


def test_out_of_fold_predictions_of_both_pools_are_joined(planted, joined):
    labels = some_labels(planted)
    known = labels >= 0
    found = joined.out_of_fold_proba_[known]
    assert np.isfinite(found).all()
    network = joined._network.learner.out_of_fold
    assert len(network) == known.sum()
    others = make_quick("stack", base_learners=LEARNERS[:-1]).fit(planted.X, labels)._out_of_fold
    weight = joined.learner_weights_["in_context"]
    odds = others / (1 - others) * (network / (1 - network)) ** weight
    np.testing.assert_allclose(joined._out_of_fold, odds / (1 + odds))


@pytest.fixture
def few_candidates(monkeypatch):
    """Let the network predict 100 training rows alone, and return how many rows it was given."""
    monkeypatch.setattr(stack_detector, "MAX_CANDIDATES", 100)
    given = []
    predict = InContextLearner.log_odds
    monkeypatch.setattr(
        InContextLearner, "log_odds", lambda own, X: given.append(len(X)) or predict(own, X)
    )
    return given


def test_only_the_highest_rows_of_a_large_table_are_given_to_the_network(few_candidates, planted):
    found = make_quick("stack", base_learners=LEARNERS).fit(planted.X, some_labels(planted))
    few_candidates.clear()
    scores = found.decision_function(planted.X)
    assert 50 < sum(few_candidates) < 200 < len(planted.X)
    np.testing.assert_array_equal(scores, found.decision_scores_)
    pooled = found._pool(found._training_rows)
    log_odds = np.log(pooled.clip(1e-4, 1 - 1e-4) / (1 - pooled.clip(1e-4, 1 - 1e-4)))
    others = log_odds < found._network.lowest
    assert others.sum() == len(planted.X) - sum(few_candidates)
    # The other rows keep the order of the linear pool.
    order = np.argsort(pooled[others], kind="stable")
    assert (np.diff(scores[others][order]) >= 0).all()
    assert roc_auc_score(planted.y, scores) > 0.95


def test_the_scores_of_rows_at_the_limit_of_the_candidates_are_continuous(rng):
    X = features(rng, 500)
    learner = InContextLearner.fit(X[:40], (X[:40, 0] > 1).astype(np.int8), X[40:80], 0)
    pooled = 1 / (1 + np.exp(-learner.log_odds(X)))  # as if the linear pool agreed
    pool = LogarithmicPool.fit(learner, 1.0, 0.5, pooled, lambda part: X[part], 0.2)
    proba = pool.predict(pooled, lambda part: X[part])
    order = np.argsort(pooled)
    steps = np.diff(np.log(proba / (1 - proba))[order])
    assert 395 <= (np.log(pooled / (1 - pooled)) < pool.lowest).sum() <= 405
    assert abs(steps[398:402]).max() < 1.0


def test_the_weight_of_the_network_falls_with_labels_and_with_dimensions():
    assert network_weight(0.0, 0) == 1.0
    assert network_weight(0.0, 100) == 0.5
    assert network_weight(0.9, 100) == pytest.approx(0.05)


def test_a_table_with_categories_leaves_the_network_out():
    orders = mixed_table(300, contamination=0.1)
    labels = np.where(np.arange(300) % 2, orders.y, -1)
    joined, alone = (
        TableDetector(detector).fit(orders.table, labels).detector_
        for detector in (make_quick("stack", base_learners=LEARNERS), make_quick("pretrained"))
    )
    assert joined.learner_weights_.keys() == set(LEARNERS[:-1])
    assert alone.learner_weights_ == {"in_context": 1.0}


def test_the_network_alone_is_a_detector(planted):
    labels = some_labels(planted)
    found = make_quick("pretrained").fit(planted.X, labels)
    assert found.learner_weights_ == {"in_context": 1.0}
    expected = found._network.learner.predict(found._extractor.in_context(found._training_rows))
    np.testing.assert_allclose(found.decision_scores_, expected)
    unlabelled = labels == -1
    assert roc_auc_score(planted.y[unlabelled], found.decision_scores_[unlabelled]) > 0.95


def test_a_saved_detector_has_its_context_and_scores_the_same(joined, planted, tmp_path):
    save(joined, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.decision_function(planted.X), joined.decision_function(planted.X)
    )


def test_members_include_the_network(joined, planted):
    members = joined.member_proba(planted.X)
    assert len(members) == len(LEARNERS)
    own = joined._network.learner.predict(joined._extractor.in_context(joined._training_rows))
    np.testing.assert_allclose(members[-1], joined.calibration_.probability(logit(own)))


def test_scoring_does_not_change_the_shared_network(joined, planted):
    before = [weight.clone() for weight in load_pretrained().parameters()]
    joined.decision_function(planted.X[:100])
    after = load_pretrained().parameters()
    assert all((own == other).all() for own, other in zip(before, after, strict=True))


def test_the_network_is_a_base_learner_only_where_it_is_named(planted):
    found = make_quick("stack").fit(planted.X, some_labels(planted))
    assert "in_context" not in found.learner_weights_
    assert found._network is None


def test_missing_values_are_scored(rng):
    data = planted_outliers(300, seed=0)
    X = np.where(rng.random(data.X.shape) < 0.1, np.nan, data.X)
    found = make_quick("pretrained").fit(X, some_labels(data, 40))
    assert np.isfinite(found.decision_scores_).all()
