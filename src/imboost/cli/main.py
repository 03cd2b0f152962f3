"""The command line. Heavy imports happen inside the commands, so that --help is quick."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from imboost.cli.table_commands import DEFAULT_DETECTOR, MAX_SEED, commands
from imboost.errors import IMBoostError, SettingError

app = typer.Typer(
    help="Find the outliers in a table with as few questions as possible.",
    epilog="Begin with: imboost fit TABLE.csv",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
bench = typer.Typer(help="The paper's experiment: run it and report on it.", no_args_is_help=True)
app.add_typer(commands)
app.add_typer(bench, name="bench")


def main() -> None:
    """Run the program; a user's mistake ends with one line and exit code 2."""
    try:
        app()
    except (IMBoostError, OSError) as error:
        typer.echo(f"imboost: {error}", err=True)
        sys.exit(2)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("imboost"))
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Find the outliers in a table with as few questions as possible."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("demo-report"),
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of questions.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of all randomness.")] = 0,
) -> None:
    """Run the whole loop on an embedded data set and write an HTML report."""
    from imboost.cli.demo import run_demo

    run_demo(out, rounds=rounds, seed=seed)


Data = Annotated[Path, typer.Option(help="Folder with ADBench files.")]
Out = Annotated[Path, typer.Option(help="Folder for results.csv; appended to.")]
Datasets = Annotated[
    list[str] | None, typer.Option(help="Data set; may be repeated. All if not given.")
]
Seeds = Annotated[
    list[int] | None,
    typer.Option(
        min=0, max=MAX_SEED, help="Seed; may be repeated. 100, 200 and 300 if not given."
    ),
]
LargeSeeds = Annotated[
    list[int] | None,
    typer.Option(
        min=0, max=MAX_SEED, help="Seed for tables of over 50,000 rows, in place of --seed."
    ),
]
Rounds = Annotated[int, typer.Option(min=0, help="Rounds of questions.")]
BudgetText = Annotated[
    str,
    typer.Option(
        "--budget",
        help="Questions per round: paper (1 % of the rows, 6 for small sets), a share such as "
        "0.002, or a number such as 20rows.",
    ),
]
OracleNoise = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Share of the rows answered wrongly.")
]
TimeLimit = Annotated[
    float | None, typer.Option(help="Seconds after which a run is given up and skipped.")
]
Jobs = Annotated[int, typer.Option(min=1, help="Worker processes, one core each.")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]


@bench.command("run")
def bench_run(
    data: Data,
    out: Out,
    detector: Annotated[
        str | None, typer.Option(help="Name of the detector; stack if not given.")
    ] = None,
    query: Annotated[
        str | None, typer.Option(help="Query strategy; the detector's own if not given.")
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(
            help="Many methods at once, in place of --detector: paper (the 19 columns of its "
            "tables), queries, peers, all (of these), leaders (stack and its strongest rivals), "
            "ingredients (stack, and stack with one ingredient removed at a time)."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of the detector, such as n_trees=50, of the query strategy, such as "
            "query__distance_power=0, or of the table: table__scaling (robust, quantile or "
            "minmax), table__missing=0.2 (cells taken away), table__filling=mean; may be "
            "repeated.",
        ),
    ] = None,
    dataset: Datasets = None,
    seed: Seeds = None,
    large_seed: LargeSeeds = None,
    rounds: Rounds = 5,
    budget: BudgetText = "paper",
    oracle_noise: OracleNoise = 0.0,
    time_limit: TimeLimit = None,
    jobs: Jobs = 1,
    device: Device = "auto",
) -> None:
    """Run detectors over data sets and seeds; finished runs are not repeated.

    The exit code is 1 if a run failed; the result file says why.
    """
    from imboost.benchmark import Budget, Method, Settings, make_plan
    from imboost.benchmark.run.plan import SEEDS
    from imboost.benchmark.run.suites import find_suite
    from imboost.cli.bench_run import run_benchmark

    if suite is None:
        methods = [
            Method.named(detector or DEFAULT_DETECTOR, query, Settings.parse(setting or ()))
        ]
    elif detector or query or setting:
        raise SettingError("--suite names its own methods: leave out --detector, --query, --set.")
    else:
        methods = find_suite(suite)
    plan = make_plan(
        data,
        methods=methods,
        datasets=dataset or (),
        seeds=seed or SEEDS,
        large_seeds=large_seed or None,
        rounds=rounds,
        budget=Budget.parse(budget),
        oracle_noise=oracle_noise,
        time_limit=time_limit,
        jobs=jobs,
        device=device,
    )
    if not run_benchmark(plan, out):
        raise typer.Exit(1)


@bench.command("ablate")
def bench_ablate(
    name: Annotated[str, typer.Argument(help="lambda1, lambda2, xi, alpha, T1 or all.")],
    data: Data,
    out: Out,
    dataset: Datasets = None,
    seed: Seeds = None,
    large_seed: LargeSeeds = None,
    time_limit: TimeLimit = None,
    jobs: Jobs = 1,
    device: Device = "auto",
) -> None:
    """Run IMBoost with one setting changed, over the values that the paper tried."""
    from imboost.benchmark import make_plan
    from imboost.benchmark.run.ablation import find_ablations
    from imboost.benchmark.run.plan import SEEDS
    from imboost.cli.bench_run import run_benchmark

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
    if not run_benchmark(plan, out):
        raise typer.Exit(1)


@bench.command("report")
def bench_report(
    out: Annotated[Path, typer.Argument(help="Folder with results.csv.")],
    against: Annotated[
        str | None,
        typer.Option(
            help="The method that others are compared with, such as stack/spread, or stack for "
            "it with its own query strategy; imboost/mm if not given."
        ),
    ] = None,
) -> None:
    """Write the tables and figures of a benchmark beside the paper's figures."""
    from imboost.benchmark.report import write_report

    for path in write_report(out, against):
        typer.echo(f"wrote {path}")


@bench.command("decisions")
def bench_decisions(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for decisions.csv.")],
    detector: Annotated[str, typer.Option(help="Name of the detector.")] = DEFAULT_DETECTOR,
    dataset: Datasets = None,
    seed: Seeds = None,
    rounds: Rounds = 5,
    budget: BudgetText = "paper",
    jobs: Jobs = 1,
) -> None:
    """Check probabilities, intervals and the advice to stop against the truth.

    A tenth of the questions are an audit: rows drawn at random.
    """
    from imboost.benchmark import Budget, Method, make_plan
    from imboost.benchmark.run.plan import SEEDS
    from imboost.cli.bench_decisions import run_decisions

    plan = make_plan(
        data,
        methods=[Method.named(detector)],
        datasets=dataset or (),
        seeds=seed or SEEDS,
        rounds=rounds,
        budget=Budget.parse(budget),
        jobs=jobs,
    )
    run_decisions(plan, out)


@bench.command("trace")
def bench_trace(
    dataset: Annotated[str, typer.Argument(help="Name of the data set.")],
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the table and the page.")],
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the run.")] = 100,
    query: Annotated[str, typer.Option(help="Query strategy.")] = "mm",
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of questions.")] = 5,
    device: Device = "cpu",
) -> None:
    """Follow IMBoost update by update, and say where the paper's propositions held."""
    from imboost.benchmark import RunSpec
    from imboost.cli.bench_trace import run_trace

    run_trace(RunSpec("imboost", query, dataset, seed, rounds), data, out, device)
