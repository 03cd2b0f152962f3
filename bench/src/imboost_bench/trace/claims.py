"""Check every proposition, lemma and assumption of the paper against a trace.

The propositions bound the decrease of a risk at every update, for losses between 0 and 1, decaying
weights and a suitable learning rate. A negative log-likelihood is not bounded below. Constants of
the theory are therefore checked with losses scaled to [0, 1] by the extremes of the run. Such a
scale does not change which way a risk moves, so the propositions are checked with losses as they
are, and also with the losses of every update scaled by themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

from imboost.present.formatting import percent
from imboost_bench.trace.phases import (
    AS_THEY_ARE,
    SCALED,
    SCALED_EACH,
    Phase,
    Reading,
    fraction,
    fraction_error,
    quarters,
    true_since,
)
from imboost_bench.trace.recording import PhaseKind, Trace

if TYPE_CHECKING:
    from pandas import Series

MOST = 0.5  # fraction of the updates above which a claim counts as true for most of them
N_ERRORS = 2.0  # standard errors that a change of a fraction of sampled rows must exceed
TOLERANCE = 2.0  # factor by which an extreme may change before it counts as growing or shrinking
NO_UPDATE = "no such update"  # figures of a claim about models that the run does not have


class ClaimStatus(StrEnum):
    """Whether a claim held."""

    HELD = "held"
    PARTLY = "held in part"
    FAILED = "did not hold"
    UNDECIDED = "cannot be judged"
    PROVED = "proved"


@dataclass(frozen=True)
class Finding:
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
    plain, scaled, each = (Reading.of(trace, name) for name in (AS_THEY_ARE, SCALED, SCALED_EACH))
    apart, risk = scaled.memorized, scaled.memorized["inlier_risk"]
    trimmed = plain.frame[plain.frame["phase"] != PhaseKind.PLAIN]
    return [
        *(_risk_moves(r, "Proposition 1", "inlier", r.trimmed) for r in (plain, each)),
        _falls_by_factor(scaled, "Proposition 1", scaled.trimmed),
        *(_risk_moves(r, "Proposition 2", "inlier", r.polarization) for r in (plain, each)),
        _falls_by_factor(scaled, "Proposition 2", scaled.polarization),
        *(_risk_moves(r, "Proposition 2", "outlier", r.polarization) for r in (plain, each)),
        _both_at_once(plain),
        _both_at_once(each),
        _stays_bounded(
            "Lemma 1",
            "The fraction of outliers with a loss of at most R is at most a4 R; R: inlier risk.",
            apart["outliers_below"] / risk.where(risk > 0),
            SCALED,
        ),
        _proved("Lemma 2", "A sum of bounded variables rarely exceeds its mean by much."),
        _proved("Lemma 3", "A sum of random vectors with mean 0 is rarely long."),
        _stays_bounded(
            "Lemma 4",
            "Inliers kept by trimming are at least M1 nₜ; nₜ: batch size.",
            trimmed["kept_inliers"] / trimmed["batch_size"],
            below=False,
        ),
        _stays_bounded(
            "Lemma 4",
            "Outliers kept by trimming are at most M2 n₀, however large the batch; "
            "n₀: first batch.",
            trimmed["kept_outliers"] / trace.updates[0].batch_size,
        ),
        _outliers_leave(plain),
        _answers_balanced(plain),
        _memorization(plain),
        _stays_bounded(
            "Assumption 2.1",
            "The gradient of every row's loss is bounded by a constant G.",
            plain.frame["largest_gradient"],
            AS_THEY_ARE,
        ),
        _stays_bounded(
            "Assumption 2.2",
            "Both risks are smooth: their gradients are Lipschitz with a constant L.",
            plain.frame[["inlier_smoothness", "outlier_smoothness"]].max(axis=1),
            AS_THEY_ARE,
        ),
        _stays_bounded(
            "Assumption 2.3",
            "The gradient of the inlier risk dominates it: 2μ R ≤ |∇R|² with a constant μ > 0.",
            scaled.frame["dominance"],
            SCALED,
            below=False,
        ),
        _stays_bounded(
            "Assumption 3",
            "The mean square root of inliers' losses is below √R by a uniform margin c.",
            scaled.frame["margin"],
            SCALED,
            below=False,
        ),
        _gradients_oppose(plain),
        _stays_bounded(
            "Assumption 4",
            "The gradient of the outlier risk stays away from 0.",
            plain.memorized["outlier_gradient_norm"],
            AS_THEY_ARE,
            below=False,
        ),
    ]


def _proved(source: str, claim: str) -> Finding:
    """Return the finding about a theorem of probability, which is true of any data."""
    return Finding(source, claim, ClaimStatus.PROVED, "nothing to measure")


def _risk_moves(reading: Reading, source: str, kind: str, phase: Phase) -> Finding:
    """Check that the inlier risk falls, or the outlier risk rises, in a phase."""
    verb, verbs, sign = ("fell", "falls", -1) if kind == "inlier" else ("rose", "rises", 1)
    risks, medians = (
        (phase.before[f"{kind}_{of}"], phase.last[f"{kind}_{of}"]) for of in ("risk", "median")
    )
    in_updates = phase.updates[f"{kind}_{verb}"].mean()
    name = "warm-up" if source == "Proposition 1" else "polarization"
    return Finding(
        source,
        f"The {kind} risk {verbs} in the {name}.",
        _grade(sign * (risks[1] - risks[0]) > 0, in_updates > MOST),
        f"{_change(*risks)}, {verb} at {percent(in_updates)}; median {_change(*medians)}",
        reading.losses,
    )


def _falls_by_factor(scaled: Reading, source: str, phase: Phase) -> Finding:
    """Check the inequality of a proposition: the inlier risk falls at least by the factor 1/gamma.

    The losses are scaled, since the inequality is about risks above 0. In the paper gamma is the
    growth of the batch size per update and in training per epoch, so the factor is that of an
    epoch.
    """
    gamma = scaled.trace.detector.batch_growth
    ends = [phase.before["inlier_risk"], *phase.updates.groupby("epoch")["inlier_risk"].last()]
    n_epochs = len(ends) - 1
    in_epochs = sum(after <= before / gamma for before, after in pairwise(ends)) / n_epochs
    overall = (ends[-1] / ends[0]) ** (1 / n_epochs) if ends[0] > 0 else 1.0
    name = "warm-up" if source == "Proposition 1" else "polarization"
    return Finding(
        source,
        f"The inlier risk falls by a factor of {gamma:g} per epoch of the {name}.",
        _grade(overall <= 1 / gamma, in_epochs > MOST),
        f"{percent(in_epochs)} of epochs; {number(overall)} per epoch",
        scaled.losses,
    )


def _both_at_once(reading: Reading) -> Finding:
    overall, *by_round = (
        bool(
            phase.last["inlier_risk"] < phase.before["inlier_risk"]
            and phase.last["outlier_risk"] > phase.before["outlier_risk"]
        )
        for phase in (reading.polarization, *reading.rounds)
    )
    return Finding(
        "Proposition 2",
        "Both at once: the inlier risk falls and the outlier risk rises.",
        _grade(overall, all(by_round), any(by_round)),
        f"{sum(by_round)} of {len(by_round)} rounds; "
        f"{percent(reading.polarization.updates['both'].mean())} of updates",
        reading.losses,
    )


def _stays_bounded(
    source: str, claim: str, values: Series, losses: str = "", *, below: bool = True
) -> Finding:
    """Check that the maximum (or, not `below`, the minimum) of the values does not drift.

    Any finite trace has a bound. The check is that the extreme after the first quarter of the
    updates is within a factor `TOLERANCE` of that of the first quarter. Without values it cannot
    be made, nor if a maximum grows from 0, which is by no factor.
    """
    known = values.dropna()
    if known.empty:
        return Finding(source, claim, ClaimStatus.UNDECIDED, NO_UPDATE, losses)
    n_early = max(len(known) // 4, 1)
    early, late = known.iloc[:n_early], known.iloc[n_early:] if len(known) > 1 else known
    word = "max" if below else "min"
    start, end = (float(getattr(part, word)()) for part in (early, late))
    is_steady = end <= TOLERANCE * start if below else end * TOLERANCE >= start > 0 < end
    outcome = ClaimStatus.HELD if is_steady else ClaimStatus.FAILED
    if below and start == 0 < end:
        outcome = ClaimStatus.UNDECIDED
    return Finding(source, claim, outcome, f"{word} {_change(start, end)}", losses)


def _outliers_leave(plain: Reading) -> Finding:
    early, late = quarters(plain.trimmed.updates)
    start, end = (fraction(part, "kept_outliers", "kept") for part in (early, late))
    error, share = N_ERRORS * fraction_error(early, late), plain.trace.contamination
    return Finding(
        "Lemma 4",
        "Main text: in the warm-up, outliers are a decreasing fraction of the kept rows.",
        _grade(start - end > error, end < share),
        f"{percent(start)} → {percent(end)} (± {percent(error)}); {percent(share)} of all rows",
    )


def _answers_balanced(plain: Reading) -> Finding:
    """Measure the balance of the answers, which lemma 5 makes a recommendation about.

    The lemma is calculus. The paper concludes that the outlier risk rises most with answers in
    proportion to the weights; it does not claim that the questions lead to such answers.
    """
    detector, last = plain.trace.detector, plain.rounds[-1].last
    weights = detector.inlier_weight, detector.outlier_weight
    answers = int(last["answered_inliers"]), int(last["answered_outliers"])
    share, best = answers[0] / max(sum(answers), 1), weights[0] / (sum(weights) or 1.0)
    return Finding(
        "Lemma 5",
        "u₁²/a + u₂²/(n − a) is least at a = u₁n/(u₁ + u₂); a: inliers among n answers.",
        ClaimStatus.PROVED,
        f"{percent(share)} inliers, best {percent(best)}; "
        f"{number(imbalance(*answers, *weights))} × minimum",
    )


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


def _memorization(plain: Reading) -> Finding:
    claim = "Once inliers are memorized, the outlier risk is above the inlier risk."
    since = true_since(plain.frame["outlier_risk_is_higher"])
    if since is None:
        return Finding("Assumption 1", claim, ClaimStatus.FAILED, "not at the end")
    start = plain.trimmed.first["update"]
    figures = f"from update {since} on, trimming from {start} on"
    return Finding("Assumption 1", claim, _grade(True, since <= start), figures)


def _gradients_oppose(plain: Reading) -> Finding:
    claim = "The gradients of the two risks oppose each other: an inner product of at most −c₂."
    is_opposed = plain.memorized["is_opposed"]
    if is_opposed.empty:
        return Finding("Assumption 4", claim, ClaimStatus.UNDECIDED, NO_UPDATE)
    share = is_opposed.mean()
    figures = f"negative at {percent(share)} of {len(is_opposed)} updates"
    return Finding("Assumption 4", claim, _grade(share > MOST, share == 1.0), figures)


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
