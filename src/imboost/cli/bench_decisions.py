"""`imboost bench decisions`: measure calibration, interval coverage and stopping advice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from imboost.cli.bench_run import run_plan
from imboost.cli.options import (
    DEFAULT_DETECTOR,
    BenchmarkData,
    Datasets,
    Device,
    Jobs,
    QuestionBudget,
    Rounds,
    Seeds,
    TimeLimit,
)

if TYPE_CHECKING:
    from imboost.benchmark.analysis.decision_summary import DecisionSummary


def decisions(
    data: BenchmarkData,
    out: Annotated[Path, typer.Option(help="Folder for decisions.csv.")],
    detector: Annotated[str, typer.Option(help="Name of the detector.")] = DEFAULT_DETECTOR,
    dataset: Datasets = None,
    seed: Seeds = None,
    rounds: Rounds = 5,
    budget: QuestionBudget = "paper",
    time_limit: TimeLimit = None,
    jobs: Jobs = 1,
    device: Device = "auto",
) -> None:
    """Check probabilities, intervals and the advice to stop against the true labels.

    A tenth of the questions are random rows. Finished runs are not repeated; the exit code is 1
    if a run failed.
    """
    from imboost.benchmark import Budget, Method, ResultFile, make_plan
    from imboost.benchmark.analysis.decision_summary import summarize_decisions
    from imboost.benchmark.run.decisions import DecisionResult, evaluate_decisions
    from imboost.benchmark.run.plan import SEEDS

    plan = make_plan(
        data,
        methods=[Method.named(detector)],
        datasets=dataset or (),
        seeds=seed or SEEDS,
        rounds=rounds,
        budget=Budget.parse(budget),
        time_limit=time_limit,
        jobs=jobs,
        device=device,
    )
    results = ResultFile(out / "decisions.csv", DecisionResult)
    succeeded = run_plan(evaluate_decisions, plan, results)
    planned = set(plan.specs)
    lines = [line for line in results.read() if line.status == "ok" and line.spec in planned]
    if lines:
        _print(summarize_decisions(lines))
    if not succeeded:
        raise typer.Exit(1)


def _print(summary: DecisionSummary) -> None:
    from imboost.reporting import percent

    table = Table(title=f"{summary.n_runs} runs, after the last round", title_justify="left")
    table.add_column("metric")
    table.add_column("value", justify="right")
    for text, value in (
        ("expected calibration error", f"{summary.calibration_error:.3f}"),
        ("coverage of the 90% interval: precision", percent(summary.precision_coverage)),
        ("coverage of the 90% interval: outliers not found", percent(summary.unfound_coverage)),
        ("outliers found at the advice to stop", percent(summary.share_found)),
        ("runs with advice to stop before the last round", percent(summary.stopped_runs)),
        ("data sets where at least half of the runs have it", percent(summary.stopped_datasets)),
    ):
        table.add_row(text, value)
    Console().print(table, highlight=False)
