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
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from imboost.present.formatting import percent
from imboost_bench.paper import paper_claims
from imboost_bench.trace.recording import CHANGES, PhaseKind, Trace

if TYPE_CHECKING:
    from pandas import DataFrame, Series

AS_THEY_ARE, SCALED, SCALED_EACH = "as they are", "scaled to [0, 1]", "scaled at each update"
"""Losses as they are, scaled by the extremes of the run, and by those of every update."""

HELD, PARTLY, FAILED = "held", "held in part", "did not hold"
UNDECIDED, PROVED = "cannot be judged", "proved"
Result = tuple[str, str]  # one of these outcomes of a claim, and its main numbers

MOST = 0.5  # fraction of the updates above which a claim counts as true for most of them
N_ERRORS = 2.0  # standard errors that a change of a fraction of sampled rows must exceed
TOLERANCE = 2.0  # factor by which an extreme may change before it counts as growing or shrinking

SMOOTHNESS = ["inlier_smoothness", "outlier_smoothness"]
_LOSSES = ["inlier_risk", "outlier_risk", "inlier_median", "outlier_median"]
_GRADIENTS = ["inlier_gradient_norm", "outlier_gradient_norm", "largest_gradient", *CHANGES]

NO_UPDATE: Result = UNDECIDED, "no such update"


class Finding(NamedTuple):
    """A claim of the paper, its outcome and its main numbers."""

    source: str
    claim: str
    outcome: str
    figures: str
    losses: str = ""  # their scale, "" if it makes no difference


def check_claims(trace: Trace) -> list[Finding]:
    """Check the claims; traces with the same phases have findings in the same order."""
    readings = {name: Reading(trace, name) for name in (AS_THEY_ARE, SCALED, SCALED_EACH)}
    readings[""] = readings[AS_THEY_ARE]  # claims for which the scale makes no difference
    return [
        Finding(
            claim.source,
            claim.claim.format(gamma=trace.detector.batch_growth),
            *CHECKS[claim.Index](readings[claim.losses]),
            claim.losses,
        )
        for claim in paper_claims().itertuples()
    ]


class Phase:
    """Successive updates: a part of the warm-up, a round, or several rounds.

    `before` is the update before the phase; the first update itself at the start of a trace.
    """

    def __init__(self, frame: DataFrame, updates: DataFrame) -> None:
        self.updates, self.first, self.last = updates, updates.iloc[0], updates.iloc[-1]
        self.before = frame.loc[max(updates.index[0] - 1, frame.index[0])]


class Reading:
    """A trace as a table with losses in one scale, see `trace_frame`, and its phases by name.

    `memorized` are the updates to models whose outlier risk is above the inlier risk
    (assumption 1), and `trimmed` those with a trimmed loss.
    """

    def __init__(self, trace: Trace, losses: str = AS_THEY_ARE) -> None:
        self.trace, self.detector = trace, trace.detector
        self.gamma = self.detector.batch_growth
        self.frame = frame = trace_frame(trace, losses)
        by_name = frame.groupby("name", sort=False)
        self.phases = {str(name): Phase(frame, updates) for name, updates in by_name}
        by_kind = {kind: frame[frame["phase"] == kind] for kind in PhaseKind}
        self.warmup = Phase(frame, by_kind[PhaseKind.TRIMMED])
        self.polarization = Phase(frame, by_kind[PhaseKind.POLARIZATION])
        self.rounds = [own for own in self.phases.values() if own.first["round"]]
        self.memorized = frame[frame["outlier_risk_is_higher"]]
        self.trimmed = frame[frame["phase"] != PhaseKind.PLAIN]


def trace_frame(trace: Trace, losses: str = AS_THEY_ARE) -> DataFrame:
    """Return one row per update, with what the paper's claims are about as further columns.

    inlier_fell, outlier_rose and both compare the risks with the previous update.
    `outlier_risk_is_higher` is assumption 1, `is_opposed` assumption 4. The smoothness estimates L
    of assumption 2, `dominance` is at least its mu and `margin` at least c of assumption 3. Limits
    of a scale count as constants, so gradients are divided by their difference.
    """
    frame, means = trace.updates.copy(), math.nan
    if losses != AS_THEY_ARE:
        limits = frame[["loss_low", "loss_high"]]
        if losses == SCALED:
            extremes = limits["loss_low"].min(), limits["loss_high"].max()
            limits = limits.assign(loss_low=extremes[0], loss_high=extremes[1])
        low, size = limits["loss_low"], limits["loss_high"] - limits["loss_low"]
        size = size.where(size > 0, 1.0)
        frame[_LOSSES] = frame[_LOSSES].sub(low, axis=0).div(size, axis=0)
        frame[_GRADIENTS] = frame[_GRADIENTS].div(size, axis=0)
        frame["inner_product"] /= size**2
        start, length = (own.to_numpy()[:, None] for own in (low, size))
        scaled = (trace.inlier_losses - start) / length  # (updates, inliers)
        means = np.sqrt(scaled.clip(0.0)).mean(axis=1)
    step = frame["step_norm"].where(frame["step_norm"] > 0)
    frame[SMOOTHNESS] = frame[[*CHANGES]].div(step, axis=0)
    lengths = frame["inlier_gradient_norm"] * frame["outlier_gradient_norm"]
    frame["cosine"] = (frame["inner_product"] / lengths.where(lengths > 0)).fillna(0.0)
    frame["kept"] = frame["kept_inliers"] + frame["kept_outliers"]
    risk = frame["inlier_risk"].where(frame["inlier_risk"] > 0)
    frame["outliers_below_by_risk"] = frame["outliers_below"] / risk
    frame["dominance"] = frame["inlier_gradient_norm"] ** 2 / (2 * risk)
    frame["margin"] = 1 - means / risk**0.5
    frame["kept_inliers_by_batch"] = frame["kept_inliers"] / frame["batch_size"]
    frame["kept_outliers_by_first"] = frame["kept_outliers"] / frame["batch_size"].iloc[0]
    names = {PhaseKind.PLAIN: "plain warm-up", PhaseKind.TRIMMED: "trimmed warm-up"}
    frame["name"] = frame["phase"].map(names).fillna("round " + frame["round"].astype(str))
    frame["outlier_risk_is_higher"] = frame["outlier_risk"] > frame["inlier_risk"]
    frame["is_opposed"] = frame["inner_product"] < 0
    frame["inlier_fell"] = (frame["inlier_risk"].diff() < 0).astype(float)
    frame["outlier_rose"] = (frame["outlier_risk"].diff() > 0).astype(float)
    frame["both"] = frame["inlier_fell"] * frame["outlier_rose"]
    frame.loc[0, ["inlier_fell", "outlier_rose", "both"]] = math.nan
    return frame.set_index("update", drop=False)


CHECKS: dict[str, Callable[[Reading], Result]] = {
    "inlier risk, warm-up": lambda trace: _risk_moves("inlier", trace.warmup),
    "inlier risk, polarization": lambda trace: _risk_moves("inlier", trace.polarization),
    "outlier risk, polarization": lambda trace: _risk_moves("outlier", trace.polarization),
    "factor, warm-up": lambda trace: _falls_by_factor(trace.warmup, trace.gamma),
    "factor, polarization": lambda trace: _falls_by_factor(trace.polarization, trace.gamma),
    "both risks": lambda trace: _both_at_once(trace.polarization, trace.rounds),
    "proved": lambda _: (PROVED, "nothing to measure"),
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
    """Check that the inlier risk, which is above 0, falls at least by the factor 1/gamma.

    In the paper gamma is the growth of the batch size per update, in training per epoch.
    """
    ends = [phase.before["inlier_risk"], *phase.updates.groupby("epoch")["inlier_risk"].last()]
    n_epochs = len(ends) - 1
    in_epochs = sum(after <= before / gamma for before, after in pairwise(ends)) / n_epochs
    overall = (ends[-1] / ends[0]) ** (1 / n_epochs) if ends[0] > 0 else 1.0
    figures = f"{percent(in_epochs)} of epochs; {number(overall)} per epoch"
    return _grade(overall <= 1 / gamma, in_epochs > MOST), figures


def _both_at_once(polarization: Phase, rounds: list[Phase]) -> Result:
    overall, *by_round = (
        bool(
            phase.last["inlier_risk"] < phase.before["inlier_risk"]
            and phase.last["outlier_risk"] > phase.before["outlier_risk"]
        )
        for phase in (polarization, *rounds)
    )
    in_updates = percent(polarization.updates["both"].mean())
    figures = f"{sum(by_round)} of {len(by_round)} rounds; {in_updates} of updates"
    return _grade(overall, all(by_round), any(by_round)), figures


def _bounded(word: Literal["min", "max"], values: Series) -> Result:
    """Check that the extreme after the first quarter of the updates is near that before.

    Without values this cannot be judged, nor if a maximum grows from 0, which is by no factor.
    """
    known = values.dropna()
    if known.empty:
        return NO_UPDATE
    n_early = max(len(known) // 4, 1)
    early, late = known.iloc[:n_early], known.iloc[n_early:] if len(known) > 1 else known
    start, end = (float(part.agg(word)) for part in (early, late))
    is_min = word == "min"
    is_steady = end * TOLERANCE >= start > 0 < end if is_min else end <= TOLERANCE * start
    outcome = HELD if is_steady else FAILED
    if not is_min and start == 0 < end:
        outcome = UNDECIDED
    return outcome, f"{word} {_change(start, end)}"


def _outliers_leave(reading: Reading) -> Result:
    updates = reading.warmup.updates
    size = max(len(updates) // 4, 1)
    counts = updates[["kept_outliers", "kept"]]
    quarters = [part.sum() for part in (counts.iloc[:size], counts.iloc[-size:])]
    start, end = (n_outliers / max(n, 1) for n_outliers, n in quarters)
    # The rows kept by trimming count as independent draws from one population.
    n_outliers, n_rows = sum(quarters)
    pooled = n_outliers / max(n_rows, 1)
    variance = pooled * (1 - pooled) * sum(1 / max(n, 1) for _, n in quarters)
    error, share = N_ERRORS * math.sqrt(variance), reading.trace.contamination
    figures = (
        f"{percent(start)} → {percent(end)} (± {percent(error)}); {percent(share)} of all rows"
    )
    return _grade(start - end > error, end < share), figures


def _answers_balanced(reading: Reading) -> Result:
    """Measure the balance of the answers; lemma 5 says which is best, not that it is reached."""
    detector, last = reading.detector, reading.polarization.last
    weights = detector.inlier_weight, detector.outlier_weight
    answers = int(last["answered_inliers"]), int(last["answered_outliers"])
    share, best = answers[0] / max(sum(answers), 1), weights[0] / (sum(weights) or 1.0)
    factor = number(imbalance(*answers, *weights))
    figures = f"{percent(share)} inliers, best {percent(best)}; {factor} × minimum"
    return PROVED, figures


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
        return FAILED, "not at the end"
    since, start = is_always.idxmax(), reading.warmup.first["update"]
    figures = f"from update {since} on, trimming from {start} on"
    return _grade(True, since <= start), figures


def _gradients_oppose(is_opposed: Series) -> Result:
    if is_opposed.empty:
        return NO_UPDATE
    share = is_opposed.mean()
    figures = f"negative at {percent(share)} of {len(is_opposed)} updates"
    return _grade(share > MOST, share == 1.0), figures


def _grade(*conditions: bool) -> str:
    """Return whether all of the conditions hold, some or none."""
    if all(conditions):
        return HELD
    return PARTLY if any(conditions) else FAILED


def _change(start: float, end: float) -> str:
    return f"{number(start)} → {number(end)}"


def number(value: float) -> str:
    """Format with about three digits.

    >>> number(-1234.5), number(0.01234), number(float("inf"))
    ('−1,234', '0.0123', '∞')
    """
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return text.replace("-", "−").replace("inf", "∞")
