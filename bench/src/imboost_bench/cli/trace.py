"""`imboost-bench trace`: record runs of IMBoost update by update."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from imboost.cli.options import Seed
from imboost.cli.progress import progress_bar
from imboost_bench.cli import options

if TYPE_CHECKING:
    from imboost_bench.trace.claims import Finding
    from imboost_bench.trace.recording import Trace


def trace(
    dataset: Annotated[str, typer.Argument(help="Name of the data set.")],
    data: options.BenchmarkData,
    out: Annotated[Path, typer.Option(help="Folder for the CSV table and the HTML page.")],
    seed: Seed = 100,
    query: Annotated[str, typer.Option(help="Query strategy.")] = "mm",
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of questions.")] = 5,
    device: options.Device = "cpu",
) -> None:
    """Record every update of IMBoost and check the paper's theory.

    One run has constant weights, as in the paper's experiments, and one decaying weights, as in
    proposition 2.
    """
    from imboost.detectors import IMBoost
    from imboost.detectors.base import resolve_device
    from imboost_bench.baselines import make_strategy
    from imboost_bench.datasets.adbench import load_dataset
    from imboost_bench.run.protocol import RunSpec
    from imboost_bench.run.runner import limit_to_one_core
    from imboost_bench.trace.claims import check_claims
    from imboost_bench.trace.recording import VARIANTS, count_updates, trace
    from imboost_bench.trace.report import write_traces

    make_strategy(query)
    resolve_device(device)
    table = load_dataset(data, dataset)
    out.mkdir(parents=True, exist_ok=True)
    total = len(VARIANTS) * count_updates(IMBoost(), rounds)
    with progress_bar() as progress, limit_to_one_core():
        task = progress.add_task("updates", total=total)
        traces = {
            name: trace(
                RunSpec("imboost", query, dataset, seed, rounds, settings=settings),
                table,
                device,
                lambda: progress.advance(task),
            )
            for name, settings in VARIANTS.items()
        }
    findings = {name: check_claims(own) for name, own in traces.items()}
    _print(traces, findings)
    for path in write_traces(traces, findings, out):
        typer.echo(f"wrote {path}")


def _print(traces: Mapping[str, Trace], findings: Mapping[str, Sequence[Finding]]) -> None:
    console, first = Console(), next(iter(traces.values()))
    title = f"{first.spec}; losses with K = {first.detector.n_score_samples}"
    table = Table(title=title, title_justify="left")
    table.add_column("claim")
    table.add_column("losses", max_width=9)
    for name in traces:
        table.add_column(name, max_width=16)
    claim = ""
    for row in zip(*findings.values(), strict=True):
        previous, claim = claim, f"{row[0].source}: {row[0].claim}"
        outcomes = (str(finding.outcome) for finding in row)
        table.add_row("" if claim == previous else claim, row[0].losses or "any", *outcomes)
    console.print(table, highlight=False)
    console.print("The page has the figures of every claim.", highlight=False)
