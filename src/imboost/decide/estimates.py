"""Estimated precision and recall of a decision threshold, with credible intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from imboost.arrays import Floats, Mask
from imboost.decide.calibration import Calibration
from imboost.labels import INLIER, OUTLIER, UNLABELLED, Labels

N_DRAWS = 1000  # posterior draws per estimate
MAX_BINS = 512  # rows with similar log-odds share a bin, which bounds the cost of a draw

SUFFICIENT_RECALL = 0.65
"""Estimated recall at which to stop. Far below 1, since the estimates are conservative and the
outliers missed by then are mostly ones that the detector cannot separate from inliers."""

MIN_RECALL = 0.4
"""Lower end of its interval from which on to stop. Chosen on 28 ADBench sets, three seeds: 93% of
what five rounds find is found at the first advice to stop, 89% without this condition."""


@dataclass(frozen=True)
class Estimate:
    """A posterior mean or median with its 90% credible interval: the 5% and 95% quantiles."""

    value: float
    low: float
    high: float

    @classmethod
    def from_draws(cls, draws: Floats) -> Estimate:
        """Summarize draws from the posterior."""
        low, high = np.quantile(draws, (0.05, 0.95))
        return cls(float(draws.mean()), float(low), float(high))


@dataclass(frozen=True)
class Outcome:
    """Estimated quality of the decisions about a table."""

    n_rows: int
    n_predicted: int  # predicted outliers: labelled rows by their label, others by the threshold
    n_labelled_outliers: int
    precision: Estimate
    """Share of outliers among the rows above the threshold; nan, from 0 to 1, if there are none,
    or if no row is labelled outlier, so that it cannot be known."""
    n_missed: Estimate
    """Unlabelled outliers that are not above the threshold; the median of the posterior, since a
    few draws of very many outliers dominate its mean."""
    recall: Estimate  # share of all outliers that are above the threshold or labelled

    @property
    def none_left(self) -> bool:
        """Whether no unlabelled outlier seems to be left below the threshold."""
        return self.n_missed.high < 1

    @property
    def should_stop(self) -> bool:
        """Whether more answers are hardly worth asking for."""
        is_sufficient = self.recall.value >= SUFFICIENT_RECALL and self.recall.low >= MIN_RECALL
        return self.none_left or (self.n_labelled_outliers > 0 and is_sufficient)


def estimate_outcome(
    scores: Floats,
    log_odds: Floats,
    labels: Labels,
    threshold: float,
    calibration: Calibration,
    weights: Floats | None = None,
) -> Outcome:
    """Estimate precision and recall if all rows above a threshold are predicted outliers.

    Labelled rows count by their label; the number of outliers among the others is drawn from
    the posterior of the calibration, of which `log_odds` are the input. If the rows are a sample
    of a larger table, `weights` says how many of its rows each of them stands for; the estimates
    are then about that table.
    """
    above, is_unlabelled, is_outlier = scores > threshold, labels == UNLABELLED, labels == OUTLIER
    weights = np.ones(len(scores)) if weights is None else weights
    hits, missed = _draw_counts(
        log_odds[is_unlabelled], above[is_unlabelled], weights[is_unlabelled], calibration
    )
    n_above, n_found = weights[above].sum(), hits + weights[is_outlier].sum()
    n_outliers = n_found + missed
    recall = np.divide(n_found, n_outliers, out=np.ones(N_DRAWS), where=n_outliers > 0)
    precision = Estimate(float("nan"), 0.0, 1.0)
    if n_above and (is_outlier.any() or not (above & is_unlabelled).any()):
        precision = Estimate.from_draws((hits + weights[is_outlier & above].sum()) / n_above)
    return Outcome(
        n_rows=round(weights.sum()),
        n_predicted=round(weights[is_outlier | (above & (labels != INLIER))].sum()),
        n_labelled_outliers=int(is_outlier.sum()),
        precision=precision,
        n_missed=replace(Estimate.from_draws(missed), value=float(np.median(missed))),
        recall=Estimate.from_draws(recall),
    )


def _draw_counts(
    log_odds: Floats, above: Mask, weights: Floats, calibration: Calibration
) -> tuple[Floats, Floats]:
    """Draw the number of outliers above and not above the threshold, each of shape (draws,)."""
    rng = np.random.default_rng(0)
    curve_seed = rng.integers(2**32)  # both sides are drawn from the same calibration curves
    counts = []
    for is_side in (above, ~above):
        rows = np.flatnonzero(is_side)
        rows = rows[np.argsort(log_odds[rows])]
        bins = np.array_split(rows, min(MAX_BINS, len(rows))) if len(rows) else []
        centres = np.array([np.average(log_odds[part], weights=weights[part]) for part in bins])
        sizes = np.array([round(weights[part].sum()) for part in bins], dtype=np.int64)
        curve_rng = np.random.default_rng(curve_seed)
        probability = calibration.sample_probabilities(centres, N_DRAWS, curve_rng)
        counts.append(rng.binomial(sizes, probability).sum(axis=1).astype(np.float64))
    return counts[0], counts[1]
