"""A traced run on the terminal: a progress bar, a table of verdicts, where the page lies."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from imboost.benchmark import RunSpec
from imboost.benchmark.run.runner import one_thread
from imboost.benchmark.trace.findings import Verdict, judge
from imboost.benchmark.trace.recording import Trace, trace
from imboost.benchmark.trace.report import write_trace
from imboost.cli.progress import progress_bar
from imboost.datasets.adbench import load_dataset
from imboost.detectors.device import resolve_device
from imboost.query import make_strategy


def run_trace(spec: RunSpec, data: Path, out: Path, device: str) -> None:
    """Trace one run of IMBoost, write its files into `out` and print what held."""
    make_strategy(spec.query)
    resolve_device(device)
    dataset = load_dataset(data, spec.dataset)
    out.mkdir(parents=True, exist_ok=True)
    with progress_bar() as progress, one_thread():
        task = progress.add_task("updates", total=None)
        result = trace(
            spec,
            dataset,
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
