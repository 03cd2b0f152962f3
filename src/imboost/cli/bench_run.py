"""The benchmark on the terminal: a progress bar, failures as they come, a last line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich.console import Console

from imboost.benchmark import Plan, ResultFile, RoundResult, RunSpec, run_all
from imboost.cli.progress import progress_bar


def run_benchmark(plan: Plan, out: Path) -> bool:
    """Do what is left of a plan, tell how it went, and return whether no run failed."""
    out.mkdir(parents=True, exist_ok=True)
    results = ResultFile(out / "results.csv")
    settled = results.settled(plan.time_limit)
    n_before = sum(spec in settled for spec in plan.specs)
    console = Console(stderr=True)
    counts: Counter[str] = Counter()
    with progress_bar(console) as progress:
        task = progress.add_task("runs", total=len(plan.specs), completed=n_before)

        def on_done(spec: RunSpec, last: RoundResult) -> None:
            counts[last.status] += 1
            progress.advance(task)
            progress.update(task, description=f"{spec.dataset}, seed {spec.seed}")
            if last.status != "ok":
                text = f"{last.status}: {spec}: {last.reason}"
                progress.console.print(text, markup=False, soft_wrap=True)

        run_all(plan, results, on_done)
        progress.update(task, description="runs")
    console.print(
        f"{counts['ok']} runs done, {n_before} were done before, {counts['failed']} failed, "
        f"{counts['skipped']} skipped. Results: {results.path}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    console.print(f"Next: imboost bench report {out}", markup=False, soft_wrap=True)
    return counts["failed"] == 0
