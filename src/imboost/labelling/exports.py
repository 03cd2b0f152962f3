"""What people take away from the labelling page: scores, answers, the model and a report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from imboost import persistence
from imboost.errors import PersistenceError
from imboost.labelling.workspace import Workspace
from imboost.present.report import ReportSample, render_report
from imboost.scoring.score_columns import SCORE_COLUMNS
from imboost.scoring.writer import free_name
from imboost.tables.cells import is_text, to_text

CSV_ROWS = 10_000  # rows sent at a time


def scored_table(workspace: Workspace) -> pa.Table:
    """Return the table with what the present model and the answers say about every row.

    The new columns are row, score, rank, probability, is_outlier and answer (null where there is
    none); underscores are appended to a name that the table has already.
    """
    snapshot, table = workspace.snapshot, workspace.session.X
    answers = {row: answer.value for row, answer in workspace.session.answers.items()}
    rows = workspace.session.rows.numbers.tolist()
    found = {
        "row": workspace.session.rows.numbers,
        "score": snapshot.scores,
        "rank": snapshot.ranks,
        "probability": snapshot.probabilities,
        "is_outlier": snapshot.scores > snapshot.threshold,
        "answer": pa.array(list(map(answers.get, rows)), pa.string()),
    }
    for name, values in found.items():
        table = table.append_column(
            free_name(name, table.column_names), pa.array(values, SCORE_COLUMNS[name])
        )
    return table


def csv_parts(table: pa.Table) -> Iterator[bytes]:
    """Yield a table as CSV, a part at a time; text is written as it is."""
    columns = [
        column if _fits_csv(column.type) else to_text(column) for column in table.itercolumns()
    ]
    table = pa.table(columns, names=table.column_names)
    for start in range(0, max(table.num_rows, 1), CSV_ROWS):
        stream = pa.BufferOutputStream()
        options = pa.csv.WriteOptions(include_header=start == 0)
        pa.csv.write_csv(table.slice(start, CSV_ROWS), stream, options)
        yield stream.getvalue().to_pybytes()


def parquet_bytes(table: pa.Table) -> bytes:
    """Return a table as the content of a Parquet file."""
    stream = pa.BufferOutputStream()
    pa.parquet.write_table(table, stream)
    return bytes(stream.getvalue().to_pybytes())


def save_model(workspace: Workspace, folder: Path) -> None:
    """Save the present model; one that is there already is replaced, anything else is not.

    Raises
    ------
    PersistenceError
        If the folder holds something else or cannot be written.
    SettingError
        If the detector cannot be saved.
    """
    try:
        persistence.save(workspace.snapshot.detector, folder)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PersistenceError(f"The model could not be saved in {folder}: {reason}.") from error


def report_page(workspace: Workspace, name: str) -> str:
    """Return the page that `imboost report` writes, with the scores of the present model."""
    snapshot, sample = workspace.snapshot, ReportSample()
    sample.add(workspace.session.rows.numbers, workspace.session.X, snapshot.scores)
    return render_report(snapshot.detector, name, sample, snapshot.n_predicted)


def _fits_csv(kind: pa.DataType) -> bool:
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(is_number or pa.types.is_boolean(kind) or is_text(kind))
