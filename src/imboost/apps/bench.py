"""The benchmark on the terminal: a progress bar, failures as they come, a last line."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from imboost.benchmark import Plan, ResultFile, RunSpec, run_all


def run_benchmark(plan: Plan, out: Path) -> bool:
    """Do what is left of a plan, tell how it went, and return whether no run failed."""
    out.mkdir(parents=True, exist_ok=True)
    results = ResultFile(out / "results.csv")
    finished = results.finished()
    n_before = sum(spec in finished for spec in plan.specs)
    console = Console(stderr=True)
    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    n_failed = 0
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("runs", total=len(plan.specs), completed=n_before)

        def on_done(spec: RunSpec, went_well: bool, reason: str) -> None:
            nonlocal n_failed
            progress.advance(task)
            progress.update(task, description=f"{spec.dataset}, seed {spec.seed}")
            if not went_well:
                n_failed += 1
                progress.console.print(f"failed: {spec}: {reason}", markup=False)

        run_all(plan, results, on_done)
        progress.update(task, description="runs")
    console.print(
        f"{len(plan.specs) - n_before - n_failed} runs done, {n_before} were done before, "
        f"{n_failed} failed. Results: {results.path}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    console.print(f"Next: imboost bench report {out}", markup=False, soft_wrap=True)
    return n_failed == 0
