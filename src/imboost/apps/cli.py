"""The command line. Heavy imports happen inside the commands, so that --help is quick."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from imboost.errors import IMBoostError

MAX_SEED = 2**32 - 1  # numpy's and scikit-learn's limit

app = typer.Typer(
    help="Find the outliers in a table with as few questions as possible.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
bench = typer.Typer(help="The paper's experiment: run it and report on it.", no_args_is_help=True)
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
    from imboost.apps.demo import run_demo

    run_demo(out, rounds=rounds, seed=seed)


@bench.command("run")
def bench_run(
    data: Annotated[Path, typer.Option(help="Folder with ADBench files.")],
    out: Annotated[Path, typer.Option(help="Folder for results.csv; appended to.")],
    detector: Annotated[str, typer.Option(help="Name of the detector.")] = "imboost",
    query: Annotated[
        str | None, typer.Option(help="Query strategy; the detector's own if not given.")
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="Data set; may be repeated. All if not given.")
    ] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(
            min=0, max=MAX_SEED, help="Seed; may be repeated. 100, 200 and 300 if not given."
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=0, help="Rounds of questions.")] = 5,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
) -> None:
    """Run a detector over data sets and seeds; finished runs are not repeated.

    The exit code is 1 if a run failed; the result file says why.
    """
    from imboost.apps.bench import run_benchmark
    from imboost.benchmark import make_plan

    plan = make_plan(
        data,
        detector=detector,
        query=query,
        datasets=dataset or (),
        seeds=seed or (100, 200, 300),
        rounds=rounds,
        device=device,
        jobs=jobs,
    )
    if not run_benchmark(plan, out):
        raise typer.Exit(1)


@bench.command("report")
def bench_report(
    out: Annotated[Path, typer.Argument(help="Folder with results.csv.")],
) -> None:
    """Write the tables and figures of a benchmark beside the paper's figures."""
    from imboost.benchmark.report import write_report

    for path in write_report(out):
        typer.echo(f"wrote {path}")
