"""How well decisions keep what they promise, on the terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from imboost.benchmark import Plan
from imboost.benchmark.run.decisions import (
    DecisionResult,
    Verdict,
    judge_all,
    sum_up,
    write_decisions,
)
from imboost.cli.progress import progress_bar
from imboost.reporting import percent


def run_decisions(plan: Plan, out: Path) -> None:
    """Do the runs of a plan, write a line for each of their rounds, and print how they went."""
    out.mkdir(parents=True, exist_ok=True)
    lines: list[DecisionResult] = []
    with progress_bar(Console(stderr=True)) as progress:
        task = progress.add_task("runs", total=len(plan.specs))
        for run in judge_all(plan):
            lines += run
            progress.advance(task)
    write_decisions(lines, out / "decisions.csv")
    _print(sum_up(lines))
    Console().print(f"wrote {out / 'decisions.csv'}", markup=False, soft_wrap=True)


def _print(verdict: Verdict) -> None:
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
