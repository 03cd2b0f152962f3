"""The paper's experiment on one data set: split, warm-up, rounds of questions."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from importlib.metadata import version
from typing import Any, Self

from sklearn.metrics import average_precision_score, roc_auc_score

from imboost.datasets.dataset import Dataset
from imboost.detectors.base import resolve_device
from imboost.labels import OUTLIER, UNLABELLED
from imboost.session import Oracle, Session, run_rounds
from imboost_bench.baselines import make_detector, make_strategy
from imboost_bench.datasets.splits import STRATIFIED, Split, limit_outliers, split_dataset
from imboost_bench.paper import PAPER_ROUNDS
from imboost_bench.run.query_protocol import (
    ALL_OUTLIERS,
    PAPER,
    QueryProtocol,
    count_questions,
    largest_share,
)
from imboost_bench.run.settings import split_settings


@dataclass(frozen=True)
class RunSpec:
    """The specification of a run; runs with equal specifications give equal results.

    `seed` is that of the split; the others follow from it, see `seed_of`. `budget` are the
    questions per round (see `parse_budget`) and `oracle_noise` the fraction of the rows that the
    oracle labels wrongly. `settings` of detector and strategy are those that differ from the
    defaults (see `join_settings`). Outliers are removed at random until they are at most
    `outlier_share` of the rows: "all" keeps them, "paper" is the paper's fraction for the data
    set, "0.05" a fraction for all. The `split` is "stratified", or "random" as in the paper.
    """

    detector: str
    query: str
    dataset: str
    seed: int
    rounds: int = PAPER_ROUNDS
    budget: str = PAPER
    oracle_noise: float = 0.0
    settings: str = ""
    outlier_share: str = ALL_OUTLIERS
    split: str = STRATIFIED

    def seed_of(self, part: str) -> int:
        """Return the seed of "detector", "strategy", "oracle" or kept "outliers".

        Methods compared on a data set and a seed share the split, the wrong answers, the warm-up
        of a detector and the random questions of a strategy.
        """
        own = self.query if part == "strategy" else ""
        text = "\n".join([part, self.dataset, str(self.seed), own])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) // 2

    @property
    def protocol(self) -> QueryProtocol:
        """What the method is compared under."""
        return QueryProtocol(*(getattr(self, name) for name in QueryProtocol._fields))

    def __str__(self) -> str:
        parts = [f"{self.detector}/{self.query} on {self.dataset}", f"seed {self.seed}"]
        return ", ".join(filter(None, [*parts, *self.protocol.differences, self.settings]))


@dataclass(frozen=True, kw_only=True)
class RunLine(RunSpec):
    """A line of a result file: the run, the round, and how the run ended.

    Round 0 is before any answer. A run without a result is one line with round -1, status
    "failed" or "skipped" and the reason; `seconds` of a skipped run is the time limit it
    exceeded, or infinite if no time limit would help.
    """

    group: str
    round: int
    seconds: float = 0.0
    device: str = ""
    host: str = ""
    version: str = ""
    status: str = "ok"
    reason: str = ""

    @classmethod
    def of(cls, spec: RunSpec, group: str, **values: Any) -> Self:
        """Return a line of a run; `values` are the columns that `spec` and `group` do not give."""
        values |= {"group": group, "host": platform.node(), "version": version("imboost")}
        return cls(**vars(spec), **values)

    @property
    def spec(self) -> RunSpec:
        """The run that the line belongs to."""
        return RunSpec(**{field.name: getattr(self, field.name) for field in fields(RunSpec)})

    @property
    def ends_run(self) -> bool:
        """Whether this is the last line of a successful run."""
        return self.status == "ok" and self.round == self.rounds


@dataclass(frozen=True, kw_only=True)
class RoundResult(RunLine):
    """The metrics of a run after one of its rounds."""

    n_train: int = 0
    n_features: int = 0
    n_labelled: int = 0
    n_outliers_found: int = 0
    train_auc: float = float("nan")
    train_ap: float = float("nan")
    test_auc: float = float("nan")
    test_ap: float = float("nan")


def split_for(spec: RunSpec, dataset: Dataset) -> Split:
    """Return the training and test rows of a run."""
    share = largest_share(spec.outlier_share, dataset.group)
    kept = limit_outliers(dataset, share, spec.seed_of("outliers"))
    return split_dataset(kept, spec.seed, spec.split)


def open_session(
    spec: RunSpec, dataset: Dataset, device: str, *, audit_share: float = 0.0, **params: Any
) -> tuple[Split, Session, Iterator[int]]:
    """Return the split, a session on its training rows, and the iterator that runs its rounds."""
    settings = split_settings(spec.settings)
    split = split_for(spec, dataset)
    detector = make_detector(spec.detector, **settings.detector)
    detector.set_params(random_state=spec.seed_of("detector"), device=device, **params)
    session = Session(
        detector,
        split.train_X,
        query=make_strategy(spec.query, **settings.query),
        audit_share=audit_share,
        random_state=spec.seed_of("strategy"),
    )
    oracle = Oracle(split.train_y, noise=spec.oracle_noise, random_state=spec.seed_of("oracle"))
    n_questions = count_questions(spec.budget, len(split.train_y))
    return split, session, run_rounds(session, oracle, spec.rounds, n_questions)


def run(spec: RunSpec, dataset: Dataset, device: str = "cpu") -> Iterator[RoundResult]:
    """Run one experiment and yield a result after every round; metrics take no `seconds`."""
    split, session, rounds = open_session(spec, dataset, device)
    spent, started = 0.0, time.perf_counter()
    for round_number in rounds:
        spent += time.perf_counter() - started
        train_scores = session.detector.decision_scores_
        test_scores = session.detector.decision_function(split.test_X)
        is_labelled = session.labels != UNLABELLED
        yield RoundResult.of(
            spec,
            dataset.group,
            round=round_number,
            n_train=len(split.train_y),
            n_features=dataset.n_features,
            n_labelled=int(is_labelled.sum()),
            n_outliers_found=int((split.train_y[is_labelled] == OUTLIER).sum()),
            train_auc=float(roc_auc_score(split.train_y, train_scores)),
            train_ap=float(average_precision_score(split.train_y, train_scores)),
            test_auc=float(roc_auc_score(split.test_y, test_scores)),
            test_ap=float(average_precision_score(split.test_y, test_scores)),
            seconds=round(spent, 3),
            device=resolve_device(device).type,
        )
        started = time.perf_counter()
