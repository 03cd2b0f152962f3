"""`imboost-bench decisions`: measure calibration, interval coverage and stopping advice."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from imboost.cli.options import DEFAULT_DETECTOR
from imboost_bench.cli import options
from imboost_bench.cli.run import run_plan
from imboost_bench.cli.tables import print_table


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
    from imboost_bench.report.tables import Table
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
        budget=budget,
        time_limit=time_limit,
        jobs=jobs,
        device=device,
    )
    results = ResultFile(out / "decisions.csv", DecisionResult)
    n_failed = run_plan(evaluate_decisions, plan, results)
    lines = [line for line in results.read() if line.status == "ok" and line.spec in plan.specs]
    if lines:
        title = f"{len({line.spec for line in lines})} runs, after the last round"
        print_table(Table(summarize_decisions(lines)), title)
    raise typer.Exit(n_failed > 0)
