"""`imboost bench trace`: record one run of IMBoost update by update."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from imboost.cli import options
from imboost.cli.progress import progress_bar

if TYPE_CHECKING:
    from imboost.benchmark.trace.findings import Finding
    from imboost.benchmark.trace.recording import Trace


def trace(
    dataset: Annotated[str, typer.Argument(help="Name of the data set.")],
    data: options.BenchmarkData,
    out: Annotated[Path, typer.Option(help="Folder for the CSV table and the HTML page.")],
    seed: options.Seed = 100,
    query: Annotated[str, typer.Option(help="Query strategy.")] = "mm",
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of questions.")] = 5,
    device: options.Device = "cpu",
) -> None:
    """Record every update of IMBoost and check the paper's propositions."""
    from imboost.benchmark import RunSpec
    from imboost.benchmark.run.runner import limit_to_one_core
    from imboost.benchmark.trace.findings import check_claims
    from imboost.benchmark.trace.recording import trace
    from imboost.benchmark.trace.report import write_trace
    from imboost.datasets.adbench import load_dataset
    from imboost.detectors.device import resolve_device
    from imboost.query import make_strategy

    make_strategy(query)
    resolve_device(device)
    table = load_dataset(data, dataset)
    out.mkdir(parents=True, exist_ok=True)
    with progress_bar() as progress, limit_to_one_core():
        task = progress.add_task("updates", total=None)
        result = trace(
            RunSpec("imboost", query, dataset, seed, rounds),
            table,
            device,
            lambda done, total: progress.update(task, completed=done, total=total),
        )
    findings = check_claims(result)
    _print(result, findings, write_trace(result, findings, out))


def _print(result: Trace, findings: list[Finding], paths: list[Path]) -> None:
    console = Console()
    table = Table(title=str(result.spec), title_justify="left")
    table.add_column("claim")
    table.add_column("outcome", no_wrap=True)
    table.add_column("figures")
    for finding in findings:
        claim = f"{finding.source}: {finding.claim}"
        table.add_row(claim, str(finding.outcome), finding.figures)
    console.print(table, highlight=False)
    for path in paths:
        console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)
