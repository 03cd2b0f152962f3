"""Scores as log-odds of being an outlier, before answers correct them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, ndtri

Floats = NDArray[np.float64]

SURE = 0.005
"""No probability is taken for nearer to 0 or 1 than this."""

USUAL_ODDS, GROWTH = -3.0, 1.5
"""Where a score says nothing but its rank: the log-odds of a middling row, and how they grow
with the rank on the scale of a standard normal variable. One row in ten is an outlier then."""


def odds_of_probability(probability: Floats) -> Floats:
    """Return log-odds, none of them endless."""
    return np.asarray(logit(np.clip(probability, SURE, 1 - SURE)))


def odds_by_rank(scores: Floats, training_scores: Floats) -> Floats:
    """Return log-odds by the scores' ranks among those of the training rows."""
    ranked = np.sort(training_scores)
    below = np.searchsorted(ranked, scores, side="left")
    not_above = np.searchsorted(ranked, scores, side="right")
    rank = (below + not_above + 1) / (2 * len(ranked) + 2)
    return np.asarray(USUAL_ODDS + GROWTH * ndtri(rank))
