"""The program `imboost-bench`: its commands, one file each.

Command files import heavy packages inside functions, so that `--help` is quick.
"""

from __future__ import annotations

import typer

from imboost.cli.console import run_app
from imboost_bench.cli.ablate import ablate
from imboost_bench.cli.cells import cells
from imboost_bench.cli.datasets import datasets
from imboost_bench.cli.decisions import decisions
from imboost_bench.cli.report import report
from imboost_bench.cli.run import run
from imboost_bench.cli.trace import trace

app = typer.Typer(
    help="Benchmark detectors with the paper's protocol and report on the results.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (run, ablate, report, cells, datasets, decisions, trace):
    app.command()(command)


def main() -> None:
    """Run the program; a user's mistake ends with one line and exit code 2."""
    run_app(app, "imboost-bench")
