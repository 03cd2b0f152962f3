"""`imboost bench decisions`: measure calibration, interval coverage and stopping advice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from imboost.cli.options import (
    DEFAULT_DETECTOR,
    BenchmarkData,
    Datasets,
    Jobs,
    QuestionBudget,
    Rounds,
    Seeds,
)
from imboost.cli.progress import progress_bar

if TYPE_CHECKING:
    from imboost.benchmark.run.decisions import DecisionResult, Verdict


def decisions(
    data: BenchmarkData,
    out: Annotated[Path, typer.Option(help="Folder for decisions.csv.")],
    detector: Annotated[str, typer.Option(help="Name of the detector.")] = DEFAULT_DETECTOR,
    dataset: Datasets = None,
    seed: Seeds = None,
    rounds: Rounds = 5,
    budget: QuestionBudget = "paper",
    jobs: Jobs = 1,
) -> None:
    """Check probabilities, intervals and the advice to stop against the true labels.

    A tenth of the questions are an audit: rows drawn at random.
    """
    from imboost.benchmark import Budget, Method, make_plan
    from imboost.benchmark.run.decisions import judge_all, sum_up, write_decisions
    from imboost.benchmark.run.plan import SEEDS

    plan = make_plan(
        data,
        methods=[Method.named(detector)],
        datasets=dataset or (),
        seeds=seed or SEEDS,
        rounds=rounds,
        budget=Budget.parse(budget),
        jobs=jobs,
    )
    out.mkdir(parents=True, exist_ok=True)
    lines: list[DecisionResult] = []
    with progress_bar(Console(stderr=True)) as progress:
        task = progress.add_task("runs", total=len(plan.specs))
        for results in judge_all(plan):
            lines += results
            progress.advance(task)
    write_decisions(lines, out / "decisions.csv")
    _print(sum_up(lines))
    Console().print(f"wrote {out / 'decisions.csv'}", markup=False, soft_wrap=True)


def _print(verdict: Verdict) -> None:
    from imboost.reporting import percent

    table = Table(title=f"{verdict.n_runs} runs, after the last round", title_justify="left")
    table.add_column("what was promised")
    table.add_column("measured", justify="right")
    for text, value in (
        ("expected calibration error of probabilities", f"{verdict.calibration_error:.3f}"),
        ("precision within its 90% interval", percent(verdict.precision_covered)),
        ("unfound outliers within their 90% interval", percent(verdict.unfound_covered)),
        ("found of what can be found, when advised to stop", percent(verdict.share_found)),
        ("runs advised to stop before the last round", percent(verdict.stopped_runs)),
        ("data sets where half of the runs are", percent(verdict.stopped_sets)),
    ):
        table.add_row(text, value)
    Console().print(table, highlight=False)
