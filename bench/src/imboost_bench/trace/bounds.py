"""Check that a quantity of a trace stays below, or above, some constant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imboost_bench.trace.finding import NO_UPDATE, ClaimStatus, Finding, change, number
from imboost_bench.trace.phases import Reading

if TYPE_CHECKING:
    from pandas import Series

TOLERANCE = 2.0  # factor by which an extreme may change before it counts as growing or shrinking


def stays_bounded(
    source: str, claim: str, reading: Reading, values: Series, name: str, *, below: bool
) -> Finding:
    """Check that the maximum (or, not `below`, the minimum) of the values does not drift.

    Any finite trace has a bound. The check is that the extreme after the first quarter of the
    updates is within a factor `TOLERANCE` of that of the first quarter. Without values it cannot
    be made, nor if a maximum grows from 0, which is by no factor.
    """
    known = values.dropna()
    if known.empty:
        text = f"No update of the run can show the {name.rstrip(',')}."
        return Finding(source, claim, ClaimStatus.UNDECIDED, NO_UPDATE, text, reading.losses)
    n_early = max(len(known) // 4, 1)
    early, late = known.iloc[:n_early], known.iloc[n_early:] if len(known) > 1 else known
    word = "max" if below else "min"
    start, end = (float(getattr(part, word)()) for part in (early, late))
    extreme, at = getattr(known, word)(), getattr(known, f"idx{word}")()
    text = (
        f"The {'largest' if below else 'smallest'} {name} is {number(extreme)}, at update {at}. "
        f"It is {number(start)} in the first quarter of the updates and {number(end)} later."
    )
    is_steady = end <= TOLERANCE * start if below else end * TOLERANCE >= start
    outcome = ClaimStatus.HELD if is_steady and (below or extreme > 0) else ClaimStatus.FAILED
    if below and start == 0 < end:
        outcome = ClaimStatus.UNDECIDED
        text += " A growth from 0 is by no factor."
    return Finding(source, claim, outcome, f"{word} {change(start, end)}", text, reading.losses)
