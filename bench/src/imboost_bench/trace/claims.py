"""Check every proposition, lemma and assumption of the paper against a trace.

The propositions bound the decrease of a risk at every update, for losses between 0 and 1, decaying
weights and a suitable learning rate. A negative log-likelihood is not bounded below. Constants of
the theory are therefore checked with losses scaled to [0, 1] by the extremes of the run. Such a
scale does not change which way a risk moves, so the propositions are checked with losses as they
are, and also with the losses of every update scaled by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from imboost.present.formatting import percent
from imboost_bench.paper import paper_claims
from imboost_bench.trace.phases import (
    AS_THEY_ARE,
    SCALED,
    SCALED_EACH,
    SMOOTHNESS,
    Phase,
    Reading,
    fraction,
)
from imboost_bench.trace.recording import Trace

if TYPE_CHECKING:
    from pandas import DataFrame, Series

MOST = 0.5  # fraction of the updates above which a claim counts as true for most of them
N_ERRORS = 2.0  # standard errors that a change of a fraction of sampled rows must exceed
TOLERANCE = 2.0  # factor by which an extreme may change before it counts as growing or shrinking


class ClaimStatus(StrEnum):
    """Whether a claim held."""

    HELD = "held"
    PARTLY = "held in part"
    FAILED = "did not hold"
    UNDECIDED = "cannot be judged"
    PROVED = "proved"


Result = tuple[ClaimStatus, str]  # the outcome of a claim and its main numbers

NO_UPDATE: Result = ClaimStatus.UNDECIDED, "no such update"
CHECKS: dict[str, Callable[[Reading], Result]] = {
    "inlier risk, warm-up": lambda trace: _risk_moves("inlier", trace.warmup),
    "inlier risk, polarization": lambda trace: _risk_moves("inlier", trace.polarization),
    "outlier risk, polarization": lambda trace: _risk_moves("outlier", trace.polarization),
    "factor, warm-up": lambda trace: _falls_by_factor(trace.warmup, trace.gamma),
    "factor, polarization": lambda trace: _falls_by_factor(trace.polarization, trace.gamma),
    "both risks": lambda trace: _both_at_once(trace),
    "proved": lambda _: (ClaimStatus.PROVED, "nothing to measure"),
    "outliers below": lambda trace: _bounded("max", trace.memorized["outliers_below_by_risk"]),
    "kept inliers": lambda trace: _bounded("min", trace.trimmed["kept_inliers_by_batch"]),
    "kept outliers": lambda trace: _bounded("max", trace.trimmed["kept_outliers_by_first"]),
    "outliers leave": lambda trace: _outliers_leave(trace),
    "balance": lambda trace: _answers_balanced(trace),
    "memorization": lambda trace: _memorization(trace),
    "gradients of rows": lambda trace: _bounded("max", trace.frame["largest_gradient"]),
    "smoothness": lambda trace: _bounded("max", trace.frame[SMOOTHNESS].max(axis=1)),
    "dominance": lambda trace: _bounded("min", trace.frame["dominance"]),
    "margin": lambda trace: _bounded("min", trace.frame["margin"]),
    "opposed gradients": lambda trace: _gradients_oppose(trace.memorized["is_opposed"]),
    "outlier gradient": lambda trace: _bounded("min", trace.memorized["outlier_gradient_norm"]),
}
"""How each of the claims of `paper_tables/claims.csv` is checked."""


class Finding(NamedTuple):
    """A claim of the paper, its outcome and its main numbers.

    `losses` is the scale of the losses, "" if it makes no difference.
    """

    source: str
    claim: str
    outcome: ClaimStatus
    figures: str
    losses: str = ""


def check_claims(trace: Trace) -> list[Finding]:
    """Check the claims; traces with the same phases have findings in the same order."""
    readings = {name: Reading(trace, name) for name in (AS_THEY_ARE, SCALED, SCALED_EACH)}
    readings[""] = readings[AS_THEY_ARE]  # claims for which the scale makes no difference
    return [
        Finding(
            claim.source,
            claim.claim.format(gamma=readings[""].gamma),
            *CHECKS[claim.Index](readings[claim.losses]),
            claim.losses,
        )
        for claim in paper_claims().itertuples()
    ]


def _risk_moves(kind: str, phase: Phase) -> Result:
    """Check that the inlier risk falls, or the outlier risk rises, in a phase."""
    verb, sign = ("fell", -1) if kind == "inlier" else ("rose", 1)
    risks, medians = (
        (phase.before[f"{kind}_{of}"], phase.last[f"{kind}_{of}"]) for of in ("risk", "median")
    )
    in_updates = phase.updates[f"{kind}_{verb}"].mean()
    return (
        _grade(sign * (risks[1] - risks[0]) > 0, in_updates > MOST),
        f"{_change(*risks)}, {verb} at {percent(in_updates)}; median {_change(*medians)}",
    )


def _falls_by_factor(phase: Phase, gamma: float) -> Result:
    """Check the inequality of a proposition: the inlier risk falls at least by the factor 1/gamma.

    The losses are scaled, since the inequality is about risks above 0. In the paper gamma is the
    growth of the batch size per update and in training per epoch, so the factor is that of an
    epoch.
    """
    ends = [phase.before["inlier_risk"], *phase.updates.groupby("epoch")["inlier_risk"].last()]
    n_epochs = len(ends) - 1
    in_epochs = sum(after <= before / gamma for before, after in pairwise(ends)) / n_epochs
    overall = (ends[-1] / ends[0]) ** (1 / n_epochs) if ends[0] > 0 else 1.0
    figures = f"{percent(in_epochs)} of epochs; {number(overall)} per epoch"
    return _grade(overall <= 1 / gamma, in_epochs > MOST), figures


def _both_at_once(reading: Reading) -> Result:
    overall, *by_round = (
        bool(
            phase.last["inlier_risk"] < phase.before["inlier_risk"]
            and phase.last["outlier_risk"] > phase.before["outlier_risk"]
        )
        for phase in (reading.polarization, *reading.rounds)
    )
    in_updates = percent(reading.polarization.updates["both"].mean())
    figures = f"{sum(by_round)} of {len(by_round)} rounds; {in_updates} of updates"
    return _grade(overall, all(by_round), any(by_round)), figures


def _bounded(word: Literal["min", "max"], values: Series) -> Result:
    """Check that the minimum or the maximum of the values does not drift.

    Any finite trace has a bound. The check is that the extreme after the first quarter of the
    updates is within a factor `TOLERANCE` of that of the first quarter. Without values it cannot
    be made, nor if a maximum grows from 0, which is by no factor.
    """
    known = values.dropna()
    if known.empty:
        return NO_UPDATE
    n_early = max(len(known) // 4, 1)
    early, late = known.iloc[:n_early], known.iloc[n_early:] if len(known) > 1 else known
    start, end = (float(part.agg(word)) for part in (early, late))
    is_min = word == "min"
    is_steady = end * TOLERANCE >= start > 0 < end if is_min else end <= TOLERANCE * start
    outcome = ClaimStatus.HELD if is_steady else ClaimStatus.FAILED
    if not is_min and start == 0 < end:
        outcome = ClaimStatus.UNDECIDED
    return outcome, f"{word} {_change(start, end)}"


def _outliers_leave(reading: Reading) -> Result:
    updates = reading.warmup.updates
    size = max(len(updates) // 4, 1)
    quarters = updates.iloc[:size], updates.iloc[-size:]
    start, end = (fraction(part, "kept_outliers", "kept") for part in quarters)
    error, share = N_ERRORS * _fraction_error(*quarters), reading.trace.contamination
    figures = (
        f"{percent(start)} → {percent(end)} (± {percent(error)}); {percent(share)} of all rows"
    )
    return _grade(start - end > error, end < share), figures


def _fraction_error(first: DataFrame, second: DataFrame) -> float:
    """Return the standard error of the difference between two fractions of kept outliers.

    The rows kept by trimming count as independent draws from one population.
    """
    sizes = [max(updates["kept"].sum(), 1) for updates in (first, second)]
    n_outliers = first["kept_outliers"].sum() + second["kept_outliers"].sum()
    pooled = n_outliers / max(first["kept"].sum() + second["kept"].sum(), 1)
    return math.sqrt(pooled * (1 - pooled) * sum(1 / size for size in sizes))


def _answers_balanced(reading: Reading) -> Result:
    """Measure the balance of the answers, which lemma 5 makes a recommendation about.

    The lemma is calculus. The paper concludes that the outlier risk rises most with answers in
    proportion to the weights; it does not claim that the questions lead to such answers.
    """
    detector, last = reading.trace.detector, reading.rounds[-1].last
    weights = detector.inlier_weight, detector.outlier_weight
    answers = int(last["answered_inliers"]), int(last["answered_outliers"])
    share, best = answers[0] / max(sum(answers), 1), weights[0] / (sum(weights) or 1.0)
    factor = number(imbalance(*answers, *weights))
    figures = f"{percent(share)} inliers, best {percent(best)}; {factor} × minimum"
    return ClaimStatus.PROVED, figures


def imbalance(
    n_inliers: int, n_outliers: int, inlier_weight: float, outlier_weight: float
) -> float:
    """Return the error term of lemma 5, relative to its minimum for as many answers.

    The term is the square root of u1²/a + u2²/(n - a) for a answered inliers of n answers. It is
    infinite if a kind with a weight has no answer.

    >>> imbalance(20, 10, 2.0, 1.0), round(imbalance(10, 20, 2.0, 1.0), 3)
    (1.0, 1.225)
    """
    pairs = ((inlier_weight, n_inliers), (outlier_weight, n_outliers))
    if any(weight > 0 and count == 0 for weight, count in pairs):
        return math.inf
    term = sum(weight**2 / count for weight, count in pairs if weight > 0)
    least = (inlier_weight + outlier_weight) ** 2 / max(n_inliers + n_outliers, 1)
    return math.sqrt(term / least) if least else 1.0


def _memorization(reading: Reading) -> Result:
    is_always = reading.frame["outlier_risk_is_higher"][::-1].cummin()[::-1]
    if not is_always.iloc[-1]:
        return ClaimStatus.FAILED, "not at the end"
    since, start = is_always.idxmax(), reading.warmup.first["update"]
    figures = f"from update {since} on, trimming from {start} on"
    return _grade(True, since <= start), figures


def _gradients_oppose(is_opposed: Series) -> Result:
    if is_opposed.empty:
        return NO_UPDATE
    share = is_opposed.mean()
    figures = f"negative at {percent(share)} of {len(is_opposed)} updates"
    return _grade(share > MOST, share == 1.0), figures


def _grade(*conditions: bool) -> ClaimStatus:
    """Return whether all of the conditions hold, some or none."""
    if all(conditions):
        return ClaimStatus.HELD
    return ClaimStatus.PARTLY if any(conditions) else ClaimStatus.FAILED


def _change(start: float, end: float) -> str:
    return f"{number(start)} → {number(end)}"


def number(value: float) -> str:
    """Format with about three digits.

    >>> number(-1234.5), number(0.01234), number(float("inf"))
    ('−1,234', '0.0123', '∞')
    """
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return text.replace("-", "−").replace("inf", "∞")
