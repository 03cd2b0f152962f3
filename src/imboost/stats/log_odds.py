"""Log-odds of being an outlier, from probabilities or from the ranks of scores."""

from __future__ import annotations

import numpy as np
from scipy import special

from imboost.arrays import Floats

MIN_PROBABILITY = 0.005  # probabilities are clipped to [0.005, 0.995], so log-odds to ±5.3

RANK_INTERCEPT, RANK_SLOPE = -3.0, 1.5
"""Log-odds of the median row, and their increase per unit of the rank's normal quantile, before
calibration. Without labels, probabilities rest on `imboost.decide.threshold` instead."""


def logit(probability: Floats, smallest: float = MIN_PROBABILITY) -> Floats:
    """Return the log-odds of probabilities, which are clipped so that the result is finite."""
    return np.asarray(special.logit(np.clip(probability, smallest, 1 - smallest)))


def rank_log_odds(scores: Floats, training_scores: Floats) -> Floats:
    """Return log-odds that depend only on the ranks of scores among those of the training rows."""
    known = np.sort(training_scores)
    order = np.argsort(scores)  # looked up in ascending order, which is several times faster
    ascending = scores[order]
    n_below, n_not_above = (np.searchsorted(known, ascending, side) for side in ("left", "right"))
    quantile = np.empty(len(scores))
    quantile[order] = ((n_below + n_not_above) / 2 + 0.5) / (len(known) + 1)  # ties count half
    return np.asarray(RANK_INTERCEPT + RANK_SLOPE * special.ndtri(quantile))
