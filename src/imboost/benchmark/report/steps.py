"""From one round to the next: how long a person waits, and how often answers made it worse."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from statistics import fmean

from imboost.benchmark.analysis.method_tables import MethodTable
from imboost.benchmark.report.rounds import finished_runs
from imboost.benchmark.report.study import Study
from imboost.benchmark.run.protocol import RoundResult
from imboost.reporting import Column, Table
from imboost.reporting.formatting import Value

CLEARLY_WORSE = 0.02
"""A test AUC that falls by more than this from one round to the next got clearly worse."""

Run = dict[int, RoundResult]


def step_tables(study: Study) -> dict[str, Table]:
    """Return the tables by file name."""
    return {"waiting_times": _waiting_table(study), "losses": _loss_table(study)}


def _waiting_table(study: Study) -> Table:
    """Return seconds until the first question and between rounds, set by set."""
    columns = [
        Column("data set"),
        Column("rows", "count"),
        Column("columns", "count"),
        Column("to the first question", "number"),
        Column("between rounds", "number"),
        Column("longest", "number"),
    ]
    rows: list[list[Value]] = []
    for dataset, runs in sorted(_by_dataset(study, study.reference).items()):
        line = runs[0][max(runs[0])]
        waits = [wait for run in runs for wait in _waits(run)]
        if not waits or any(0 not in run for run in runs):
            continue
        first = fmean(run[0].seconds for run in runs)
        rows.append([dataset, line.n_train, line.n_features, first, fmean(waits), max(waits)])
    return Table(columns, rows)


def _loss_table(study: Study) -> Table:
    """Return for each method in how many rounds of sets more answers made it clearly worse."""
    columns = [
        Column("method"),
        Column("sets and rounds", "count"),
        Column("clearly worse", "count"),
        Column("share", "figure"),
    ]
    rows: list[list[Value]] = []
    for method in study.methods:
        steps = [
            later - earlier
            for runs in _by_dataset(study, method).values()
            for earlier, later in pairwise(_mean_curve(runs))
        ]
        n_worse = sum(step < -CLEARLY_WORSE for step in steps)
        if steps:
            rows.append([method.name, len(steps), n_worse, n_worse / len(steps)])
    return Table(columns, rows, marked=study.reference.name)


def _by_dataset(study: Study, method: MethodTable) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = defaultdict(list)
    for run in finished_runs(study, [method]):
        found[next(iter(run.values())).dataset].append(run)
    return found


def _waits(run: Run) -> list[float]:
    """Return the seconds of every round, whose lines count them from the start."""
    return [run[number].seconds - run[number - 1].seconds for number in run if number - 1 in run]


def _mean_curve(runs: list[Run]) -> list[float]:
    """Return the test AUC after every round that all runs have, on average over seeds."""
    numbers = sorted(set.intersection(*(set(run) for run in runs)))
    return [fmean(run[number].test_auc for run in runs) for number in numbers]
