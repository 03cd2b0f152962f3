"""What commands print and write: plain lines without markup, text files, standard output."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import typer
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

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


def print_table(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], right: Container[str] = ()
) -> None:
    """Print a table of text; the columns in `right` are aligned there."""
    table = Table(title=title or None, title_justify="left")
    for heading in headings:
        justify: JustifyMethod = "right" if heading in right else "left"
        table.add_column(heading, justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console().print(table, highlight=False)


def outlier_count(n: int, n_rows: int, threshold: float) -> str:
    """Write how many outliers are predicted.

    >>> outlier_count(1, 80, 0.5)
    '1 predicted outlier in 80 rows (score above 0.5).'
    """
    rows = f"{count(n, 'predicted outlier')} in {count(n_rows, 'row')}"
    return f"{rows} (score above {number(threshold)})."


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    from imboost.persistence.atomic_write import atomic_write

    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")


@contextmanager
def output_file(path: Path, ending: str) -> Iterator[Path]:
    """Yield a draft path; the file written there appears at `path`, complete or not at all.

    The path "-" is standard output; its draft has the given ending.
    """
    from imboost.persistence.atomic_write import atomic_write
    from imboost.tables.read_options import STANDARD_STREAM

    if path != STANDARD_STREAM:
        with atomic_write(path) as draft:
            yield draft
        return
    with TemporaryDirectory(prefix="imboost-") as folder:
        draft = Path(folder, f"output{ending}")
        yield draft
        is_terminal = sys.stdout.isatty()
        try:
            with draft.open(encoding="utf-8", newline="") as lines:
                for line in lines:  # a terminal gets no characters that could control it
                    sys.stdout.write(f"{printable(line.rstrip())}\n" if is_terminal else line)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader has seen enough; Python would complain at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
