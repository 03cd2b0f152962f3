"""The program: its commands and the handling of their errors.

Each command is a function in the file of its name; a new one is added to the list here. Command
files import heavy packages inside functions, so that `--help` is quick.
"""

from __future__ import annotations

from typing import Annotated

import typer

from imboost.cli.check import check
from imboost.cli.console import run_app
from imboost.cli.demo import demo
from imboost.cli.explain import explain
from imboost.cli.export import export
from imboost.cli.fit import fit
from imboost.cli.label import label
from imboost.cli.log import log
from imboost.cli.report import report
from imboost.cli.score import score
from imboost.cli.serve import serve

app = typer.Typer(
    epilog="Start with: imboost label TABLE.csv, or imboost fit TABLE.csv",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, label, log, check, fit, score, explain, report, export, serve):
    app.command()(command)


def main() -> None:
    """Run the program."""
    run_app(app, "imboost")


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
