"""Check probabilities, intervals and the advice to stop against the true labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from imboost.benchmark.run.metrics import calibration_error
from imboost.benchmark.run.protocol import RunLine, RunSpec
from imboost.datasets.dataset import Dataset
from imboost.datasets.split import split_dataset
from imboost.detectors import make_detector
from imboost.detectors.device import resolve_device
from imboost.labels import OUTLIER, UNLABELLED
from imboost.query import make_strategy
from imboost.session import Oracle, Session, run_rounds


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
        Outliers that are labelled or above the threshold.
    estimated_share : float
        Estimated fraction of all outliers that are found.
    share_found : float
        Outliers found so far, as a fraction of those found after the last round.
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
    spec: RunSpec, dataset: Dataset, device: str = "cpu", audit_share: float = 0.1
) -> list[DecisionResult]:
    """Run a session and compare its estimates with the truth after every round.

    `audit_share` is the fraction of the questions drawn at random.
    """
    split = split_dataset(dataset, spec.seed)
    detector = make_detector(spec.detector, **spec.settings.of_detector)
    seed = spec.seed_of("detector")
    detector.set_params(random_state=seed, contamination="auto", device=device)
    session = Session(
        detector,
        split.train_X,
        query=make_strategy(spec.query, **spec.settings.of_query),
        audit_share=audit_share,
        random_state=spec.seed_of("strategy"),
    )
    is_outlier = split.train_y == OUTLIER
    lines, found = [], []
    n_questions = spec.budget.questions(len(is_outlier))
    for _ in run_rounds(session, Oracle(split.train_y), spec.rounds, n_questions):
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
                round=session.round,
                n_labelled=int((~is_unlabelled).sum()),
                calibration_error=calibration_error(
                    np.concatenate([split.train_y[is_unlabelled], split.test_y]),
                    fitted.scores_to_proba(scores)[:, 1],
                ),
                precision=float(is_outlier[is_above].mean()) if is_above.any() else float("nan"),
                precision_low=outcome.precision.low,
                precision_high=outcome.precision.high,
                unfound=float((is_outlier & is_unlabelled & ~is_above).sum()),
                unfound_low=outcome.n_missed.low,
                unfound_high=outcome.n_missed.high,
                n_found=int(found[-1].sum()),
                estimated_share=outcome.recall.value,
                advises_stop=session.advice().should_stop,
                device=resolve_device(device).type,
            )
        )
    shares = [(now & found[-1]).sum() / max(found[-1].sum(), 1) for now in found]
    return [
        replace(line, share_found=float(share)) for line, share in zip(lines, shares, strict=True)
    ]
