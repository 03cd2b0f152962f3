"""Learning loss selects rows like those on which the detector was wrong."""

import numpy as np
import pytest

from conftest import make_quick
from imboost import Session
from imboost.decide import Calibration, Decision
from imboost.labels import unlabelled
from imboost.query import LearningLoss, RandomRows
from imboost.query.learning_loss import MAX_PAIRS, _ranked_pairs, log_losses
from imboost.session import Oracle, run_rounds

RNG = np.random.default_rng


IDENTITY = Calibration(np.array([0.0, 1.0, 0.0]), np.zeros((3, 3)))


class Predictions:
    def __init__(self, proba, labels, out_of_fold=None):
        nothing = np.full(len(proba), np.nan)
        found = nothing if out_of_fold is None else out_of_fold
        self.decision_ = Decision(
            proba, labels, IDENTITY, 0.5, False, found, are_probabilities=True
        )


def grid(n=400):
    """Rows in the unit square; a detector that calls no row an outlier, wrong in one corner."""
    points = RNG(0).random((n, 2))
    is_outlier = (points > 0.7).all(axis=1)
    return points, is_outlier, RNG(1).uniform(0.05, 0.1, n)


def labelled(is_outlier, n_known=80):
    labels = unlabelled(len(is_outlier))
    labels[:n_known] = is_outlier[:n_known]
    return labels


def test_it_prefers_the_region_of_errors():
    points, is_outlier, proba = grid()
    strategy = LearningLoss()
    strategy.set_embedding(points)
    strategy.set_detector(Predictions(proba, labelled(is_outlier)), None)
    rows = strategy.select(proba, np.arange(80, 400), 15, RNG(0))
    assert is_outlier[80:].mean() < 0.15
    assert is_outlier[rows].mean() > 0.85


def test_errors_out_of_fold_count_where_they_are_known():
    points, is_outlier, proba = grid()
    labels = labelled(is_outlier)
    fitted = np.where(labels == 1, 0.95, proba)  # no error is left in sample
    strategy = LearningLoss()
    strategy.set_embedding(points)
    out_of_fold = np.where(labels == -1, np.nan, proba)
    strategy.set_detector(Predictions(fitted, labels, out_of_fold), None)
    rows = strategy.select(proba, np.arange(80, 400), 15, RNG(0))
    assert is_outlier[rows].mean() > 0.85


def test_without_an_embedding_losses_are_predicted_by_scores():
    scores = np.linspace(0, 1, 200)
    labels = unlabelled(200)
    labels[::2] = 0  # high scores are the errors
    strategy = LearningLoss()
    strategy.set_detector(Predictions(scores, labels), None)
    rows = strategy.select(scores, np.arange(1, 200, 2), 10, RNG(0))
    assert scores[rows].min() > 0.8


def test_the_score_has_the_weight_of_all_columns_together():
    strategy = LearningLoss()
    strategy.set_embedding(RNG(0).random((50, 9)))
    variances = strategy._inputs(RNG(1).random(50)).var(axis=0)
    assert variances[-1] == pytest.approx(variances[:-1].sum()) == pytest.approx(9)


@pytest.mark.parametrize("n_known", [0, 1, 20])
def test_rows_are_random_while_losses_cannot_be_ranked(n_known):
    labels = unlabelled(50)
    labels[:n_known] = 0
    strategy = LearningLoss()
    strategy.set_detector(Predictions(np.full(50, 0.2), labels), None)
    free = np.arange(20, 50)
    rows = strategy.select(np.zeros(50), free, 5, RNG(0))
    assert rows.tolist() == RandomRows().select(np.zeros(50), free, 5, RNG(0)).tolist()


def test_two_losses_can_be_ranked():
    labels = unlabelled(10)
    labels[[0, 9]] = 0
    scores = np.linspace(0.1, 0.9, 10)
    strategy = LearningLoss()
    strategy.set_detector(Predictions(scores, labels), None)
    assert strategy.select(scores, np.arange(1, 9), 1, RNG(0)).tolist() == [8]


def test_the_number_of_pairs_is_limited():
    losses = RNG(0).random(1000)
    higher, lower = _ranked_pairs(losses, RNG(1))
    assert 0.4 * MAX_PAIRS < len(higher) <= MAX_PAIRS
    assert (losses[higher] > losses[lower]).all()
    assert len(_ranked_pairs(losses[:10], RNG(1))[0]) == 45  # all pairs of a few rows


def test_losses_are_finite_and_only_those_of_labelled_rows():
    losses = log_losses(np.array([0.0, 0.25, 1.0, 0.5]), np.array([1, 0, 0, -1], dtype=np.int8))
    assert losses[1] == pytest.approx(-np.log(0.75))
    assert np.isfinite(losses[:3]).all()
    assert np.isnan(losses[3])


@pytest.mark.parametrize("name", ["imboost", "stack"])
def test_it_works_in_a_session_that_is_reopened(planted, name):
    def start(log=None):
        return Session(make_quick(name), planted.X, query="learning-loss", log=log, random_state=1)

    session = start()
    for _ in run_rounds(session, Oracle(planted.y), 2, 8):
        pass
    assert start(session.log).ask(8) == session.ask(8)
