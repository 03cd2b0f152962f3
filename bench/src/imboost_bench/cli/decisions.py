"""`imboost-bench decisions`: measure calibration, interval coverage and stopping advice."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from imboost.cli.options import DEFAULT_DETECTOR
from imboost_bench.cli import options
from imboost_bench.cli.run import run_plan

FRACTIONS = {
    "precision_coverage": "coverage of the 90% interval: precision",
    "unfound_coverage": "coverage of the 90% interval: outliers not found",
    "found_fraction": "outliers found at the advice to stop",
    "stopped_runs": "runs with advice to stop before the last round",
    "stopped_datasets": "data sets where at least half of the runs have such advice",
}


def decisions(
    data: options.BenchmarkData,
    out: Annotated[Path, typer.Option(help="Folder for decisions.csv.")],
    detector: Annotated[str, typer.Option(help="Name of the detector.")] = DEFAULT_DETECTOR,
    dataset: options.Datasets = None,
    seed: options.Seeds = None,
    rounds: options.Rounds = 5,
    budget: options.QuestionBudget = "paper",
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = 1,
    device: options.Device = "auto",
) -> None:
    """Check probabilities, intervals and the advice to stop against the true labels.

    A tenth of the questions are random rows. Finished runs are not repeated; the exit code is 1
    if a run failed.
    """
    from imboost_bench.run.budget import Budget
    from imboost_bench.run.decisions import (
        DecisionResult,
        evaluate_decisions,
        summarize_decisions,
    )
    from imboost_bench.run.plan import SEEDS, Method, make_plan
    from imboost_bench.run.results import ResultFile

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


def _print(summary: dict[str, float]) -> None:
    from imboost.present.formatting import percent

    n_runs, error = summary.pop("n_runs"), summary.pop("calibration_error")
    table = Table(title=f"{n_runs} runs, after the last round", title_justify="left")
    table.add_column("metric")
    table.add_column("value", justify="right")
    table.add_row("expected calibration error", f"{error:.3f}")
    for name, fraction in summary.items():
        table.add_row(FRACTIONS[name], percent(fraction))
    Console().print(table, highlight=False)
