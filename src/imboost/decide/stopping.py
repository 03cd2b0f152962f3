"""Stopping rule: whether more answers are worth asking for."""

from __future__ import annotations

from dataclasses import dataclass

from imboost.decide.estimates import Outcome

SUFFICIENT_RECALL = 0.65
"""Estimated recall at which to stop. Far below 1, since the estimates are conservative and the
outliers missed by then are mostly ones that the detector cannot separate from inliers."""

MIN_RECALL = 0.4
"""Lower end of its interval from which on to stop. Chosen on 28 ADBench sets, three seeds: 93% of
what five rounds find is found at the first advice to stop, 89% without this condition."""


@dataclass(frozen=True)
class Advice:
    """Whether to stop asking, and why, in one sentence."""

    should_stop: bool
    reason: str

    def __str__(self) -> str:
        return f"{'Stop' if self.should_stop else 'Go on'}: {self.reason}"


def advise(outcome: Outcome) -> Advice:
    """Advise by the estimated recall and number of missed outliers.

    >>> from imboost.decide import Estimate, Outcome
    >>> missed = Estimate(4.0, 1.0, 9.0)
    >>> outcome = Outcome(900, 60, 20, Estimate(0.9, 0.8, 1.0), missed, Estimate(0.93, 0.87, 0.98))
    >>> print(advise(outcome))
    Stop: about 93% of all outliers are found (87% to 98%); about 4 (1 to 9) are missed.
    """
    missed, recall = outcome.n_missed, outcome.recall
    n_missed = f"about {missed.value:,.0f} ({missed.low:,.0f} to {missed.high:,.0f}) are missed"
    if missed.high < 1:
        return Advice(True, "no outlier seems to be left below the threshold.")
    if outcome.n_labelled_outliers == 0:
        return Advice(False, "it is too early to say how many outliers are left.")
    found = f"about {recall.value:.0%} of all outliers are found"
    found += f" ({recall.low:.0%} to {recall.high:.0%})"
    if recall.high < 0.01:
        found = "less than 1% of all outliers are found"
    should_stop = recall.value >= SUFFICIENT_RECALL and recall.low >= MIN_RECALL
    return Advice(should_stop, f"{found}; {n_missed}.")
