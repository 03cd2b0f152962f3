"""Base learners of stack, their out-of-fold predictions and the pooling of them."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics import roc_auc_score

from imboost.detectors.stack import base_learners
from imboost.detectors.stack.base_learners import (
    ForestLearner,
    GaussianProcessLearner,
    LinearLearner,
    ScoreModel,
)
from imboost.detectors.stack.pooling import pool_weights

NO_LABELS = np.zeros(0, dtype=np.int8)
EQUAL = np.array([0.5, 0.5])
NOT_USED = np.zeros(0)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_without_labels_scores_have_their_prior_weights(rng):
    scores = rng.normal(size=(50, 2))
    proba = ScoreModel.fit(scores[:0], NO_LABELS, np.array([0.8, 0.2]), 1.0).predict(scores)
    np.testing.assert_array_equal(np.argsort(proba), np.argsort(scores @ [0.8, 0.2]))
    assert np.median(proba) < 0.5


def test_labels_move_the_weight_to_the_score_that_separates_the_classes(rng):
    scores = rng.normal(size=(60, 2))
    labels = (scores[:, 0] > 0.5).astype(np.int8)
    model = ScoreModel.fit(scores, labels, EQUAL, 1.0)
    assert model.coefficients[0] > 2 * model.coefficients[1]


def test_a_score_that_misleads_loses_its_weight_but_never_becomes_negative(rng):
    scores = rng.normal(size=(200, 2))
    labels = (scores[:, 0] < -1).astype(np.int8)  # outliers have low scores
    model = ScoreModel.fit(scores, labels, EQUAL, 1.0)
    assert model.coefficients[0] == 0
    assert model.coefficients[1] >= 0


def test_with_a_weight_std_of_0_labels_do_not_move_the_weights(rng):
    scores = rng.normal(size=(60, 2))
    labels = (scores[:, 0] > 0.5).astype(np.int8)
    model = ScoreModel.fit(scores, labels, EQUAL, 0.0)
    np.testing.assert_allclose(model.coefficients, 1.5 * EQUAL, atol=1e-4)


@pytest.mark.parametrize("sign", [1, -1])
def test_out_of_fold_predictions_of_the_score_model_do_not_know_the_label(rng, sign):
    scores = rng.normal(size=(40, 2))
    labels = (sign * scores[:, 0] + rng.normal(size=40) > 1).astype(np.int8)
    out_of_fold = ScoreModel.fit(scores, labels, EQUAL, 1.0).out_of_fold
    for row in range(40):
        others = np.arange(40) != row
        without = ScoreModel.fit(scores[others], labels[others], EQUAL, 1.0)
        assert out_of_fold[row] == pytest.approx(without.predict(scores[[row]])[0], abs=0.04)


def test_a_forest_predicts_labelled_rows_out_of_bag(rng):
    X = rng.normal(size=(80, 3))
    noise = rng.integers(0, 2, 80).astype(np.int8)
    learner = ForestLearner.fit(ExtraTreesClassifier(100, random_state=0), X, noise)
    assert roc_auc_score(noise, learner.predict(X, NOT_USED)) > 0.95
    assert roc_auc_score(noise, learner.out_of_fold) < 0.7


def test_a_row_that_every_tree_saw_gets_the_share_of_outliers():
    labels = np.array([0, 1, 1, 1], dtype=np.int8)
    forest = RandomForestClassifier(1, random_state=0)
    out_of_fold = ForestLearner.fit(forest, np.arange(4.0)[:, None], labels).out_of_fold
    seen = ~np.isin(out_of_fold, (0.02, 0.98))
    assert seen.any()
    np.testing.assert_allclose(out_of_fold[seen], 0.75)


def test_a_linear_model_predicts_labelled_rows_by_cross_validation(rng):
    X = rng.normal(size=(40, 30))
    noise = rng.integers(0, 2, 40).astype(np.int8)
    learner = LinearLearner.fit(X, noise, 0)
    assert roc_auc_score(noise, learner.predict(X, NOT_USED)) > 0.95
    assert roc_auc_score(noise, learner.out_of_fold) < 0.7


def test_a_linear_model_of_a_single_outlier_predicts_the_share_of_outliers(rng):
    learner = LinearLearner.fit(rng.normal(size=(4, 2)), np.array([1, 0, 0, 0], dtype=np.int8), 0)
    np.testing.assert_allclose(learner.out_of_fold, 0.25)


def test_far_from_labelled_rows_the_gaussian_process_equals_the_score_model(rng):
    X = rng.normal(size=(30, 2))
    labels = (X[:, 0] > 0).astype(np.int8)
    learner = GaussianProcessLearner.fit(X, labels, np.full(30, 0.2), np.full(30, 0.2), 0)
    assert learner.predict(np.array([[500.0, 0.0]]), np.array([0.2])) == pytest.approx(0.2)


def test_near_labelled_rows_the_gaussian_process_corrects_the_score_model(rng):
    X = rng.normal(size=(60, 2))
    labels = (X[:, 0] > 0).astype(np.int8)
    learner = GaussianProcessLearner.fit(X, labels, np.full(60, 0.2), np.full(60, 0.2), 0)
    right, left = learner.predict(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0.2, 0.2]))
    assert right > 0.7
    assert left < 0.15


def test_leave_one_out_predictions_of_the_gaussian_process_are_exact(rng, monkeypatch):
    monkeypatch.setattr(base_learners, "LENGTH_SCALES", (1.0,))
    monkeypatch.setattr(base_learners, "NOISE_VARIANCES", (0.3,))
    X = rng.normal(size=(12, 2))
    labels = rng.integers(0, 2, 12).astype(np.int8)
    proba, out_of_fold = rng.uniform(0.3, 0.7, (2, 12))
    learner = GaussianProcessLearner.fit(X, labels, proba, out_of_fold, 0)
    kernel = np.exp(-learner.precision * np.square(X[:, None] - X).sum(-1))
    for row in range(12):
        others = np.arange(12) != row
        weights = np.linalg.solve(
            kernel[np.ix_(others, others)] + 0.3 * np.eye(11), (labels - proba)[others]
        )
        expected = out_of_fold[row] + kernel[row, others] @ weights
        assert learner.out_of_fold[row] == pytest.approx(np.clip(expected, 0.02, 0.98))


def test_of_very_many_labelled_rows_the_gaussian_process_uses_a_sample(rng, monkeypatch):
    monkeypatch.setattr(base_learners, "MAX_PROCESS_ROWS", 20)
    X = rng.normal(size=(90, 2))
    labels = (X[:, 0] > 0).astype(np.int8)
    learner = GaussianProcessLearner.fit(X, labels, np.full(90, 0.2), np.full(90, 0.2), 0)
    assert len(learner.X) == 20
    assert roc_auc_score(labels, learner.out_of_fold) > 0.8


def test_the_learner_that_predicts_the_labels_gets_the_weight():
    labels = np.array([0, 1] * 20, dtype=np.int8)
    right, wrong = np.where(labels == 1, 0.9, 0.1), np.where(labels == 1, 0.1, 0.9)
    weights = pool_weights(np.column_stack([right, wrong]), labels, np.ones(2))
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > 0.9


def test_equally_good_learners_keep_their_prior_weights():
    labels = np.array([0, 1], dtype=np.int8)
    weights = pool_weights(np.full((2, 3), 0.5), labels, np.array([1.0, 1.0, 2.0]))
    np.testing.assert_allclose(weights, [0.25, 0.25, 0.5])
