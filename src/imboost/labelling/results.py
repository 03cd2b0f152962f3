"""The results page: scores, answers, the model, a report, and exchange with Label Studio."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import NamedTuple
from urllib.parse import quote

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from fastapi import APIRouter, Depends, HTTPException, Request, Response, UploadFile
from fastapi.responses import StreamingResponse

from imboost import persistence
from imboost.errors import PersistenceError
from imboost.labelling.label_studio import CONFIG, MAX_BYTES, export_tasks, import_answers
from imboost.labelling.pages import OfProject, OfWorkspace, redirect, show_page, workspace_of
from imboost.labelling.project import Project
from imboost.labelling.workspace import Workspace
from imboost.persistence.model_folder import CHECKSUMS
from imboost.present.formatting import count
from imboost.present.report import ReportSample, render_report
from imboost.scoring.score_files import free_name
from imboost.session.export import history_table, score_table
from imboost.session.store import SQLLog
from imboost.tables.cells import is_text, to_text
from imboost.tables.files import path_beside

CSV, PARQUET = "text/csv; charset=utf-8", "application/vnd.apache.parquet"
CSV_ROWS = 10_000  # rows sent at a time
SAVING = Lock()

router = APIRouter()


def scored_table(workspace: Workspace) -> pa.Table:
    """Return the table with what the present model and the answers say about every row.

    The new columns are those of `score_table`; underscores are appended to a name that the table
    has already.
    """
    table = workspace.session.X
    scores = score_table(workspace.session, workspace.snapshot.detector)
    for name in scores.column_names:
        table = table.append_column(free_name(name, table.column_names), scores[name])
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


def _fits_csv(kind: pa.DataType) -> bool:
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(is_number or pa.types.is_boolean(kind) or is_text(kind))


def parquet_bytes(table: pa.Table) -> bytes:
    """Return a table as the content of a Parquet file."""
    stream = pa.BufferOutputStream()
    pa.parquet.write_table(table, stream)
    return bytes(stream.getvalue().to_pybytes())


def save_model(workspace: Workspace, folder: Path) -> None:
    """Save the present model; one that is there already is replaced, anything else is not."""
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


def _answers(project: Project) -> pa.Table:
    """Read the history from the store, where other processes may have added to it."""
    log = SQLLog(project.url, project.name)
    try:
        return history_table(log)
    finally:
        log.close()


class Download(NamedTuple):
    """A file of the results page, with the text of its link if that is in the list."""

    media_type: str
    make: Callable[[Project, Workspace], bytes | Iterable[bytes]]
    title: str = ""
    description: str = ""


DOWNLOADS = {
    "scores.csv": Download(
        CSV,
        lambda _, workspace: csv_parts(scored_table(workspace)),
        "Scores, CSV",
        "the table with score, rank, decision and answer",
    ),
    "scores.parquet": Download(
        PARQUET,
        lambda _, workspace: parquet_bytes(scored_table(workspace)),
        "Scores, Parquet",
        "the same with the types of the table",
    ),
    "answers.csv": Download(
        CSV,
        lambda project, _: csv_parts(_answers(project)),
        "Answers, CSV",
        "every answer with who, when, score and note",
    ),
    "answers.parquet": Download(
        PARQUET,
        lambda project, _: parquet_bytes(_answers(project)),
        "Answers, Parquet",
        "the same with types",
    ),
    "report.html": Download(
        "text/html; charset=utf-8",
        lambda project, workspace: report_page(workspace, project.path.name).encode(),
    ),
    "label-studio.json": Download(
        "application/json",
        lambda _, workspace: json.dumps(list(export_tasks(workspace)), indent=1).encode(),
    ),
    "label-studio.xml": Download("application/xml", lambda _, __: CONFIG.encode()),
}
"""The downloads by the ending of their names."""


@router.get("/results", dependencies=[Depends(workspace_of)])
def show_results(request: Request, project: OfProject) -> Response:
    """Show the downloads and what else can be done with the answers."""
    return _results_page(request, project)


def _results_page(request: Request, project: Project, imported: str = "") -> Response:
    results = {
        "downloads": [
            (f"/download/{ending}", offered.title, offered.description)
            for ending, offered in DOWNLOADS.items()
            if offered.title
        ],
        "report": "/download/report.html",
        "saved": _describe_model(path_beside(project.path, ".model")),
        "imported": imported,
    }
    return show_page(request, "results", results=results)


@router.post("/save")
def save(project: OfProject, workspace: OfWorkspace) -> Response:
    """Save the model beside the table."""
    with SAVING:
        save_model(workspace, path_beside(project.path, ".model"))
    return redirect("/results")


@router.post("/label-studio")
def import_file(
    request: Request, project: OfProject, workspace: OfWorkspace, file: UploadFile
) -> Response:
    """Import the answers of an export of Label Studio."""
    n_new, n_known = import_answers(workspace.session, file.file.read(MAX_BYTES + 1))
    known = f" {count(n_known, 'answer')} of the file were known already." if n_known else ""
    return _results_page(request, project, f"Imported {count(n_new, 'answer')}.{known}")


@router.get("/download/{ending}")
def download(project: OfProject, workspace: OfWorkspace, ending: str) -> Response:
    """Return a download that is named after the table."""
    if ending not in DOWNLOADS:
        raise HTTPException(404)
    media_type, make, *_ = DOWNLOADS[ending]
    name = quote(path_beside(Path(project.path.name), f".{ending}").name, safe="")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    content = make(project, workspace)
    if isinstance(content, bytes):
        return Response(content, media_type=media_type, headers=headers)
    return StreamingResponse(content, media_type=media_type, headers=headers)


def _describe_model(folder: Path) -> str:
    """Return where the model is saved and since when; empty if it is not."""
    try:
        time = datetime.fromtimestamp((folder / CHECKSUMS).stat().st_mtime).astimezone()
    except OSError:
        return ""
    return f"{folder}, {time:%Y-%m-%d %H:%M:%S}"
