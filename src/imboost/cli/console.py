"""Plain lines on the terminal: no markup, no colours, no line breaks within file names."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from imboost.errors import IMBoostError
from imboost.present.formatting import count, printable


def run_app(app: typer.Typer, name: str) -> None:
    """Run a program; a user's mistake ends with one line and exit code 2."""
    try:
        app()
    except (IMBoostError, OSError) as error:
        typer.echo(printable(f"{name}: {error}"), err=True)
        sys.exit(2)


def say(*lines: str, stderr: bool = False) -> None:
    """Print lines, without characters that could control the terminal."""
    console = Console(stderr=stderr)
    for line in lines:
        console.print(printable(line), markup=False, highlight=False, soft_wrap=True)


def outlier_count(n: int, n_rows: int, threshold: float) -> str:
    """Write how many rows are called outliers.

    >>> outlier_count(1, 80, 0.5)
    '1 of 80 rows scores above the threshold 0.5 and is called an outlier.'
    """
    verb = "scores" if n == 1 else "score"
    called = "is called an outlier" if n == 1 else "are called outliers"
    subject = f"{n:,} of {count(n_rows, 'row')}"
    return f"{subject} {verb} above the threshold {threshold:.4g} and {called}."
