"""How far answers can be trusted, by what is thought of their rows without them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels

WRONG_ANSWERS, RIGHT_ANSWERS = 1.0, 10.0
"""What is assumed of answers before any: so many of them were wrong and so many right."""

STEPS = 50
"""Of expectation maximisation."""

FEWEST = 2
"""Answers of each kind, without which nothing is known of one of them."""


def answer_trust(opinion: NDArray[np.float64], answers: NDArray[Any]) -> NDArray[np.float64]:
    """Return how likely each answer is right, by what was thought of the row without it.

    The share of wrong answers is the likeliest under a Beta prior (expectation maximisation).

    >>> opinion = np.array([0.02, 0.02, 0.02, 0.02, 0.9, 0.5])
    >>> answer_trust(opinion, np.array([0, 0, 0, 1, 1, 1])).round(1).tolist()
    [1.0, 1.0, 1.0, 0.1, 1.0, 0.9]
    """
    likelihood = np.where(answers == OUTLIER, opinion, 1 - opinion)
    wrong = WRONG_ANSWERS / (WRONG_ANSWERS + RIGHT_ANSWERS)
    for _ in range(STEPS):
        right = (1 - wrong) * likelihood / ((1 - wrong) * likelihood + wrong * (1 - likelihood))
        n_wrong = (1 - right).sum() + WRONG_ANSWERS
        wrong = n_wrong / (len(answers) + WRONG_ANSWERS + RIGHT_ANSWERS)
    return np.asarray(right)


def trust_of_labels(opinion: NDArray[np.float64], labels: Labels) -> NDArray[np.float64]:
    """Return how likely each label of a table is right; nan where that cannot be said.

    Parameters
    ----------
    opinion : array of shape (n_rows,)
        How likely each row is an outlier, had its label not been known.
    labels : array of shape (n_rows,)
        0, 1 or -1.
    """
    trust = np.full(len(labels), np.nan)
    known = labels != UNLABELLED
    if min((labels == INLIER).sum(), (labels == OUTLIER).sum()) >= FEWEST:
        trust[known] = answer_trust(opinion[known], labels[known])
    return trust
