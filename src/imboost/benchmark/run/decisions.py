"""Whether decisions keep what they promise: probabilities, intervals and the advice to stop."""

from __future__ import annotations

import csv
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.benchmark.run.metrics import calibration_error
from imboost.benchmark.run.plan import Plan
from imboost.benchmark.run.protocol import RunSpec
from imboost.benchmark.run.runner import one_thread
from imboost.datasets.adbench import ADBenchFile, read_dataset
from imboost.datasets.dataset import Dataset
from imboost.datasets.split import split_dataset
from imboost.detectors import make_detector
from imboost.labels import OUTLIER, UNLABELLED
from imboost.query import make_strategy
from imboost.session import Oracle, Session, run_rounds

AUDIT_SHARE = 0.1
"""Of the questions, drawn at random."""


@dataclass(frozen=True)
class DecisionResult:
    """What was said after a round of a run, and what was true.

    Parameters
    ----------
    dataset, seed, round, n_labelled
        Which run, and when.
    calibration_error : float
        Expected calibration error of the probabilities, of all rows that were not asked.
    precision, precision_low, precision_high : float
        Of the training rows above the threshold: outliers among them, and the interval that
        was said to hold them; nan if there are none.
    unfound, unfound_low, unfound_high : float
        Outliers below the threshold that were not asked, and their interval.
    n_found : int
        Outliers that were answered or lie above the threshold.
    estimated_share : float
        Of all outliers, those found by now, as it was estimated.
    share_found : float
        Of the outliers found after the last round, those found by now.
    advises_stop : bool
    """

    dataset: str
    seed: int
    round: int
    n_labelled: int
    calibration_error: float
    precision: float
    precision_low: float
    precision_high: float
    unfound: float
    unfound_low: float
    unfound_high: float
    n_found: int
    estimated_share: float
    share_found: float
    advises_stop: bool


def judge_decisions(spec: RunSpec, dataset: Dataset) -> list[DecisionResult]:
    """Play a session with an audit stream; say after every round what was claimed and true."""
    split = split_dataset(dataset, spec.seed)
    detector = make_detector(spec.detector, **spec.settings.of_detector)
    detector.set_params(random_state=spec.seed_of("detector"), contamination="auto")
    session = Session(
        detector,
        split.train_X,
        query=make_strategy(spec.query, **spec.settings.of_query),
        audit_share=AUDIT_SHARE,
        random_state=spec.seed_of("strategy"),
    )
    is_outlier = split.train_y == OUTLIER
    lines, found = [], []
    n_questions = spec.budget.questions(len(is_outlier))
    for _ in run_rounds(session, Oracle(split.train_y), spec.rounds, n_questions):
        above = session.detector.labels_ == OUTLIER
        unasked = session.labels == UNLABELLED
        outcome = session.outcome()
        found.append(is_outlier & (above | ~unasked))
        lines.append(
            {
                "dataset": spec.dataset,
                "seed": spec.seed,
                "round": session.round,
                "n_labelled": int((~unasked).sum()),
                "calibration_error": calibration_error(
                    np.concatenate([split.train_y[unasked], split.test_y]),
                    _probabilities(session, unasked, split.test_X),
                ),
                "precision": float(is_outlier[above].mean()) if above.any() else float("nan"),
                "precision_low": outcome.precision.low,
                "precision_high": outcome.precision.high,
                "unfound": float((is_outlier & unasked & ~above).sum()),
                "unfound_low": outcome.n_unfound.low,
                "unfound_high": outcome.n_unfound.high,
                "n_found": int(found[-1].sum()),
                "estimated_share": outcome.share_found.value,
                "advises_stop": session.advice().is_stop,
            }
        )
    findable = found[-1]
    shares = [(now & findable).sum() / max(findable.sum(), 1) for now in found]
    return [
        DecisionResult(**line, share_found=float(share))  # type: ignore[arg-type]
        for line, share in zip(lines, shares, strict=True)
    ]


def _probabilities(
    session: Session, unasked: NDArray[np.bool_], new_rows: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the probabilities of the rows that were not asked, and of new ones."""
    detector = session.detector
    scores = np.concatenate(
        [detector.decision_scores_[unasked], detector.decision_function(new_rows)]
    )
    return np.asarray(detector.scores_to_proba(scores)[:, 1])


def judge_all(plan: Plan) -> Iterator[list[DecisionResult]]:
    """Do all runs of a plan, and yield the lines of each as it ends."""
    tasks = [(spec, plan.files[spec.dataset]) for spec in plan.specs]
    if plan.jobs == 1:
        yield from map(_judge_one, tasks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(plan.jobs, mp_context=context) as pool:
        yield from pool.map(_judge_one, tasks)


def _judge_one(task: tuple[RunSpec, ADBenchFile]) -> list[DecisionResult]:
    spec, file = task
    with one_thread():
        return judge_decisions(spec, read_dataset(file))


def write_decisions(lines: Sequence[DecisionResult], path: Path) -> None:
    """Write one line for every run and round."""
    with path.open("w", newline="", encoding="utf-8") as file:
        names = [field.name for field in fields(DecisionResult)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(line) for line in lines)


@dataclass(frozen=True)
class Verdict:
    """How often what was said was true.

    Parameters
    ----------
    n_runs : int
    calibration_error : float
        After the last round, the mean of the data sets' means.
    precision_covered, unfound_covered : float
        Share of the runs whose interval held the truth after the last round.
    share_found : float
        Of what can be found, at the first advice to stop or after the last round; as above.
    stopped_runs : float
        Share of the runs that were advised to stop before the last round.
    stopped_sets : float
        Share of the data sets for which at least half of the runs were.
    """

    n_runs: int
    calibration_error: float
    precision_covered: float
    unfound_covered: float
    share_found: float
    stopped_runs: float
    stopped_sets: float


def sum_up(lines: Sequence[DecisionResult]) -> Verdict:
    """Say how often promises were kept."""
    runs: dict[tuple[str, int], list[DecisionResult]] = {}
    for line in lines:
        runs.setdefault((line.dataset, line.seed), []).append(line)
    last = [run[-1] for run in runs.values()]
    stops = [next((line for line in run if _may_stop(line)), run[-1]) for run in runs.values()]
    early = [stop.round < end.round for stop, end in zip(stops, last, strict=True)]
    with_rows = [line for line in last if not np.isnan(line.precision)]
    sets = [line.dataset for line in last]
    return Verdict(
        n_runs=len(runs),
        calibration_error=_mean_of_sets(sets, [line.calibration_error for line in last]),
        precision_covered=_share(
            line.precision_low <= line.precision <= line.precision_high for line in with_rows
        ),
        unfound_covered=_share(
            line.unfound_low <= line.unfound <= line.unfound_high for line in last
        ),
        share_found=_mean_of_sets(sets, [line.share_found for line in stops]),
        stopped_runs=_share(early),
        stopped_sets=_share(
            np.mean([one for name, one in zip(sets, early, strict=True) if name == chosen]) >= 0.5
            for chosen in dict.fromkeys(sets)
        ),
    )


def _may_stop(line: DecisionResult) -> bool:
    return line.advises_stop and line.round > 0


def _share(truths: Any) -> float:
    return float(np.mean([bool(truth) for truth in truths]))


def _mean_of_sets(sets: Sequence[str], values: Sequence[float]) -> float:
    means = [
        np.mean([value for name, value in zip(sets, values, strict=True) if name == chosen])
        for chosen in dict.fromkeys(sets)
    ]
    return float(np.mean(means))
