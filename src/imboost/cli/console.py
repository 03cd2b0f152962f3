"""Plain lines on the terminal: no markup, no colours, no line breaks within file names."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from imboost.errors import IMBoostError
from imboost.present.formatting import count, number, printable


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
    """Write how many outliers are predicted.

    >>> outlier_count(1, 80, 0.5)
    '1 predicted outlier in 80 rows (score above 0.5).'
    """
    rows = f"{count(n, 'predicted outlier')} in {count(n_rows, 'row')}"
    return f"{rows} (score above {number(threshold)})."
