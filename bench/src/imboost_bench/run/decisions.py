"""Check probabilities, intervals and the advice to stop against the true labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Floats
from imboost.datasets.dataset import Dataset
from imboost.detectors.base import resolve_device
from imboost.labels import OUTLIER, UNLABELLED
from imboost_bench.run.protocol import RunLine, RunSpec, open_session

if TYPE_CHECKING:
    from pandas import DataFrame

AUDIT_FRACTION = 0.1  # fraction of the questions drawn at random


@dataclass(frozen=True, kw_only=True)
class DecisionResult(RunLine):
    """Estimates of a session after one of its rounds, and the true values.

    The probabilities are those of all unlabelled and test rows. The precision is that of the
    training rows above the threshold (NaN without any), and `unfound` are the unlabelled outliers
    below it. Found are labelled outliers and those above the threshold; `share_found` is their
    number by that after the last round.
    """

    n_labelled: int = 0
    calibration_error: float = float("nan")
    precision: float = float("nan")
    precision_low: float = float("nan")
    precision_high: float = float("nan")
    unfound: float = float("nan")
    unfound_low: float = float("nan")
    unfound_high: float = float("nan")
    n_found: int = 0
    estimated_share: float = float("nan")
    share_found: float = float("nan")
    advises_stop: bool = False


def evaluate_decisions(
    spec: RunSpec, dataset: Dataset, device: str = "cpu"
) -> list[DecisionResult]:
    """Run a session and compare its estimates with the truth after every round."""
    split, session, rounds = open_session(
        spec, dataset, device, audit_share=AUDIT_FRACTION, contamination="auto"
    )
    is_outlier = split.train_y == OUTLIER
    lines, found = [], []
    for round_number in rounds:
        fitted = session.detector
        is_above = fitted.labels_ == OUTLIER
        is_unlabelled = session.labels == UNLABELLED
        new_scores = fitted.decision_function(split.test_X)
        scores = np.concatenate([fitted.decision_scores_[is_unlabelled], new_scores])
        outcome = session.outcome()
        found.append(is_outlier & (is_above | ~is_unlabelled))
        lines.append(
            DecisionResult.of(
                spec,
                dataset.group,
                round=round_number,
                n_labelled=int((~is_unlabelled).sum()),
                calibration_error=calibration_error(
                    np.concatenate([split.train_y[is_unlabelled], split.test_y]),
                    fitted.decision_.probability(scores),
                ),
                precision=float(is_outlier[is_above].mean()) if is_above.any() else float("nan"),
                precision_low=outcome.precision.low,
                precision_high=outcome.precision.high,
                unfound=float((is_outlier & is_unlabelled & ~is_above).sum()),
                unfound_low=outcome.n_missed.low,
                unfound_high=outcome.n_missed.high,
                n_found=int(found[-1].sum()),
                estimated_share=outcome.recall.value,
                advises_stop=outcome.should_stop,
                device=resolve_device(device).type,
            )
        )
    shares = [float((now & found[-1]).sum() / max(found[-1].sum(), 1)) for now in found]
    return [replace(line, share_found=own) for line, own in zip(lines, shares, strict=True)]


def summarize_decisions(lines: Iterable[DecisionResult]) -> DataFrame:
    """Summarize all successful runs.

    Errors and found outliers are averaged over runs, then over data sets; coverage and advice are
    fractions of the runs. Without advice to stop, the last round counts.
    """
    import pandas as pd

    rounds = pd.DataFrame([vars(line) for line in lines if line.status == "ok"])
    run = ["dataset", "seed"]
    last = rounds.groupby(run, as_index=False).nth(-1)
    advised = rounds[rounds["advises_stop"] & (rounds["round"] > 0)]
    stop = pd.concat([advised, last]).groupby(run, as_index=False).nth(0).set_index("dataset")
    is_early = stop["round"] < stop["rounds"]
    known = last.dropna(subset="precision")
    precision, unfound = (
        own[name].between(own[f"{name}_low"], own[f"{name}_high"]).mean()
        for own, name in ((known, "precision"), (last, "unfound"))
    )
    found = stop["share_found"].groupby("dataset").mean()
    often = is_early.groupby("dataset").mean() >= 0.5
    summary = {
        "expected calibration error": last.groupby("dataset")["calibration_error"].mean().mean(),
        "coverage of the 90% interval: precision": precision,
        "coverage of the 90% interval: outliers not found": unfound,
        "outliers found at the advice to stop": found.mean(),
        "runs with advice to stop before the last round": is_early.mean(),
        "data sets where at least half of the runs have such advice": often.mean(),
    }
    return pd.DataFrame(summary.items(), columns=["metric", "value"])


def calibration_error(y: NDArray[Any], probability: Floats, n_bins: int = 10) -> float:
    """Return the expected calibration error with bins of equal width.

    >>> round(calibration_error(np.array([0, 0, 0, 1]), np.array([0.1, 0.1, 0.1, 0.9])), 3)
    0.1
    """
    bins = np.minimum((probability * n_bins).astype(np.int64), n_bins - 1)
    differences = np.bincount(bins, probability - y, minlength=n_bins)
    return float(np.abs(differences).sum() / len(y))
