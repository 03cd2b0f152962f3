"""Plain lines on the terminal: no markup, no colours, no line breaks within file names."""

from __future__ import annotations

import sys
import traceback

import typer
from rich.console import Console

from imboost.errors import IMBoostError
from imboost.present.formatting import count, number, printable

FAILURE = 3  # exit code of an error of the program; 1 says that `imboost check` has findings

OPTIONS = {
    "encoding": "--encoding",
    "has_header=False": "--header no",
    "has_header=True": "--header yes",
    "sql": "--sql",
    "outlier_label": "--outlier-label",
    "TableDetector.distill": "'imboost export MODEL --fast'",
}
"""Options by the parameter that errors of the library name."""


def run_app(app: typer.Typer, name: str) -> None:
    """Run a program; a user's mistake ends with one line and exit code 2, a failure with 3."""
    try:
        app()
    except (IMBoostError, OSError) as error:
        typer.echo(printable(f"{name}: {with_options(str(error))}"), err=True)
        sys.exit(2)
    except Exception:
        traceback.print_exc()
        sys.exit(FAILURE)


def with_options(message: str) -> str:
    """Name the command's options in place of the parameters that an error names.

    >>> with_options("The file has no header: give `has_header=False`.")
    'The file has no header: give --header no.'
    """
    for parameter, option in OPTIONS.items():
        message = message.replace(f"`{parameter}`", option)
    return message


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
