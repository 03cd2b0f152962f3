"""Check the paper's propositions and assumptions against a trace.

The propositions bound the decrease of a risk at every update, for losses between 0 and 1 and
a suitable learning rate. A negative log-likelihood is not bounded below, so the bound does not
apply. Only the direction is checked: from the start of a phase to its end, and as the fraction
of single updates in that direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from imboost.benchmark.trace.phases import (
    Phase,
    fraction,
    fraction_error,
    phases_of,
    quarters,
    trace_frame,
    true_since,
)
from imboost.benchmark.trace.recording import PhaseKind, Trace
from imboost.reporting import percent

if TYPE_CHECKING:
    from pandas import DataFrame

MOST = 0.5  # fraction of the updates above which a claim counts as true for most of them
N_ERRORS = 2.0  # standard errors that a change of a fraction of sampled rows must exceed


class ClaimStatus(StrEnum):
    """Whether a claim held."""

    HELD = "held"
    PARTLY = "held in part"
    FAILED = "did not hold"


@dataclass(frozen=True)
class Finding:
    """A claim of the paper, its outcome, its main numbers, and all numbers in sentences."""

    source: str
    claim: str
    outcome: ClaimStatus
    figures: str
    details: str


def check_claims(trace: Trace) -> list[Finding]:
    """Check every claim of the paper that a trace of a warm-up and some rounds can test."""
    frame = trace_frame(trace)
    phases = phases_of(frame)
    trimmed = next(p for p in phases if p.first["phase"] == PhaseKind.TRIMMED)
    rounds = [p for p in phases if p.first["phase"] == PhaseKind.POLARIZATION]
    updates = frame[frame["phase"] == PhaseKind.POLARIZATION]
    polarization = Phase("polarization", rounds[0].before, updates)
    return [
        _memorization(frame, trimmed),
        _risk_moves("Proposition 1", "inlier", "fell", "warm-up", trimmed),
        _outliers_leave(trace, trimmed, rounds[-1]),
        _risk_moves("Proposition 2", "inlier", "fell", "polarization", polarization),
        _risk_moves("Proposition 2", "outlier", "rose", "polarization", polarization),
        _both_at_once(polarization, rounds),
        _gradients_oppose(frame, phases),
        _outlier_gradient_stays(frame),
    ]


def _memorization(frame: DataFrame, trimmed: Phase) -> Finding:
    claim = "Once inliers are memorized, the outlier risk is above the inlier risk."
    since = true_since(frame["outlier_risk_is_higher"])
    difference = trimmed.last["outlier_risk"] - trimmed.last["inlier_risk"]
    side = "above" if difference > 0 else "below"
    text = f"At the end of the warm-up it is {_number(abs(difference))} {side} the inlier risk."
    if since is None:
        text += " After the last update it is not above."
        return Finding("Assumption 1", claim, ClaimStatus.FAILED, "not at the end", text)
    text += f" It is above after every update from {since} on."
    start = trimmed.first["update"]
    if since > start:
        text += f" Trimming started before that, with update {start}."
    outcome = _grade(True, since <= start)
    return Finding("Assumption 1", claim, outcome, f"from update {since} on", text)


def _risk_moves(source: str, kind: str, verb: str, where: str, phase: Phase) -> Finding:
    """Check that the risk of a `kind` of rows "fell" or "rose" in a phase."""
    risks, medians = (
        (phase.before[f"{kind}_{of}"], phase.last[f"{kind}_{of}"]) for of in ("risk", "median")
    )
    in_updates = phase.updates[f"{kind}_{verb}"].mean()
    text = (
        f"From the start to the end of the {phase.name} the mean loss of {kind}s "
        f"{_describe_change(*risks)}; it {verb} at {percent(in_updates)} of the updates."
    )
    median = "The median"
    if verb == "fell":
        of_updates = phase.updates[f"{kind}_risk"]
        text += (
            f" Its minimum, {_number(of_updates.min())}, is at update {of_updates.idxmin()} "
            f"({phase.first['update']} to {phase.last['update']})."
        )
        median += ", which is robust to a few rows,"
    text += f" {median} {_describe_change(*medians)}."
    claim = f"The {kind} risk {'falls' if verb == 'fell' else 'rises'} in the {where}."
    outcome = _grade(_direction(*risks) == verb, in_updates > MOST)
    figures = f"{_change(*risks)}, {verb} at {percent(in_updates)}"
    return Finding(source, claim, outcome, figures, text)


def _both_at_once(polarization: Phase, rounds: Sequence[Phase]) -> Finding:
    good = [phase.name for phase in rounds if _risks_diverged(phase)]
    overall = _risks_diverged(polarization)
    in_updates = polarization.updates["both"].mean()
    outcome = _grade(overall, len(good) == len(rounds))
    if outcome is ClaimStatus.FAILED and good:
        outcome = ClaimStatus.PARTLY
    n_good = f"{len(good)} of {len(rounds)} rounds"
    text = (
        f"Both are true of {n_good}, from the update before the round to its last"
        f"{': ' + ', '.join(good) if good else ''}. They are {'' if overall else 'not '}true of "
        f"the polarization from start to end, and true of {percent(in_updates)} of the updates."
    )
    claim = "Both at once: the inlier risk falls and the outlier risk rises."
    figures = f"{n_good}; {percent(in_updates)} of updates"
    return Finding("Proposition 2", claim, outcome, figures, text)


def _outliers_leave(trace: Trace, trimmed: Phase, last_round: Phase) -> Finding:
    early, late = quarters(trimmed.updates)
    start, end = (fraction(part, "kept_outliers", "kept") for part in (early, late))
    error = N_ERRORS * fraction_error(early, late)
    kept_early, kept_late, kept_last = (
        percent(fraction(updates, "kept_outliers", "batch_outliers"))
        for updates in (early, late, last_round.updates)
    )
    m1 = (trimmed.updates["kept_inliers"] / trimmed.updates["batch_size"]).min()
    m2 = trimmed.updates["kept_outliers"].max() / trace.updates[0].batch_size
    text = (
        f"In the first quarter of the trimmed warm-up {percent(start)} of the rows kept by "
        f"trimming are outliers, in the last quarter {percent(end)}; the change is "
        f"{'more' if abs(end - start) > error else 'not more'} than two standard errors "
        f"({percent(error)}). {percent(trace.contamination)} of the training rows are outliers. "
        f"{kept_early} of the outliers in the batches are kept by trimming in the first quarter, "
        f"{kept_late} in the last quarter and {kept_last} in the last round. "
        f"The constants of the lemma in the trimmed warm-up: M1 = {m1:.2f} (minimum fraction of a "
        f"batch that is inliers kept by trimming) and M2 = {m2:.2f} (maximum number of outliers "
        f"kept by trimming, divided by the first batch size)."
    )
    claim = "During the warm-up, outliers are a decreasing fraction of the rows kept by trimming."
    figures = f"{percent(start)} → {percent(end)}; {percent(trace.contamination)} of all rows"
    outcome = _grade(start - end > error, end < trace.contamination)
    return Finding("Lemma 4", claim, outcome, figures, text)


def _gradients_oppose(frame: DataFrame, phases: Sequence[Phase]) -> Finding:
    apart = frame[frame["outlier_risk_is_higher"]]
    in_updates = float(apart["is_opposed"].sum() / max(len(apart), 1))
    since = true_since(frame["is_opposed"])
    when = "is not negative" if since is None else f"has been negative since update {since}"
    by_phase = "; ".join(f"{p.name}: {percent(p.updates['is_opposed'].mean())}" for p in phases)
    text = (
        f"The assumption is about models whose outlier risk is above the inlier risk. "
        f"{percent(in_updates)} of the {len(apart)} updates that lead to such a model have a "
        f"negative inner product. At the last update it {when}. Fraction of updates with a "
        f"negative inner product by phase – {by_phase}."
    )
    claim = "The gradients of the two risks oppose each other: a negative inner product."
    outcome = _grade(in_updates > MOST, in_updates == 1.0)
    return Finding("Assumption 4", claim, outcome, f"negative at {percent(in_updates)}", text)


def _outlier_gradient_stays(frame: DataFrame) -> Finding:
    norms = frame["outlier_gradient_norm"]
    early, late = (part["outlier_gradient_norm"].min() for part in quarters(frame))
    text = (
        f"The smallest norm is {_number(norms.min())}, at update {norms.idxmin()}. A trace cannot "
        f"prove a lower bound; the check is that the norm does not shrink. Its minimum is "
        f"{_number(early)} in the first quarter of all updates and {_number(late)} in the last."
    )
    claim = "The gradient of the outlier risk stays away from 0."
    outcome = ClaimStatus.HELD if late >= early else ClaimStatus.FAILED
    return Finding("Assumption 4", claim, outcome, f"smallest norm {_change(early, late)}", text)


def _risks_diverged(phase: Phase) -> bool:
    """Whether the inlier risk fell and the outlier risk rose from start to end."""
    start, end = phase.before, phase.last
    fell = end["inlier_risk"] < start["inlier_risk"]
    return bool(fell and end["outlier_risk"] > start["outlier_risk"])


def _grade(one: bool, other: bool) -> ClaimStatus:
    if one and other:
        return ClaimStatus.HELD
    return ClaimStatus.PARTLY if one or other else ClaimStatus.FAILED


def _direction(start: float, end: float) -> str:
    return "fell" if end < start else "rose" if end > start else "stayed"


def _describe_change(start: float, end: float) -> str:
    if start == end:
        return f"stayed at {_number(start)}"
    return f"{_direction(start, end)} from {_number(start)} to {_number(end)}"


def _change(start: float, end: float) -> str:
    return f"{_number(start)} → {_number(end)}"


def _number(value: float) -> str:
    """Format with about three digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
