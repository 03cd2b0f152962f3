"""How often a session's estimates and advice were right, over all runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from imboost.benchmark.run.decisions import DecisionResult


@dataclass(frozen=True)
class DecisionSummary:
    """Quality of probabilities, intervals and the advice to stop.

    Parameters
    ----------
    n_runs : int
    calibration_error : float
        After the last round, averaged over runs and then over data sets.
    precision_coverage, unfound_coverage : float
        Share of the runs whose interval contains the true value after the last round.
    share_found : float
        `DecisionResult.share_found` at the first advice to stop, or after the last round;
        averaged over runs and then over data sets.
    stopped_runs : float
        Share of the runs with advice to stop before the last round.
    stopped_datasets : float
        Share of the data sets where that is at least half of the runs.
    """

    n_runs: int
    calibration_error: float
    precision_coverage: float
    unfound_coverage: float
    share_found: float
    stopped_runs: float
    stopped_datasets: float


def summarize_decisions(lines: Iterable[DecisionResult]) -> DecisionSummary:
    """Summarize the lines of all successful runs."""
    import pandas as pd

    rounds = pd.DataFrame([vars(line) for line in lines if line.status == "ok"])
    run = ["dataset", "seed"]
    last = rounds.groupby(run, as_index=False).nth(-1)
    advised = rounds[rounds["advises_stop"] & (rounds["round"] > 0)]
    stop = pd.concat([advised, last]).groupby(run, as_index=False).nth(0)
    is_early = stop.set_index("dataset")["round"] < stop.set_index("dataset")["rounds"]
    known = last.dropna(subset="precision")
    return DecisionSummary(
        n_runs=len(last),
        calibration_error=last.groupby("dataset")["calibration_error"].mean().mean(),
        precision_coverage=known["precision"]
        .between(known["precision_low"], known["precision_high"])
        .mean(),
        unfound_coverage=last["unfound"].between(last["unfound_low"], last["unfound_high"]).mean(),
        share_found=stop.groupby("dataset")["share_found"].mean().mean(),
        stopped_runs=is_early.mean(),
        stopped_datasets=(is_early.groupby("dataset").mean() >= 0.5).mean(),
    )
