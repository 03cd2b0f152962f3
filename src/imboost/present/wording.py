"""The sentences about facts; no other module makes sentences of them."""

from __future__ import annotations

from imboost.decide import Outcome


def advice_text(outcome: Outcome) -> str:
    """Say whether to continue asking, and why.

    >>> from imboost.decide import Estimate, Outcome
    >>> missed = Estimate(4.0, 1.0, 9.0)
    >>> outcome = Outcome(900, 60, 20, Estimate(0.9, 0.8, 1.0), missed, Estimate(0.93, 0.87, 0.98))
    >>> advice_text(outcome)
    'Stop: about 93% of all outliers are found (87% to 98%); about 4 (1 to 9) are missed.'
    """
    return f"{'Stop' if outcome.should_stop else 'Go on'}: {_reason(outcome)}"


def _reason(outcome: Outcome) -> str:
    missed, recall = outcome.n_missed, outcome.recall
    if outcome.none_left:
        return "no outlier seems to be left below the threshold."
    if outcome.n_labelled_outliers == 0:
        return "it is too early to say how many outliers are left."
    found = f"about {recall.value:.0%} of all outliers are found"
    found += f" ({recall.low:.0%} to {recall.high:.0%})"
    if recall.high < 0.01:
        found = "less than 1% of all outliers are found"
    n_missed = f"about {missed.value:,.0f} ({missed.low:,.0f} to {missed.high:,.0f}) are missed"
    return f"{found}; {n_missed}."
