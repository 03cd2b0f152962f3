"""Check every proposition, lemma and assumption of the paper against a trace.

The propositions bound the decrease of a risk at every update, for losses between 0 and 1, decaying
weights and a suitable learning rate. A negative log-likelihood is not bounded below. The checks
are therefore made with losses as they are and scaled to [0, 1]; where the scale makes no
difference, once.
"""

from __future__ import annotations

from imboost.benchmark.trace import assumptions, lemmas, propositions
from imboost.benchmark.trace.finding import Finding
from imboost.benchmark.trace.phases import AS_THEY_ARE, SCALED, Reading
from imboost.benchmark.trace.recording import Trace


def check_claims(trace: Trace) -> list[Finding]:
    """Check the claims; traces with the same phases have findings in the same order."""
    plain, scaled = Reading.of(trace, AS_THEY_ARE), Reading.of(trace, SCALED)
    return [
        *propositions.check(plain, scaled),
        *lemmas.check(plain, scaled),
        *assumptions.check(plain, scaled),
    ]
