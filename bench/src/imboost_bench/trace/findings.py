"""Check every proposition, lemma and assumption of the paper against a trace.

The propositions bound the decrease of a risk at every update, for losses between 0 and 1, decaying
weights and a suitable learning rate. A negative log-likelihood is not bounded below. Constants of
the theory are therefore checked with losses scaled to [0, 1] by the extremes of the run. Such a
scale does not change which way a risk moves, so the propositions are checked with losses as they
are, and also with the losses of every update scaled by themselves.
"""

from __future__ import annotations

from imboost_bench.trace import assumptions, lemmas, propositions
from imboost_bench.trace.finding import Finding
from imboost_bench.trace.phases import AS_THEY_ARE, SCALED, SCALED_EACH, Reading
from imboost_bench.trace.recording import Trace


def check_claims(trace: Trace) -> list[Finding]:
    """Check the claims; traces with the same phases have findings in the same order."""
    plain, scaled, scaled_each = (
        Reading.of(trace, losses) for losses in (AS_THEY_ARE, SCALED, SCALED_EACH)
    )
    return [
        *propositions.check(plain, scaled, scaled_each),
        *lemmas.check(plain, scaled),
        *assumptions.check(plain, scaled),
    ]
