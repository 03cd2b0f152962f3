"""The paper's experiment on one data set: split, warm-up, rounds of questions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from imboost.benchmark.metrics import quality
from imboost.data.dataset import Dataset
from imboost.data.split import split_dataset
from imboost.detectors import find_detector
from imboost.labels import OUTLIER, UNLABELLED
from imboost.session import Oracle, Session, run_rounds


@dataclass(frozen=True)
class RunSpec:
    """What identifies a run; two runs with equal specifications give equal results.

    Parameters
    ----------
    detector : str
        Name in the detector registry.
    query : str
        Name in the strategy registry.
    dataset : str
        Name of the data set.
    seed : int
        Seeds the split, the detector and the strategy: methods that are compared on a seed
        see the same split and, where they share it, the same warm-up.
    rounds : int
        Rounds of questions.
    """

    detector: str
    query: str
    dataset: str
    seed: int
    rounds: int = 5

    def __str__(self) -> str:
        return f"{self.detector}/{self.query} on {self.dataset}, seed {self.seed}"


@dataclass(frozen=True)
class RoundResult:
    """One line of the results: a run after one of its rounds (0 is before any answer).

    A run that failed is one line with `round` -1, status "failed" and the reason.
    """

    detector: str
    query: str
    dataset: str
    group: str
    seed: int
    rounds: int
    round: int
    n_train: int = 0
    n_features: int = 0
    n_labelled: int = 0
    n_outliers_found: int = 0
    train_auc: float = float("nan")
    train_ap: float = float("nan")
    test_auc: float = float("nan")
    test_ap: float = float("nan")
    seconds: float = 0.0
    status: str = "ok"
    reason: str = ""

    @property
    def spec(self) -> RunSpec:
        """The run the line belongs to."""
        return RunSpec(self.detector, self.query, self.dataset, self.seed, self.rounds)

    @property
    def ends_run(self) -> bool:
        """Whether this is the last line of a run that went well."""
        return self.status == "ok" and self.round == self.rounds


def run(spec: RunSpec, dataset: Dataset, device: str = "cpu") -> Iterator[RoundResult]:
    """Run one experiment and yield a result after every round.

    `seconds` counts the work of the detector and the strategy since the start, not the
    judging of the scores.
    """
    split = split_dataset(dataset, spec.seed)
    detector = find_detector(spec.detector)(random_state=spec.seed, device=device)
    session = Session(detector, split.train_X, query=spec.query, random_state=spec.seed)
    oracle = Oracle(split.train_y)
    spent, started = 0.0, time.perf_counter()
    for round_number in run_rounds(session, oracle, spec.rounds):
        spent += time.perf_counter() - started
        labels = session.labels
        train = quality(split.train_y, session.detector.decision_scores_)
        test = quality(split.test_y, session.detector.decision_function(split.test_X))
        yield RoundResult(
            detector=spec.detector,
            query=spec.query,
            dataset=spec.dataset,
            group=dataset.group,
            seed=spec.seed,
            rounds=spec.rounds,
            round=round_number,
            n_train=len(split.train_y),
            n_features=dataset.n_features,
            n_labelled=int((labels != UNLABELLED).sum()),
            n_outliers_found=int((labels == OUTLIER).sum()),
            train_auc=train.auc,
            train_ap=train.ap,
            test_auc=test.auc,
            test_ap=test.ap,
            seconds=round(spent, 3),
        )
        started = time.perf_counter()
