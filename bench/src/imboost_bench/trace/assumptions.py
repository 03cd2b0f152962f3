"""Assumptions 1 to 4: memorization, smoothness, margin and opposed gradients."""

from __future__ import annotations

from imboost.present.formatting import percent
from imboost_bench.trace.bounds import stays_bounded
from imboost_bench.trace.finding import NO_UPDATE, ClaimStatus, Finding, grade, number
from imboost_bench.trace.phases import Reading, true_since
from imboost_bench.trace.propositions import MOST


def check(plain: Reading, scaled: Reading) -> list[Finding]:
    """Check all assumptions; those about losses that are not negative, with scaled losses."""
    return [
        _memorization(plain, scaled),
        _bounded_gradients(plain),
        _smooth_gradients(plain),
        _gradient_dominates(scaled),
        _uniform_margin(scaled),
        _gradients_oppose(plain),
        _outlier_gradient_stays(plain),
    ]


def _memorization(plain: Reading, scaled: Reading) -> Finding:
    claim = "Once inliers are memorized, the outlier risk is above the inlier risk."
    trimmed = plain.trimmed
    since = true_since(plain.frame["outlier_risk_is_higher"])
    difference = trimmed.last["outlier_risk"] - trimmed.last["inlier_risk"]
    side = "above" if difference > 0 else "below"
    text = f"At the end of the warm-up it is {number(abs(difference))} {side} the inlier risk."
    if since is None:
        text += " After the last update it is not above."
        return Finding("Assumption 1", claim, ClaimStatus.FAILED, "not at the end", text)
    text += f" It is above after every update from {since} on."
    start = trimmed.first["update"]
    if since > start:
        text += f" Trimming started before that, with update {start}."
    later = scaled.frame.loc[since:]
    gap = later["outlier_risk"] - later["inlier_risk"]
    text += (
        f" With scaled losses, a3 is the smallest difference from there on: {number(gap.min())}."
    )
    outcome = grade(True, since <= start)
    return Finding("Assumption 1", claim, outcome, f"from update {since} on", text)


def _bounded_gradients(reading: Reading) -> Finding:
    claim = "The gradient of every row's loss is bounded by a constant G."
    values, name = reading.frame["largest_gradient"], "norm of a row's gradient"
    return stays_bounded("Assumption 2.1", claim, reading, values, name, below=True)


def _smooth_gradients(reading: Reading) -> Finding:
    claim = "Both risks are smooth: their gradients are Lipschitz with a constant L."
    values = reading.frame[["inlier_smoothness", "outlier_smoothness"]].max(axis=1)
    name = "change of a risk's gradient, divided by the change of the weights,"
    return stays_bounded("Assumption 2.2", claim, reading, values, name, below=True)


def _gradient_dominates(scaled: Reading) -> Finding:
    claim = "The gradient of the inlier risk dominates it: 2μ R ≤ |∇R|² with a constant μ > 0."
    values = scaled.frame["dominance"]
    name = "ratio |∇R|² / 2R of the inlier risk"
    return stays_bounded("Assumption 2.3", claim, scaled, values, name, below=False)


def _uniform_margin(scaled: Reading) -> Finding:
    claim = "The mean square root of inliers' losses is below √R by a uniform margin c."
    values = scaled.frame["margin"]
    return stays_bounded("Assumption 3", claim, scaled, values, "margin c", below=False)


def _gradients_oppose(plain: Reading) -> Finding:
    frame, phases = plain.frame, plain.phases
    apart = plain.memorized
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
    claim = "The gradients of the two risks oppose each other: an inner product of at most −c₂."
    if apart.empty:
        return Finding("Assumption 4", claim, ClaimStatus.UNDECIDED, NO_UPDATE, text)
    text += f" The largest is {number(apart['inner_product'].max())}."
    outcome = grade(in_updates > MOST, in_updates == 1.0)
    return Finding("Assumption 4", claim, outcome, f"negative at {percent(in_updates)}", text)


def _outlier_gradient_stays(reading: Reading) -> Finding:
    claim = "The gradient of the outlier risk stays away from 0."
    values = reading.memorized["outlier_gradient_norm"]
    name = "norm of the outlier risk's gradient, of models with a higher outlier risk,"
    return stays_bounded("Assumption 4", claim, reading, values, name, below=False)
