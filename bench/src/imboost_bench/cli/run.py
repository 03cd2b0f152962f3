"""`imboost-bench run`: run methods over data sets and seeds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from imboost.cli.options import DEFAULT_DETECTOR
from imboost.errors import SettingError
from imboost_bench.cli import options

if TYPE_CHECKING:
    from imboost_bench.run.plan import Plan
    from imboost_bench.run.protocol import RunSpec
    from imboost_bench.run.results import Line, ResultFile
    from imboost_bench.run.runner import Experiment


def run(
    data: options.BenchmarkData,
    out: options.ResultsFolder,
    detector: Annotated[
        str | None,
        typer.Option(help=f"Name of the detector. Default: {DEFAULT_DETECTOR}."),
    ] = None,
    query: Annotated[
        str | None, typer.Option(help="Query strategy. Default: the detector's own.")
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(
            help="Run a named list of methods instead of --detector: paper (the 19 methods of the "
            "paper's tables), paper-protocol (the same, with the paper's splits and numbers of "
            "outliers), queries, peers, all (paper, queries and peers), leaders (stack and "
            "the strongest others), stack-ablation (stack with one component removed at a time), "
            "pretrained (stack without and with the pretrained network, and the network alone)."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of the detector, such as n_trees=50, or of the query strategy, such "
            "as query__patience=5; may be repeated.",
        ),
    ] = None,
    dataset: options.Datasets = None,
    seed: options.Seeds = None,
    large_seed: options.LargeSeeds = None,
    rounds: options.Rounds = 5,
    budget: options.QuestionBudget = "paper",
    oracle_noise: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Fraction of rows answered wrongly.")
    ] = 0.0,
    outlier_share: Annotated[
        str | None,
        typer.Option(
            help="Outliers are removed at random until they are at most this fraction of the "
            "rows: a fraction such as 0.05, paper (the paper's fraction for each data set), or "
            "all (keep them). Default: all."
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="stratified (the same fraction of outliers in training and test rows) or random, "
            "as in the paper. Default: stratified."
        ),
    ] = None,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = 1,
    device: options.Device = "auto",
) -> None:
    """Run detectors over data sets and seeds; finished runs are not repeated.

    The exit code is 1 if a run failed; the result file says why.
    """
    from imboost_bench.run.plan import SEEDS, Method, make_plan
    from imboost_bench.run.settings import join_settings
    from imboost_bench.run.suites import Suite, find_suite

    chosen = Suite(())
    if suite is None:
        name = detector or DEFAULT_DETECTOR
        methods = [Method.named(name, query, join_settings(setting or ()))]
    elif detector or query or setting:
        raise SettingError("--suite names its own methods: leave out --detector, --query, --set.")
    else:
        chosen = find_suite(suite)
        methods = chosen.make_methods()
    plan = make_plan(
        data,
        methods=methods,
        datasets=dataset or (),
        seeds=seed or SEEDS,
        large_seeds=large_seed or None,
        rounds=rounds,
        budget=budget,
        oracle_noise=oracle_noise,
        outlier_share=outlier_share or chosen.outlier_share,
        split=split or chosen.split,
        time_limit=time_limit,
        jobs=jobs,
        device=device,
    )
    run_benchmark(plan, out)


def run_benchmark(plan: Plan, out: Path) -> None:
    """Run the paper's protocol; exit with code 1 if a run failed."""
    from imboost_bench.run.protocol import RoundResult, run
    from imboost_bench.run.results import ResultFile

    n_failed = run_plan(run, plan, ResultFile(out / "results.csv", RoundResult))
    Console(stderr=True).print(f"Next: imboost-bench report {out}", markup=False, soft_wrap=True)
    raise typer.Exit(n_failed > 0)


def run_plan(experiment: Experiment[Line], plan: Plan, results: ResultFile[Line]) -> int:
    """Do the unfinished runs of a plan with a progress bar; return how many failed."""
    from imboost_bench.run.runner import run_all

    results.path.parent.mkdir(parents=True, exist_ok=True)  # fails before anything runs
    finished = results.finished(plan.time_limit)
    n_before = sum(spec in finished for spec in plan.specs)
    console = Console(stderr=True)
    counts: Counter[str] = Counter()
    with Progress(console=console) as progress:
        task = progress.add_task("runs", total=len(plan.specs), completed=n_before)

        def on_done(spec: RunSpec, last: Line) -> None:
            counts[last.status] += 1
            progress.advance(task)
            progress.update(task, description=f"{spec.dataset}, seed {spec.seed}")
            if last.status != "ok":
                text = f"{last.status}: {spec}: {last.reason}"
                progress.console.print(text, markup=False, soft_wrap=True)

        run_all(experiment, plan, results, on_done)
        progress.update(task, description="runs")
    console.print(
        f"{counts['ok']} runs done, {n_before} were done before, {counts['failed']} failed, "
        f"{counts['skipped']} skipped. Results: {results.path}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    return counts["failed"]
