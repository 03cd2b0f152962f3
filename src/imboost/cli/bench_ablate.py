"""`imboost bench ablate`: the paper's ablations."""

from __future__ import annotations

from typing import Annotated

import typer

from imboost.cli.bench_run import run_benchmark
from imboost.cli.options import (
    BenchmarkData,
    Datasets,
    Device,
    Jobs,
    LargeSeeds,
    ResultsFolder,
    Seeds,
    TimeLimit,
)


def ablate(
    name: Annotated[str, typer.Argument(help="lambda1, lambda2, xi, alpha, T1 or all.")],
    data: BenchmarkData,
    out: ResultsFolder,
    dataset: Datasets = None,
    seed: Seeds = None,
    large_seed: LargeSeeds = None,
    time_limit: TimeLimit = None,
    jobs: Jobs = 1,
    device: Device = "auto",
) -> None:
    """Run IMBoost with one setting changed, over the paper's values."""
    from imboost.benchmark import make_plan
    from imboost.benchmark.run.ablation import find_ablations
    from imboost.benchmark.run.plan import SEEDS

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
