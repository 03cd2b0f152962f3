"""How likely a row is an outlier, given its score: learned from answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from imboost.labels import INLIER, OUTLIER, Labels
from imboost.stats.logistic import fit_map_logistic

Floats = NDArray[np.float64]

START = np.array([0.0, 1.0, 0.0])
"""Before any answer: odds are taken as they are, and asked rows are like others."""

FREEDOM = np.array([0.5, 1.0, 0.4])
"""How far answers may be expected to move intercept, slope and shift, as deviations."""

SHIFT_OF_LEARNED = 3.0
"""As the last of these, if the detector was told the answers: then hardly anything is known of how
rows without an answer differ from them."""

LEAST_SLOPE = 0.25
"""Rows of larger odds are always likelier: answers that contradict make the curve no flatter."""

NO_FREEDOM = 1e-6


@dataclass(frozen=True, eq=False)
class Calibration:
    """A logistic curve from a detector's own odds to probabilities, and how sure it is.

    Answered rows were chosen, and may hold more or fewer outliers than others of the same odds:
    the curve of the other rows lies a shift beside theirs. Rows that were asked at random, the
    audit, tell how far; without them the shift is only known to be small.

    Parameters
    ----------
    means : array of shape (3,)
        Intercept, slope and shift.
    covariance : array of shape (3, 3)
        How sure they are: of their normal distribution.
    """

    means: Floats
    covariance: Floats

    @classmethod
    def fit(
        cls,
        odds: Floats,
        answers: Labels,
        is_audit: NDArray[np.bool_],
        *,
        are_held_out: bool = True,
    ) -> Self:
        """Learn from answers about rows of known odds.

        Outliers alone, unless they were found at random, tell nothing of how many there are.

        Parameters
        ----------
        odds : array of shape (n_answers,)
            The detector's log-odds of each row, had it not been told the answer.
        answers : array of shape (n_answers,)
            0 for an inlier, 1 for an outlier.
        is_audit : array of bool of shape (n_answers,)
            Which rows were asked at random.
        are_held_out : bool
            Whether the odds are what they would be without the answers. If not, an audit tells
            nothing either: the detector has learned its rows.
        """
        freedom = FREEDOM.copy()
        if not are_held_out:
            freedom[2], is_audit = SHIFT_OF_LEARNED, np.zeros(len(is_audit), dtype=bool)
        if INLIER not in answers:
            odds, answers, is_audit = odds[is_audit], answers[is_audit], is_audit[is_audit]
        inputs, is_outlier = _inputs(odds, is_audit), answers == OUTLIER
        means, bend = fit_map_logistic(inputs, is_outlier, START, freedom)
        if means[1] < LEAST_SLOPE:
            start = START.copy()
            start[1], freedom[1] = LEAST_SLOPE, NO_FREEDOM
            means, bend = fit_map_logistic(inputs, is_outlier, start, freedom)
        return cls(means, np.asarray(np.linalg.inv(bend), dtype=np.float64))

    def probability(self, odds: Floats, when_asked: bool = False) -> Floats:
        """Return how likely rows are outliers, drawn at random or chosen to be asked about."""
        inputs = _inputs(odds, np.full(len(odds), not when_asked))
        return np.asarray(expit(np.einsum("ij,j->i", inputs, self.means)))

    def drawn_probabilities(self, odds: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
        """Return probabilities by curves drawn from all that the answers allow: (draws, rows)."""
        curves = rng.multivariate_normal(self.means, self.covariance, n_draws, method="eigh")
        curves[:, 1] = np.maximum(curves[:, 1], LEAST_SLOPE)
        return np.asarray(expit(curves @ _inputs(odds, np.ones(len(odds), dtype=bool)).T))


def _inputs(odds: Floats, at_random: NDArray[np.bool_]) -> Floats:
    return np.column_stack([np.ones(len(odds)), odds, at_random])
