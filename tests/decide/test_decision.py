"""Probabilities and threshold of a detector, as one object."""

import numpy as np
import pytest
from scipy.special import expit, logit

from imboost.decide import Decision
from imboost.decide.threshold import ASSUMED_CONTAMINATION
from imboost.labels import unlabelled

SCORES = np.random.default_rng(0).random(1000)


@pytest.mark.parametrize("are_probabilities", [True, False])
def test_probabilities_without_labels_rest_on_the_base_rate(are_probabilities):
    decision = Decision.make(SCORES, unlabelled(1000), are_probabilities=are_probabilities)
    assert decision.probability(SCORES).mean() == pytest.approx(ASSUMED_CONTAMINATION)


def test_the_base_rate_is_that_of_the_table_the_rows_were_sampled_from():
    weights = np.where(SCORES > 0.5, 1.0, 99.0)
    decision = Decision.make(SCORES, unlabelled(1000), weights=weights)
    mean = np.average(decision.probability(SCORES), weights=weights)
    assert mean == pytest.approx(ASSUMED_CONTAMINATION)


def test_the_base_rate_is_not_assumed_once_a_row_is_labelled():
    labels = unlabelled(1000)
    labels[3] = 0
    assert Decision.make(SCORES, labels).base_rate_shift == 0.0


def test_probabilities_that_rest_on_the_base_rate_are_used_unchanged():
    decision = Decision.make(SCORES, unlabelled(1000), are_probabilities=True, has_base_rate=True)
    some = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(decision.probability(some), some)
    np.testing.assert_array_equal(decision.predictions, SCORES >= 0.5)
    assert decision.is_estimated


def test_scores_that_are_no_probabilities_count_by_their_ranks_alone():
    labels = unlabelled(1000)
    labels[:9] = 0
    first, second = (Decision.make(scores, labels) for scores in (SCORES, np.exp(9 * SCORES)))
    np.testing.assert_array_equal(
        first.probability(SCORES), second.probability(np.exp(9 * SCORES))
    )


def test_out_of_fold_scores_of_labelled_rows_replace_their_scores():
    labels = unlabelled(1000)
    labels[:40] = SCORES[:40] > 0.5
    options = {"are_probabilities": True}
    alone = Decision.make(SCORES, labels, **options)
    assert np.isnan(alone.out_of_fold_proba).all()
    inverted = Decision.make(SCORES, labels, out_of_fold=1 - SCORES[:40], **options)
    np.testing.assert_array_equal(np.isnan(inverted.out_of_fold_proba), labels == -1)
    high = np.array([0.9])
    assert inverted.probability(high) < alone.probability(high)


def test_a_new_threshold_leaves_the_decision_it_came_from_unchanged():
    decision = Decision.make(SCORES, unlabelled(1000))
    other = decision.with_threshold(contamination=0.25)
    assert other.predictions.sum() == 250
    assert decision.predictions.sum() == 10
    assert decision.is_estimated
    assert not other.is_estimated


def test_the_outcome_is_about_the_table_the_rows_were_sampled_from():
    labels = unlabelled(1000)
    labels[:9] = 1
    decision = Decision.make(SCORES, labels, weights=np.full(1000, 7.0))
    assert decision.outcome().n_rows == 7000


def test_log_odds_of_probabilities_are_their_logits():
    decision = Decision.make(SCORES, unlabelled(1000), are_probabilities=True)
    np.testing.assert_allclose(expit(decision.log_odds(SCORES[:5])), SCORES[:5].clip(0.005, 0.995))
    assert decision.log_odds(np.array([0.2]))[0] == pytest.approx(logit(0.2))
