"""`imboost-bench ablate`: the paper's ablations."""

from __future__ import annotations

from typing import Annotated

import typer

from imboost_bench.cli import options
from imboost_bench.cli.run import run_benchmark


def ablate(
    name: Annotated[
        str, typer.Argument(help="Setting to vary: lambda1, lambda2, xi, alpha, T1 or all.")
    ],
    data: options.BenchmarkData,
    out: options.ResultsFolder,
    dataset: options.Datasets = None,
    seed: options.Seeds = None,
    large_seed: options.LargeSeeds = None,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = 1,
    device: options.Device = "auto",
) -> None:
    """Run IMBoost with one setting changed, over the paper's values."""
    from imboost_bench.run.plan import SEEDS, make_plan
    from imboost_bench.run.suites import find_ablations

    plan = make_plan(
        data,
        methods=[method for ablation in find_ablations(name) for method in ablation.methods],
        datasets=dataset or (),
        seeds=seed or SEEDS,
        large_seeds=large_seed or None,
        time_limit=time_limit,
        jobs=jobs,
        device=device,
    )
    run_benchmark(plan, out)
