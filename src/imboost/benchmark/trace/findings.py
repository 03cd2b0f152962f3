"""Where the paper's propositions and assumptions held in a trace, in words.

The propositions promise that a risk shrinks by a factor at every update, for losses between
0 and 1 and with a suitable learning rate. A negative log-likelihood has no smallest value, so
that factor means nothing here. What is checked is the direction: from the start of a phase to
its end, and the share of single updates that went that way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from imboost.benchmark.trace.phases import (
    Stage,
    first_for_good,
    inlier_risk_fell,
    is_apart,
    is_opposed,
    kept_outlier_share,
    outlier_risk_rose,
    quarters,
    risks_parted,
    share_error,
    share_of_outliers_kept,
    stages_of,
)
from imboost.benchmark.trace.recording import Phase, Trace
from imboost.reporting import percent

MOST = 0.5
"""The share of updates above which a claim counts as true of most of them."""
N_ERRORS = 2.0
"""Standard errors that a change in the share of drawn rows must exceed to count."""


class Finding(StrEnum):
    """How a claim fared."""

    HELD = "held"
    PARTLY = "held in part"
    FAILED = "did not hold"


@dataclass(frozen=True)
class Verdict:
    """A claim of the paper, how it fared, and the figures that say so.

    Parameters
    ----------
    source, claim : str
        Where the paper says it, and what it says.
    finding : Finding
    figures : str
        The figures in short, for a table.
    words : str
        The same in sentences.
    """

    source: str
    claim: str
    finding: Finding
    figures: str
    words: str


def judge(trace: Trace) -> list[Verdict]:
    """Return a verdict on every claim that a trace of a warm-up and some rounds speaks to."""
    stages = stages_of(trace)
    trimmed = next(stage for stage in stages if stage.first.phase is Phase.TRIMMED)
    rounds = [stage for stage in stages if stage.first.phase is Phase.POLARIZATION]
    updates = tuple(update for stage in rounds for update in stage.updates)
    polarization = Stage("polarization", rounds[0].before, updates)
    return [
        _memorization(trace, trimmed),
        _inlier_risk_falls("Proposition 1", "warm-up", trimmed),
        _outliers_leave(trace, trimmed, rounds[-1]),
        _inlier_risk_falls("Proposition 2", "polarization", polarization),
        _outlier_risk_rises(polarization),
        _both_at_once(polarization, rounds),
        _gradients_oppose(trace, stages),
        _outlier_gradient_stays(trace),
    ]


def _memorization(trace: Trace, trimmed: Stage) -> Verdict:
    claim = "Once inliers are memorized, the outlier risk is above the inlier risk."
    since = first_for_good(trace.updates, is_apart)
    gap = trimmed.last.outlier_risk - trimmed.last.inlier_risk
    side = "above" if gap > 0 else "below"
    words = f"At the end of the warm-up it lies {_number(abs(gap))} {side} the inlier risk."
    if since is None:
        words += " After the last update it is not above."
        return Verdict("Assumption 1", claim, Finding.FAILED, "not at the end", words)
    words += f" It is above after every update from {since} on."
    begin = trimmed.first.update
    if since > begin:
        words += f" Trimming began before that, with update {begin}."
    finding = _grade(True, since <= begin)
    return Verdict("Assumption 1", claim, finding, f"from update {since} on", words)


def _inlier_risk_falls(source: str, where: str, stage: Stage) -> Verdict:
    start, end = stage.before, stage.last
    share = stage.share_of_changes(inlier_risk_fell)
    lowest = min(stage.updates, key=lambda update: update.inlier_risk)
    words = (
        f"From the start to the end of the {stage.name} the mean loss of inliers "
        f"{_went(start.inlier_risk, end.inlier_risk)}; it fell at {percent(share)} of the "
        f"updates. Its lowest value there, {_number(lowest.inlier_risk)}, came with update "
        f"{lowest.update} ({stage.first.update} to {end.update}). The median, which a few "
        f"rows cannot move, {_went(start.inlier_median, end.inlier_median)}."
    )
    figures = _change(start.inlier_risk, end.inlier_risk) + f", fell at {percent(share)}"
    finding = _grade(inlier_risk_fell(start, end), share > MOST)
    return Verdict(source, f"The inlier risk falls in the {where}.", finding, figures, words)


def _outlier_risk_rises(stage: Stage) -> Verdict:
    start, end = stage.before, stage.last
    share = stage.share_of_changes(outlier_risk_rose)
    words = (
        f"From the start to the end of the {stage.name} the mean loss of outliers "
        f"{_went(start.outlier_risk, end.outlier_risk)}; it rose at {percent(share)} of the "
        f"updates. The median {_went(start.outlier_median, end.outlier_median)}."
    )
    claim = "The outlier risk rises in the polarization."
    figures = _change(start.outlier_risk, end.outlier_risk) + f", rose at {percent(share)}"
    finding = _grade(outlier_risk_rose(start, end), share > MOST)
    return Verdict("Proposition 2", claim, finding, figures, words)


def _both_at_once(polarization: Stage, rounds: Sequence[Stage]) -> Verdict:
    good = [stage.name for stage in rounds if risks_parted(stage.before, stage.last)]
    overall = risks_parted(polarization.before, polarization.last)
    share = polarization.share_of_changes(risks_parted)
    finding = _grade(overall, len(good) == len(rounds))
    if finding is Finding.FAILED and good:
        finding = Finding.PARTLY
    count = f"{len(good)} of {len(rounds)} rounds"
    words = (
        f"From the update before it to its last, {count} did both"
        f"{': ' + ', '.join(good) if good else ''}. The polarization as a whole "
        f"{'did' if overall else 'did not'}. Of the single updates {percent(share)} did."
    )
    claim = "Both at once: the inlier risk falls and the outlier risk rises."
    figures = f"{count}; {percent(share)} of updates"
    return Verdict("Proposition 2", claim, finding, figures, words)


def _outliers_leave(trace: Trace, trimmed: Stage, last_round: Stage) -> Verdict:
    early, late = quarters(trimmed.updates)
    start, end = kept_outlier_share(early), kept_outlier_share(late)
    error = N_ERRORS * share_error(early, late)
    least = min(update.kept_inliers / update.batch_size for update in trimmed.updates)
    most = max(update.kept_outliers for update in trimmed.updates)
    words = (
        f"In the first quarter of the trimmed warm-up {percent(start)} of the rows inside the "
        f"loss are outliers, in the last quarter {percent(end)}: a change that chance alone "
        f"{'hardly makes' if abs(end - start) > error else 'may well make'} (two standard "
        f"errors are {percent(error)}). Of the training rows {percent(trace.outlier_share)} "
        f"are outliers. Of the outliers in the batches {percent(share_of_outliers_kept(early))} "
        f"were inside at first, {percent(share_of_outliers_kept(late))} at last and "
        f"{percent(share_of_outliers_kept(last_round.updates))} in the last round. The lemma's "
        f"constants, as seen in the trimmed warm-up: M1 = {least:.2f} (inliers inside, as a "
        f"share of their batch, at least) and M2 = {most / trace.updates[0].batch_size:.2f} "
        f"(outliers inside, in units of the first batch size, at most)."
    )
    claim = "Trimming lets an ever smaller share of outliers into the loss during the warm-up."
    share = percent(trace.outlier_share)
    figures = f"{percent(start)} → {percent(end)}; {share} of all rows"
    finding = _grade(start - end > error, end < trace.outlier_share)
    return Verdict("Lemma 4", claim, finding, figures, words)


def _gradients_oppose(trace: Trace, stages: Sequence[Stage]) -> Verdict:
    apart = [update for update in trace.updates if is_apart(update)]
    share = sum(map(is_opposed, apart)) / max(len(apart), 1)
    since = first_for_good(trace.updates, is_opposed)
    when = "is not negative" if since is None else f"has been negative since update {since}"
    by_stage = "; ".join(f"{stage.name}: {percent(stage.share(is_opposed))}" for stage in stages)
    words = (
        f"The assumption is about models whose outlier risk is above the inlier risk. Of the "
        f"{len(apart)} updates that left such a model, {percent(share)} have a negative inner "
        f"product. At the last update it {when}. Negative ones by stage – {by_stage}."
    )
    claim = "The gradients of the two risks oppose each other: a negative inner product."
    figures = f"negative at {percent(share)}"
    finding = _grade(share > MOST, share == 1.0)
    return Verdict("Assumption 4", claim, finding, figures, words)


def _outlier_gradient_stays(trace: Trace) -> Verdict:
    norms = {update.update: update.outlier_gradient_norm for update in trace.updates}
    smallest = min(norms, key=norms.__getitem__)
    early, late = (min(norms[u.update] for u in part) for part in quarters(trace.updates))
    words = (
        f"The smallest norm is {_number(norms[smallest])}, at update {smallest}. No trace can "
        f"prove a bound; what is checked is that the norm does not shrink. Its smallest value "
        f"is {_number(early)} in the first quarter of all updates and {_number(late)} in the last."
    )
    claim = "The gradient of the outlier risk stays away from 0."
    figures = f"smallest norm {_change(early, late)}"
    finding = Finding.HELD if late >= early else Finding.FAILED
    return Verdict("Assumption 4", claim, finding, figures, words)


def _grade(one: bool, other: bool) -> Finding:
    if one and other:
        return Finding.HELD
    return Finding.PARTLY if one or other else Finding.FAILED


def _went(start: float, end: float) -> str:
    verb = "fell" if end < start else "rose" if end > start else "stayed,"
    return f"{verb} from {_number(start)} to {_number(end)}"


def _change(start: float, end: float) -> str:
    return f"{_number(start)} → {_number(end)}"


def _number(value: float) -> str:
    """Write about three digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
