"""What a decision is worth: its precision, and the outliers it leaves unfound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imboost.decide.calibration import Calibration
from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels

N_DRAWS = 1000
N_GROUPS = 512
"""Rows of about the same odds are counted together, in so many groups at most."""


@dataclass(frozen=True)
class Estimate:
    """A number that is not known, and the interval it lies in nine times out of ten.

    Parameters
    ----------
    value : float
        The best guess.
    low, high : float
        Ends of the 90 % interval.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, draws: NDArray[np.float64]) -> Estimate:
        """Sum up what the number may be, as often as it is likely."""
        low, high = np.quantile(draws, (0.05, 0.95))
        return cls(float(draws.mean()), float(low), float(high))


UNKNOWN_SHARE = Estimate(float("nan"), 0.0, 1.0)
"""Of no rows at all."""


@dataclass(frozen=True)
class Outcome:
    """What is known of a decision about a table.

    Parameters
    ----------
    n_rows : int
    n_called : int
        Rows that are called outliers, answered ones by their answer.
    n_known : int
        Rows that were answered "outlier".
    precision : Estimate
        Outliers among the rows above the threshold, as a share; nan if there are none.
    n_unfound : Estimate
        Outliers that no one was asked about, below the threshold.
    share_found : Estimate
        Of all outliers, those above the threshold or answered.
    """

    n_rows: int
    n_called: int
    n_known: int
    precision: Estimate
    n_unfound: Estimate
    share_found: Estimate


def estimate_outcome(
    scores: NDArray[np.float64],
    odds: NDArray[np.float64],
    labels: Labels,
    threshold: float,
    calibration: Calibration,
    seed: int = 0,
) -> Outcome:
    """Estimate what calling all rows above a threshold outliers would get right and miss.

    Answered rows count as they were answered; of the others, the calibration says how many are
    outliers and how sure that is.

    Parameters
    ----------
    scores, odds : array of shape (n_rows,)
        Scores of the rows, and the detector's log-odds for them.
    labels : array of shape (n_rows,)
        Answers: 0, 1 or -1.
    threshold : float
    calibration : Calibration
    seed : int
        Of the draws.
    """
    rng = np.random.default_rng(seed)
    above, open_rows = scores > threshold, labels == UNLABELLED
    hits, misses = _draw_counts(
        odds[open_rows], above[open_rows], calibration, rng
    )  # outliers among open rows, above and below the threshold
    known = labels == OUTLIER
    n_above = int(above.sum())
    right = hits + (known & above).sum()
    found = hits + known.sum()
    return Outcome(
        n_rows=len(scores),
        n_called=int((above & (labels != INLIER)).sum() + (known & ~above).sum()),
        n_known=int(known.sum()),
        precision=Estimate.of(right / n_above) if n_above else UNKNOWN_SHARE,
        n_unfound=Estimate.of(misses),
        share_found=Estimate.of(
            np.where(found + misses > 0, found, 1.0) / np.maximum(found + misses, 1.0)
        ),
    )


def _draw_counts(
    odds: NDArray[np.float64],
    above: NDArray[np.bool_],
    calibration: Calibration,
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw how many of the rows above and not above are outliers, each of shape (draws,)."""
    drawn = []
    curves = rng.integers(2**32)
    for side in (odds[above], odds[~above]):
        centres, sizes = _grouped(side)
        same_curves = np.random.default_rng(curves)
        chances = calibration.drawn_probabilities(centres, N_DRAWS, same_curves)
        drawn.append(rng.binomial(sizes, chances).sum(axis=1).astype(np.float64))
    return drawn[0], drawn[1]


def _grouped(odds: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the mean odds of groups of rows of about the same odds, and the groups' sizes."""
    parts = np.array_split(np.sort(odds), min(N_GROUPS, max(len(odds), 1)))
    parts = [part for part in parts if len(part)]
    centres = np.array([part.mean() for part in parts])
    return centres, np.array([len(part) for part in parts], dtype=np.int64)
