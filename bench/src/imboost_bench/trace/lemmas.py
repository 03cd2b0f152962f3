"""Lemmas 1 to 5: outliers below the threshold, concentration, and the balance of answers."""

from __future__ import annotations

import math
from dataclasses import replace

from imboost.present.formatting import percent
from imboost_bench.trace.bounds import stays_bounded
from imboost_bench.trace.finding import ClaimStatus, Finding, grade, number
from imboost_bench.trace.phases import Reading, fraction, fraction_error, quarters
from imboost_bench.trace.recording import PhaseKind

N_ERRORS = 2.0  # standard errors that a change of a fraction of sampled rows must exceed

PROVED = (
    "It is a theorem about sums of independent random variables, true of any data, and a step in "
    "the proofs of lemma 4 and proposition 2. There is nothing to measure."
)


def check(plain: Reading, scaled: Reading) -> list[Finding]:
    """Check lemmas 1 and 4, which are about the training; the others are true of any data."""
    return [
        _few_outliers_below(scaled),
        _proved("Lemma 2", "A sum of bounded variables rarely exceeds its mean by much."),
        _proved("Lemma 3", "A sum of random vectors with mean 0 is rarely long."),
        *_kept_rows(plain),
        _outliers_leave(plain),
        _answers_balanced(plain),
    ]


def _proved(source: str, claim: str) -> Finding:
    return Finding(source, claim, ClaimStatus.PROVED, "nothing to measure", PROVED)


def _few_outliers_below(scaled: Reading) -> Finding:
    claim = "The fraction of outliers with a loss of at most R is at most a4 R; R: inlier risk."
    apart = scaled.memorized
    values = apart["outliers_below"] / apart["inlier_risk"].where(apart["inlier_risk"] > 0)
    name = "ratio of that fraction to the inlier risk, of models with a higher outlier risk,"
    found = stays_bounded("Lemma 1", claim, scaled, values, name, below=True)
    if apart.empty:
        return found
    first, last = apart.iloc[0], apart.iloc[-1]
    text = (
        f"{found.details} The fraction itself is {percent(first['outliers_below'])} at update "
        f"{first['update']} and {percent(last['outliers_below'])} at the last."
    )
    return Finding("Lemma 1", claim, found.outcome, found.figures, text, scaled.losses)


def _kept_rows(plain: Reading) -> list[Finding]:
    """Check both bounds of lemma 4 at all updates with a trimmed loss."""
    updates = plain.frame[plain.frame["phase"] != PhaseKind.PLAIN]
    first_size = plain.trace.updates[0].batch_size
    inliers = stays_bounded(
        "Lemma 4",
        "Inliers kept by trimming are at least M1 nₜ; nₜ: batch size.",
        plain,
        updates["kept_inliers"] / updates["batch_size"],
        "number of inliers kept by trimming, divided by the batch size,",
        below=False,
    )
    outliers = stays_bounded(
        "Lemma 4",
        "Outliers kept by trimming are at most M2 n₀, however large the batch; n₀: first batch.",
        plain,
        updates["kept_outliers"] / first_size,
        f"number of outliers kept by trimming, divided by the first batch size ({first_size}),",
        below=True,
    )
    scope = "The updates are those of the trimmed warm-up and of all rounds."
    return [
        replace(found, details=f"{found.details} {scope}", losses="")
        for found in (inliers, outliers)
    ]


def _outliers_leave(plain: Reading) -> Finding:
    trace, trimmed, last_round = plain.trace, plain.trimmed, plain.rounds[-1]
    early, late = quarters(trimmed.updates)
    start, end = (fraction(part, "kept_outliers", "kept") for part in (early, late))
    error = N_ERRORS * fraction_error(early, late)
    kept_early, kept_late, kept_last = (
        percent(fraction(updates, "kept_outliers", "batch_outliers"))
        for updates in (early, late, last_round.updates)
    )
    text = (
        f"In the first quarter of the trimmed warm-up {percent(start)} of the rows kept by "
        f"trimming are outliers, in the last quarter {percent(end)}; the change is "
        f"{'more' if abs(end - start) > error else 'not more'} than two standard errors "
        f"({percent(error)}). {percent(trace.contamination)} of the training rows are outliers. "
        f"{kept_early} of the outliers in the batches are kept by trimming in the first quarter, "
        f"{kept_late} in the last quarter and {kept_last} in the last round."
    )
    claim = "Main text: in the warm-up, outliers are a decreasing fraction of the kept rows."
    figures = f"{percent(start)} → {percent(end)}; {percent(trace.contamination)} of all rows"
    outcome = grade(start - end > error, end < trace.contamination)
    return Finding("Lemma 4", claim, outcome, figures, text)


def _answers_balanced(plain: Reading) -> Finding:
    """Measure the balance of the answers, which lemma 5 makes a recommendation about."""
    detector = plain.trace.detector
    weights = detector.inlier_weight, detector.outlier_weight
    ends = [phase.last for phase in plain.rounds]
    answers = [(int(end["answered_inliers"]), int(end["answered_outliers"])) for end in ends]
    factors = [imbalance(*own, *weights) for own in answers]
    by_round = "; ".join(
        f"{phase.name}: {inliers} and {outliers} ({number(factor)})"
        for phase, (inliers, outliers), factor in zip(plain.rounds, answers, factors, strict=True)
    )
    best = weights[0] / (sum(weights) or 1.0)
    text = (
        f"It is calculus, true of any numbers. The paper concludes that the outlier risk rises "
        f"most with answers in proportion to the weights: with {weights[0]:g} and {weights[1]:g}, "
        f"if {percent(best)} of them are inliers. It does not claim that the questions lead to "
        f"such answers. Answered inliers and outliers, and the square root of λ₁²/|I| + λ₂²/|O| "
        f"divided by that of its minimum – {by_round}."
    )
    claim = "u₁²/a + u₂²/(n − a) is least at a = u₁n/(u₁ + u₂); a: inliers among n answers."
    share = answers[-1][0] / max(sum(answers[-1]), 1)
    figures = f"{percent(share)} inliers, best {percent(best)}; {number(factors[-1])} × minimum"
    return Finding("Lemma 5", claim, ClaimStatus.PROVED, figures, text)


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
