"""Whether more answers are worth their while."""

from __future__ import annotations

from dataclasses import dataclass

from imboost.decide.estimates import Estimate, Outcome

ENOUGH = 0.65
"""With so much of all outliers found, by estimate, more answers are seldom worth it: estimates
are careful, and what is left is what the detector cannot tell from usual rows."""


@dataclass(frozen=True)
class Advice:
    """Go on or stop, and why.

    Parameters
    ----------
    is_stop : bool
    reason : str
        One sentence.
    """

    is_stop: bool
    reason: str

    def __str__(self) -> str:
        return f"{'Stop' if self.is_stop else 'Go on'}: {self.reason}"


def advise(outcome: Outcome) -> Advice:
    """Advise by how many outliers are found and how many are not.

    >>> few = Estimate(4.0, 1.0, 9.0)
    >>> outcome = Outcome(900, 60, 20, Estimate(0.9, 0.8, 1.0), few, Estimate(0.93, 0.87, 0.98))
    >>> print(advise(outcome))
    Stop: about 93 % of all outliers are found (87 to 98 %); some 4 (1 to 9) are not.
    """
    if outcome.n_unfound.high < 1:
        return Advice(True, "no outlier seems to be left below the threshold.")
    if outcome.n_known == 0:
        return Advice(
            False,
            "no answer says outlier yet, and so probabilities rest on what was assumed: by that "
            f"some {_counted(outcome.n_unfound)} are not found.",
        )
    found = outcome.share_found
    text = (
        f"about {100 * found.value:.0f} % of all outliers are found ({100 * found.low:.0f} to "
        f"{100 * found.high:.0f} %); some {_counted(outcome.n_unfound)} are not."
    )
    return Advice(found.value >= ENOUGH, text)


def _counted(count: Estimate) -> str:
    return f"{count.value:,.0f} ({count.low:,.0f} to {count.high:,.0f})"
