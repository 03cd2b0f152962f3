"""`imboost bench trace`: follow one run of IMBoost update by update."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from imboost.cli.options import BenchmarkData, Device, Seed
from imboost.cli.progress import progress_bar

if TYPE_CHECKING:
    from imboost.benchmark.trace.findings import Verdict
    from imboost.benchmark.trace.recording import Trace


def trace(
    dataset: Annotated[str, typer.Argument(help="Name of the data set.")],
    data: BenchmarkData,
    out: Annotated[Path, typer.Option(help="Folder for the table and the page.")],
    seed: Seed = 100,
    query: Annotated[str, typer.Option(help="Query strategy.")] = "mm",
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of questions.")] = 5,
    device: Device = "cpu",
) -> None:
    """Follow IMBoost update by update, and report where the paper's propositions held."""
    from imboost.benchmark import RunSpec
    from imboost.benchmark.run.runner import one_thread
    from imboost.benchmark.trace.findings import judge
    from imboost.benchmark.trace.recording import trace
    from imboost.benchmark.trace.report import write_trace
    from imboost.datasets.adbench import load_dataset
    from imboost.detectors.device import resolve_device
    from imboost.query import make_strategy

    make_strategy(query)
    resolve_device(device)
    table = load_dataset(data, dataset)
    out.mkdir(parents=True, exist_ok=True)
    with progress_bar() as progress, one_thread():
        task = progress.add_task("updates", total=None)
        result = trace(
            RunSpec("imboost", query, dataset, seed, rounds),
            table,
            device,
            lambda done, total: progress.update(task, completed=done, total=total),
        )
    verdicts = judge(result)
    _print(result, verdicts, write_trace(result, verdicts, out))


def _print(result: Trace, verdicts: list[Verdict], paths: list[Path]) -> None:
    console = Console()
    table = Table(title=str(result.spec), title_justify="left")
    table.add_column("the paper")
    table.add_column("here it", no_wrap=True)
    table.add_column("figures")
    for verdict in verdicts:
        claim = f"{verdict.source}: {verdict.claim}"
        table.add_row(claim, str(verdict.finding), verdict.figures)
    console.print(table, highlight=False)
    for path in paths:
        console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)
