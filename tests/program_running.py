"""Run the program as from a shell, and write tables for it."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from imboost.cli import main as cli
from imboost.datasets.orders import mixed_table


@dataclass(frozen=True)
class Ended:
    """Exit code and output of the program."""

    code: int
    lines: list[str]
    errors: list[str]

    @property
    def text(self):
        return "\n".join(self.lines)


def run_program(*arguments, main=cli.main):
    """Run a program."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    argv = ["imboost", *map(str, arguments)]
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", argv):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Ended(code, out.getvalue().splitlines(), err.getvalue().splitlines())


def run_well(*arguments):
    """Run the program and assert that it succeeds."""
    ended = run_program(*arguments)
    assert (ended.code, ended.errors) == (0, [])
    return ended


def refused(*arguments):
    """Run the program and assert that it fails with one line; return the line."""
    ended = run_program(*arguments)
    assert ended.code == 2
    [line] = ended.errors
    assert line.startswith("imboost: ")
    return line


def orders(n_rows=300, *, share=0.05, labelled=False, seed=0):
    """Return a table of orders, if wanted with text labels in every second row."""
    generated = mixed_table(n_rows, contamination=share, seed=seed)
    if not labelled:
        return generated.table
    texts = np.where(generated.y == 1, "yes", "no").tolist()
    labels = pa.array([text if row % 2 else None for row, text in enumerate(texts)])
    return generated.table.append_column("is_wrong", labels)


def write(table, path):
    """Write a table in the format of the path's extension; return the path."""
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.parquet.write_table(table, path)
    return path


def read_scores(path):
    """Return a file of scores as columns."""
    if path.suffix == ".csv":
        return pyarrow.csv.read_csv(path).to_pydict()
    return pyarrow.parquet.read_table(path).to_pydict()
