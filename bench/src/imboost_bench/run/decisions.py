"""Check probabilities, intervals and the advice to stop against the true labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from imboost.datasets.dataset import Dataset
from imboost.detectors.device import resolve_device
from imboost.labels import OUTLIER, UNLABELLED
from imboost_bench.run.metrics import calibration_error
from imboost_bench.run.protocol import RunLine, RunSpec, open_session

AUDIT_FRACTION = 0.1  # fraction of the questions drawn at random


@dataclass(frozen=True)
class DecisionResult(RunLine):
    """Estimates of a session after one of its rounds, and the true values.

    Parameters
    ----------
    n_labelled : int
        Answered rows.
    calibration_error : float
        Expected calibration error of the probabilities of all unlabelled and test rows.
    precision, precision_low, precision_high : float
        Precision of the training rows above the threshold and its estimated interval; NaN if
        no row is above.
    unfound, unfound_low, unfound_high : float
        Unlabelled outliers below the threshold, and their estimated interval.
    n_found : int
        Outliers that are found: labelled or above the threshold.
    estimated_share : float
        Estimated recall: fraction of all outliers that are found.
    share_found : float
        Of the outliers found after the last round, the fraction that is found after this one.
    advises_stop : bool
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
    n_last = max(found[-1].sum(), 1)
    return [
        replace(line, share_found=float((now & found[-1]).sum() / n_last))
        for line, now in zip(lines, found, strict=True)
    ]


def summarize_decisions(lines: Iterable[DecisionResult]) -> dict[str, float]:
    """Summarize the lines of all successful runs.

    Returns
    -------
    dict
        n_runs; calibration_error after the last round; the fractions of the runs whose interval
        contains the true value after the last round (precision_coverage, unfound_coverage);
        found_fraction, which is `DecisionResult.share_found` at the first advice to stop, or
        after the last round without such advice; the fraction of the runs with advice to stop
        before the last round (stopped_runs), and the fraction of the data sets in which at least
        half of the runs have it (stopped_datasets). calibration_error and found_fraction are
        averaged over runs, then over data sets.
    """
    import pandas as pd

    rounds = pd.DataFrame([vars(line) for line in lines if line.status == "ok"])
    run = ["dataset", "seed"]
    last = rounds.groupby(run, as_index=False).nth(-1)
    advised = rounds[rounds["advises_stop"] & (rounds["round"] > 0)]
    stop = pd.concat([advised, last]).groupby(run, as_index=False).nth(0)
    is_early = stop.set_index("dataset").eval("round < rounds")
    known = last.dropna(subset="precision")
    is_covered = known["precision"].between(known["precision_low"], known["precision_high"])
    return {
        "n_runs": len(last),
        "calibration_error": last.groupby("dataset")["calibration_error"].mean().mean(),
        "precision_coverage": is_covered.mean(),
        "unfound_coverage": last["unfound"]
        .between(last["unfound_low"], last["unfound_high"])
        .mean(),
        "found_fraction": stop.groupby("dataset")["share_found"].mean().mean(),
        "stopped_runs": is_early.mean(),
        "stopped_datasets": (is_early.groupby("dataset").mean() >= 0.5).mean(),
    }
