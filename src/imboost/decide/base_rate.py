"""The base rate: how many rows are taken to be outliers while nothing is known about them."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from imboost.arrays import Floats

AUTO: Final = "auto"  # contamination that is estimated from the scores and labels
ASSUMED_CONTAMINATION = 0.01
"""Share of outliers that probabilities without labels rest on, and that is predicted where
scores do not show another: few rows, those with the highest scores of all. An assumption."""

MAX_SHIFT = 500.0  # of log-odds; larger than any difference between them


def base_rate_shift(log_odds: Floats, weights: Floats | None = None) -> float:
    """Return what to add to log-odds so that the mean probability is `ASSUMED_CONTAMINATION`.

    With weights, it is the mean over the larger table of which the rows are a sample.

    >>> shift = base_rate_shift(np.array([-3.0, -2.0, 1.0]))
    >>> round(float(expit(np.array([-3.0, -2.0, 1.0]) + shift).mean()), 3)
    0.01
    """

    def excess(shift: float) -> float:
        return float(np.average(expit(log_odds + shift), weights=weights)) - ASSUMED_CONTAMINATION

    return float(brentq(excess, -MAX_SHIFT, MAX_SHIFT))
