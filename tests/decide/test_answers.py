"""How far answers are trusted."""

import numpy as np

from imboost.decide.answers import answer_trust, trust_of_labels


def test_answers_that_are_contradicted_lose_trust_the_more_the_more_there_are():
    opinion = np.array([0.05] * 38 + [0.95] * 2)
    answers = np.array([0] * 38 + [1] * 2)
    assert (answer_trust(opinion, answers) > 0.99).all()
    few, many = answers.copy(), answers.copy()
    few[:1], many[:8] = 1, 1
    assert answer_trust(opinion, few)[0] > answer_trust(opinion, many)[0]
    assert answer_trust(opinion, many)[0] < 0.3


def test_without_two_answers_of_each_kind_nothing_is_said():
    opinion = np.array([0.1, 0.9, 0.2, 0.1])
    assert np.isnan(trust_of_labels(opinion, np.array([0, 1, 0, -1], dtype=np.int8))).all()
    trust = trust_of_labels(np.append(opinion, 0.9), np.array([0, 1, 0, -1, 1], dtype=np.int8))
    np.testing.assert_array_equal(np.isnan(trust), [False, False, False, True, False])
