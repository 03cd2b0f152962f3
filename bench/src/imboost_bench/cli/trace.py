"""`imboost-bench trace`: record runs of IMBoost update by update."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from imboost.cli.options import Seed
from imboost_bench.cli import options
from imboost_bench.cli.tables import print_table


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
    import pandas as pd

    from imboost.detectors import IMBoost
    from imboost.detectors.base import resolve_device
    from imboost_bench.baselines import make_strategy
    from imboost_bench.datasets.adbench import load_dataset
    from imboost_bench.report.tables import Table
    from imboost_bench.run.protocol import RunSpec
    from imboost_bench.run.runner import limit_to_one_core
    from imboost_bench.trace.claims import check_claims
    from imboost_bench.trace.recording import VARIANTS, count_updates, trace
    from imboost_bench.trace.report import write_traces

    make_strategy(query)
    resolve_device(device)
    table = load_dataset(data, dataset)
    out.mkdir(parents=True, exist_ok=True)
    spec = RunSpec("imboost", query, dataset, seed, rounds)
    total = len(VARIANTS) * count_updates(IMBoost(), rounds)
    with Progress(console=Console(stderr=True)) as progress, limit_to_one_core():
        task = progress.add_task("updates", total=total)
        traces = {
            name: trace(
                replace(spec, settings=settings), table, device, lambda: progress.advance(task)
            )
            for name, settings in VARIANTS.items()
        }
    findings = {name: check_claims(own) for name, own in traces.items()}
    first, *_ = findings.values()
    rows = {
        "claim": [f"{finding.source}: {finding.claim}" for finding in first],
        "losses": [finding.losses or "any" for finding in first],
        **{name: [str(finding.outcome) for finding in own] for name, own in findings.items()},
    }
    title = f"{spec}; losses with K = {IMBoost().n_score_samples}"
    print_table(Table(pd.DataFrame(rows)), title)
    typer.echo("The page has the figures of every claim.")
    for path in write_traces(traces, findings, out):
        typer.echo(f"wrote {path}")
