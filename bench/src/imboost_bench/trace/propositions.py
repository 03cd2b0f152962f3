"""Propositions 1 and 2: how the risks of inliers and outliers move."""

from __future__ import annotations

from itertools import pairwise

from imboost.present.formatting import percent
from imboost_bench.trace.finding import (
    ClaimStatus,
    Finding,
    change,
    describe_change,
    direction,
    grade,
    number,
)
from imboost_bench.trace.phases import Phase, Reading

PHASES = {"Proposition 1": "warm-up", "Proposition 2": "polarization"}
MOST = 0.5  # fraction of the updates above which a claim counts as true for most of them


def check(plain: Reading, scaled: Reading, scaled_each: Reading) -> list[Finding]:
    """Check how the risks move, and by which factor."""
    readings = (plain, scaled_each)
    return [
        *(_risk_moves("Proposition 1", "inlier", "fell", r, r.trimmed) for r in readings),
        _falls_by_factor("Proposition 1", scaled, scaled.trimmed),
        *(_risk_moves("Proposition 2", "inlier", "fell", r, r.polarization) for r in readings),
        _falls_by_factor("Proposition 2", scaled, scaled.polarization),
        *(_risk_moves("Proposition 2", "outlier", "rose", r, r.polarization) for r in readings),
        *(_both_at_once(reading) for reading in readings),
    ]


def _risk_moves(source: str, kind: str, verb: str, reading: Reading, phase: Phase) -> Finding:
    """Check that the risk of a `kind` of rows "fell" or "rose" in a phase."""
    risks, medians = (
        (phase.before[f"{kind}_{of}"], phase.last[f"{kind}_{of}"]) for of in ("risk", "median")
    )
    in_updates = phase.updates[f"{kind}_{verb}"].mean()
    text = (
        f"From the start to the end of the {phase.name} the mean loss of {kind}s "
        f"{describe_change(*risks)}; it {verb} at {percent(in_updates)} of the updates."
    )
    median = "The median"
    if verb == "fell":
        of_updates = phase.updates[f"{kind}_risk"]
        text += (
            f" Its minimum, {number(of_updates.min())}, is at update {of_updates.idxmin()} "
            f"({phase.first['update']} to {phase.last['update']})."
        )
        median += ", which is robust to a few rows,"
    text += f" {median} {describe_change(*medians)}."
    claim = f"The {kind} risk {'falls' if verb == 'fell' else 'rises'} in the {PHASES[source]}."
    outcome = grade(direction(*risks) == verb, in_updates > MOST)
    figures = f"{change(*risks)}, {verb} at {percent(in_updates)}"
    return Finding(source, claim, outcome, figures, text, reading.losses)


def _falls_by_factor(source: str, scaled: Reading, phase: Phase) -> Finding:
    """Check the inequality of a proposition: the inlier risk falls at least by the factor 1/gamma.

    The losses are scaled, since the inequality is about risks above 0. In the paper gamma is the
    growth of the batch size per update and in training per epoch, so the factor is that of an
    epoch.
    """
    gamma = scaled.trace.detector.batch_growth
    ends = [phase.before["inlier_risk"], *phase.updates.groupby("epoch")["inlier_risk"].last()]
    updates = [phase.before["inlier_risk"], *phase.updates["inlier_risk"]]
    in_epochs, in_updates = (
        sum(after <= before / gamma for before, after in pairwise(risks)) / (len(risks) - 1)
        for risks in (ends, updates)
    )
    n_epochs = len(ends) - 1
    overall = (ends[-1] / ends[0]) ** (1 / n_epochs) if ends[0] > 0 else 1.0
    text = (
        f"The inlier risk fell to 1/{gamma:g} = {number(1 / gamma)} of its value or less in "
        f"{percent(in_epochs)} of the {n_epochs} epochs of the {phase.name}, and at "
        f"{percent(in_updates)} of the updates. From start to end its factor is "
        f"{number(overall)} per epoch."
    )
    claim = f"The inlier risk falls by a factor of {gamma:g} per epoch of the {PHASES[source]}."
    figures = f"{percent(in_epochs)} of epochs; {number(overall)} per epoch"
    outcome = grade(overall <= 1 / gamma, in_epochs > MOST)
    return Finding(source, claim, outcome, figures, text, scaled.losses)


def _both_at_once(reading: Reading) -> Finding:
    polarization, rounds = reading.polarization, reading.rounds
    good = [phase.name for phase in rounds if _risks_diverged(phase)]
    overall = _risks_diverged(polarization)
    in_updates = polarization.updates["both"].mean()
    outcome = grade(overall, len(good) == len(rounds))
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
    return Finding("Proposition 2", claim, outcome, figures, text, reading.losses)


def _risks_diverged(phase: Phase) -> bool:
    """Whether the inlier risk fell and the outlier risk rose from start to end."""
    start, end = phase.before, phase.last
    fell = end["inlier_risk"] < start["inlier_risk"]
    return bool(fell and end["outlier_risk"] > start["outlier_risk"])
