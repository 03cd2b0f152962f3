"""The in-context network as a base learner of stack, and as the detector `pretrained`."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from conftest import make_quick
from imboost import TableDetector, load, save
from imboost.datasets import planted_outliers
from imboost.datasets.orders import mixed_table
from imboost.detectors.stack import detector as stack_detector
from imboost.detectors.stack.base_learners import clip_probability
from imboost.detectors.stack.features import FeatureExtractor
from imboost.detectors.stack.in_context import (
    CONTEXT_ROWS,
    MAX_LABELLED,
    InContextLearner,
)
from imboost.detectors.stack.pooling import THRESHOLD_ROWS, LogarithmicPool
from imboost.detectors.stack.priors import network_weight
from imboost.models.in_context import SCORES
from imboost.models.pretrained import load_pretrained
from imboost.tables.layout import Kind

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


@pytest.mark.parametrize(("n_rows", "expected"), [(5, 0.2), (20, 0.05), (100, 0.02)])
def test_a_single_outlier_has_the_share_of_outliers_out_of_fold(rng, n_rows, expected):
    X = features(rng, n_rows)
    labels = (np.arange(n_rows) == 3).astype(np.int8)
    found = InContextLearner.fit(X, labels, X[:0], 0).out_of_fold
    np.testing.assert_allclose(found, expected)  # but at least 0.02, as of every learner


def test_a_single_outlier_among_many_labels_has_the_share_in_all_of_them(rng):
    X, labels = features(rng, 250), np.zeros(250, dtype=np.int8)
    labels[3] = 1
    found = InContextLearner.fit(X, labels, X[:0], 0).out_of_fold
    assert found[3] == 0.02  # 1 / 250, clipped
    assert np.isnan(found).sum() == 250 - MAX_LABELLED


def test_contexts_of_folds_have_the_unlabelled_rows_too(rng):
    X = features(rng, 300)
    labels = (X[:20, 0] > 0.5).astype(np.int8)
    with_others, alone = (
        InContextLearner.fit(X[:20], labels, unlabelled, 0).out_of_fold
        for unlabelled in (X[20:], X[:0])
    )
    assert np.abs(with_others - alone).max() > 0.01


def test_folds_follow_from_the_seed(rng):
    X = features(rng, 60)
    labels = (X[:, 0] > 0.5).astype(np.int8)
    first, again, other = (
        InContextLearner.fit(X, labels, X[:0], seed).out_of_fold for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).mean() > 0.1  # many are clipped


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
    last = (learner.X[:MAX_LABELLED, None] == X[None, 900:]).all(-1).any()
    assert last  # a sample of all rows, not the first ones


def test_the_labelled_rows_of_a_full_context_follow_from_the_seed(planted):
    def labelled_rows(seed):
        found = make_quick("pretrained", random_state=seed).fit(planted.X, planted.y)
        learner = found._ensemble.logarithmic_pool.learner
        rows = learner.X[learner.labels >= 0, : planted.X.shape[1]]
        return {tuple(row) for row in rows.tolist()}

    first, again, other = (labelled_rows(seed) for seed in (0, 0, 1))
    assert first == again
    assert len(first) == len(other) == MAX_LABELLED
    assert MAX_LABELLED / 4 < len(first & other) < MAX_LABELLED


def test_unlabelled_rows_of_the_context_count(rng):
    X = features(rng, 100)
    labels = (X[:20, 0] > 0).astype(np.int8)
    with_others = InContextLearner.fit(X[:20], labels, X[20:80], 0).log_odds(X[80:])
    alone = InContextLearner.fit(X[:20], labels, X[:0], 0).log_odds(X[80:])
    assert np.abs(with_others - alone).max() > 0.01


@pytest.mark.parametrize("n_columns", range(1, 25))
def test_predictions_are_the_same_in_any_order(rng, n_columns):
    X = features(rng, 128, n_columns)
    learner = InContextLearner.fit(X[:30], (X[:30, 0] > 0.5).astype(np.int8), X[30:60], 0)
    order = rng.permutation(128)
    np.testing.assert_array_equal(learner.log_odds(X[order]), learner.log_odds(X)[order])


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
    assert (np.abs(first[:, 14:24]).std(axis=0) > 0.1).all()


def test_columns_are_told_apart_by_all_rows(rng):
    X = np.zeros((600, 40))
    X[300:] = rng.random((300, 40)) < 0.3
    rows = make_quick("stack").fit(X)._training_rows
    first, moved = extract(rows, rng.permutation(40))
    np.testing.assert_array_equal(first[:, :14], moved[:, :14])


def test_scores_are_given_as_logarithms_in_the_order_of_the_training(planted):
    detector = make_quick("stack").fit(planted.X)
    rows = detector._training_rows
    found = detector._extractor.in_context(rows)[:, -N_SCORES:]
    scores = rows.scores | {"lof": rows.lof}
    expected = [np.log(scores[name] + 1e-6) for name in ("isolation_forest", "knn", "pca", "lof")]
    np.testing.assert_allclose(found, np.column_stack(expected), rtol=1e-5)


def test_indicators_of_missing_values_are_not_shown_to_the_network(rng):
    numbers = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    table = numbers.mask(rng.random((200, 3)) < 0.2).assign(d=rng.choice(["x", "y", "z"], 200))
    found = TableDetector(make_quick("pretrained")).fit(table).detector_
    is_indicator = np.zeros(found.n_features_in_, dtype=bool)
    for feature in found._layout.of_kind(Kind.MISSING_INDICATOR):
        is_indicator[feature.columns] = True
    assert is_indicator.sum() == 3
    assert sorted(found._extractor.network_columns) == np.flatnonzero(~is_indicator).tolist()


def test_unlabelled_context_rows_are_rows_without_a_label_in_random_order(planted, joined):
    labels = some_labels(planted)
    learner = joined._ensemble.logarithmic_pool.learner
    rows = joined._extractor.in_context(joined._training_rows)
    unlabelled = learner.X[learner.labels == -1]
    index = [np.flatnonzero((rows == row).all(1))[0] for row in unlabelled]
    assert set(labels[index]) == {-1}
    assert (np.diff(index) < 0).any()


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
    network = joined._ensemble.logarithmic_pool.learner.log_odds(
        joined._extractor.in_context(rows)
    )
    pooled = np.clip(others.decision_scores_, 1e-4, 1 - 1e-4)
    log_odds = np.log(pooled / (1 - pooled)) + expected * network
    np.testing.assert_allclose(joined.decision_scores_, 1 / (1 + np.exp(-log_odds)))


def test_out_of_fold_predictions_of_both_pools_are_joined(planted, joined):
    labels = some_labels(planted)
    known = labels >= 0
    found = joined.decision_.out_of_fold_proba[known]
    assert np.isfinite(found).all()
    network = joined._ensemble.logarithmic_pool.learner.out_of_fold
    assert len(network) == known.sum()
    others = (
        make_quick("stack", base_learners=LEARNERS[:-1])
        .fit(planted.X, labels)
        ._ensemble.out_of_fold
    )
    weight = joined.learner_weights_["in_context"]
    odds = others / (1 - others) * (network / (1 - network)) ** weight
    np.testing.assert_allclose(joined._ensemble.out_of_fold, odds / (1 + odds))


@pytest.fixture
def few_candidates(monkeypatch):
    """Let the network predict 100 training rows alone, and return how many rows it was given."""
    monkeypatch.setattr(stack_detector, "N_CANDIDATES", 100)
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
    assert sum(few_candidates) == 100 < len(planted.X)
    np.testing.assert_array_equal(scores, found.decision_scores_)
    pooled = found._ensemble.predict_without_network(found._training_rows)
    others = np.argsort(pooled)[:200]
    distinct = np.diff(pooled[others].clip(1e-4, 1)) > 0
    assert distinct.sum() > 50
    # The other rows keep the order of the linear pool, below the candidates near the threshold.
    assert ((np.diff(scores[others]) > 0) == distinct).all()
    assert roc_auc_score(planted.y, scores) > 0.95


def test_candidates_are_chosen_on_a_sample_of_a_large_table(few_candidates, planted, monkeypatch):
    monkeypatch.setattr(stack_detector, "N_THRESHOLD_ROWS", 150)
    found = make_quick("stack", base_learners=LEARNERS).fit(planted.X, some_labels(planted))
    pooled = found._ensemble.predict_without_network(found._training_rows)
    n_candidates = found._ensemble.logarithmic_pool.is_candidate(pooled).sum()
    assert 75 <= n_candidates <= 125  # 100 are expected


def test_out_of_fold_predictions_follow_the_rule_of_the_candidates(few_candidates, planted):
    found = make_quick("pretrained").fit(planted.X, some_labels(planted))
    known = some_labels(planted) >= 0
    pooled = found._ensemble.score_model.out_of_fold
    is_candidate = logit_of(pooled) > found._ensemble.logarithmic_pool.candidate_threshold
    assert 5 < is_candidate.sum() < known.sum() - 5
    np.testing.assert_allclose(
        found._ensemble.out_of_fold[is_candidate],
        found._ensemble.logarithmic_pool.learner.out_of_fold[is_candidate],
    )
    lower = (
        found._ensemble.logarithmic_pool.threshold_log_odds
        + logit_of(pooled)
        - (found._ensemble.logarithmic_pool.candidate_threshold)
    )
    np.testing.assert_allclose(
        logit_of(found._ensemble.out_of_fold, 0)[~is_candidate], lower[~is_candidate]
    )


def test_labelled_rows_outside_the_context_are_predicted_by_the_final_context(planted, tmp_path):
    found = make_quick("pretrained").fit(planted.X, planted.y)
    learner = found._ensemble.logarithmic_pool.learner
    outside = np.isnan(learner.out_of_fold)
    assert outside.sum() == len(planted.y) - MAX_LABELLED
    rows = found._extractor.in_context(found._training_rows)
    in_context = (rows[:, None] == learner.X[None]).all(-1).any(1)
    np.testing.assert_array_equal(outside, ~in_context)
    expected = np.where(outside, clip_probability(learner.predict(rows)), learner.out_of_fold)
    np.testing.assert_allclose(found._ensemble.out_of_fold, expected)
    save(found, tmp_path / "model")
    np.testing.assert_array_equal(
        load(tmp_path / "model").decision_function(planted.X), found.decision_function(planted.X)
    )


def test_the_number_of_predicted_rows_is_bounded_with_many_labels(few_candidates):
    data = planted_outliers(2000, 5, seed=1)
    make_quick("pretrained").fit(data.X, data.y)
    # In two folds, to choose the candidates, out of fold and as training rows.
    assert sum(few_candidates) <= MAX_LABELLED + THRESHOLD_ROWS + 2 * 100 + 50


def logit_of(proba, smallest=1e-4):
    """Return log-odds of clipped probabilities."""
    clipped = np.clip(proba, smallest, 1 - smallest)
    return np.log(clipped / (1 - clipped))


def test_tied_rows_are_no_candidates(rng):
    X = features(rng, 500)
    learner = InContextLearner.fit(X[:40], (X[:40, 0] > 1).astype(np.int8), X[40:80], 0)
    for pooled in (np.full(500, 0.3), np.where(np.arange(500) < 20, 0.9, 0.1)):
        given = []

        def select(rows, given=given):
            given.append(rows.sum())
            return X[rows]

        pool = LogarithmicPool.fit(learner, 1.0, 0.5, pooled, select, 0.2)
        is_candidate = pool.is_candidate(pooled)
        assert is_candidate.sum() <= 100
        assert max(given) <= 100
        found = pool.predict(pooled, learner.log_odds(X[is_candidate]))
        assert np.isfinite(found).all()


def test_the_scores_of_rows_at_the_threshold_are_continuous(rng):
    X = features(rng, 500)
    learner = InContextLearner.fit(X[:40], (X[:40, 0] > 1).astype(np.int8), X[40:80], 0)
    pooled = 1 / (1 + np.exp(-0.5 * learner.log_odds(X)))  # as if the linear pool agreed
    pool = LogarithmicPool.fit(learner, 1.0, 0.5, pooled, lambda part: X[part], 0.2)
    assert (logit_of(pooled) > pool.candidate_threshold).sum() == 100
    lowest = np.argsort(pooled)[400:464]  # of the candidates
    expected = learner.log_odds(X[lowest]).mean()
    assert pool.threshold_log_odds == pytest.approx(expected)


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
    n_labelled = int((labels >= 0).sum())  # no other row is taken to be an inlier
    assert (alone._ensemble.logarithmic_pool.learner.labels >= 0).sum() == min(
        n_labelled, MAX_LABELLED
    )


def test_a_cell_model_leaves_the_network_out_whatever_scores_are_in_use():
    orders = mixed_table(300, contamination=0.1)
    labels = np.where(np.arange(300) % 2, orders.y, -1)
    detector = make_quick("stack", base_learners=LEARNERS, unsupervised_scores=("knn",))
    found = TableDetector(detector).fit(orders.table, labels).detector_
    assert found._ensemble.logarithmic_pool is None


def test_the_network_alone_is_a_detector(planted):
    labels = some_labels(planted)
    found = make_quick("pretrained").fit(planted.X, labels)
    assert found.learner_weights_ == {"in_context": 1.0}
    expected = found._ensemble.logarithmic_pool.learner.predict(
        found._extractor.in_context(found._training_rows)
    )
    np.testing.assert_allclose(found.decision_scores_, expected)
    unlabelled = labels == -1
    assert roc_auc_score(planted.y[unlabelled], found.decision_scores_[unlabelled]) > 0.95


def test_a_saved_detector_has_its_context_and_scores_the_same(joined, planted, tmp_path):
    save(joined, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.decision_function(planted.X), joined.decision_function(planted.X)
    )


def test_scoring_does_not_change_the_shared_network(joined, planted):
    before = [weight.clone() for weight in load_pretrained().parameters()]
    joined.decision_function(planted.X[:100])
    after = load_pretrained().parameters()
    assert all((own == other).all() for own, other in zip(before, after, strict=True))


def test_the_network_is_a_base_learner_by_default_and_can_be_left_out(planted):
    labels = some_labels(planted)
    assert "in_context" in make_quick("stack").fit(planted.X, labels).learner_weights_
    found = make_quick("stack", base_learners=LEARNERS[:-1]).fit(planted.X, labels)
    assert "in_context" not in found.learner_weights_
    assert found._ensemble.logarithmic_pool is None


def test_missing_values_are_scored(rng):
    data = planted_outliers(300, seed=0)
    X = np.where(rng.random(data.X.shape) < 0.1, np.nan, data.X)
    found = make_quick("pretrained").fit(X, some_labels(data, 40))
    assert np.isfinite(found.decision_scores_).all()
