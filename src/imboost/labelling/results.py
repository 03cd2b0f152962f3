"""The results page: downloads, saving the model, and answers from Label Studio."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock
from urllib.parse import quote

import pyarrow as pa
from fastapi import APIRouter, Depends, HTTPException, Request, Response, UploadFile
from fastapi.responses import StreamingResponse

from imboost.labelling.exports import (
    csv_parts,
    parquet_bytes,
    report_page,
    save_model,
    scored_table,
)
from imboost.labelling.label_studio import CONFIG, export_tasks
from imboost.labelling.label_studio_import import MAX_BYTES, import_answers
from imboost.labelling.pages import OfProject, OfWorkspace, redirect, show_page, workspace_of
from imboost.labelling.project import Project
from imboost.labelling.workspace import Workspace
from imboost.persistence.model_folder import CHECKSUMS
from imboost.session.export import history_table
from imboost.session.store import SQLLog
from imboost.tables.files import path_beside

CSV, PARQUET = "text/csv; charset=utf-8", "application/vnd.apache.parquet"
SAVING = Lock()


@dataclass(frozen=True)
class Download:
    """A file that the results page offers.

    Parameters
    ----------
    media_type : str
    make : callable
        Returns the content.
    title, description : str
        Text of its link in the list of downloads; empty if the page links to it elsewhere.
    """

    media_type: str
    make: Callable[[Project, Workspace], bytes | Iterable[bytes]]
    title: str = ""
    description: str = ""


def _answers(project: Project) -> pa.Table:
    """Read the history from the store, where other processes may have added to it."""
    log = SQLLog(project.url, project.name)
    try:
        return history_table(log)
    finally:
        log.close()


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

router = APIRouter()


@router.get("/results", dependencies=[Depends(workspace_of)])
def show_results(request: Request, project: OfProject) -> Response:
    """Show the downloads and what else can be done with the answers."""
    return _results_page(request, project)


@router.post("/save")
def save(project: OfProject, workspace: OfWorkspace) -> Response:
    """Save the model beside the table."""
    with SAVING:
        save_model(workspace, _model_folder(project))
    return redirect("/results")


@router.post("/label-studio")
def import_file(
    request: Request, project: OfProject, workspace: OfWorkspace, file: UploadFile
) -> Response:
    """Import the answers of an export of Label Studio."""
    content = file.file.read(MAX_BYTES + 1)
    return _results_page(request, project, str(import_answers(workspace.session, content)))


@router.get("/download/{ending}")
def download(project: OfProject, workspace: OfWorkspace, ending: str) -> Response:
    """Return a download that is named after the table."""
    if ending not in DOWNLOADS:
        raise HTTPException(404)
    found = DOWNLOADS[ending]
    name = quote(path_beside(Path(project.path.name), f".{ending}").name, safe="")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    content = found.make(project, workspace)
    if isinstance(content, bytes):
        return Response(content, media_type=found.media_type, headers=headers)
    return StreamingResponse(content, media_type=found.media_type, headers=headers)


def _results_page(request: Request, project: Project, imported: str = "") -> Response:
    downloads = [
        (f"/download/{ending}", one.title, one.description)
        for ending, one in DOWNLOADS.items()
        if one.title
    ]
    results = {
        "downloads": downloads,
        "report": "/download/report.html",
        "saved": _describe_model(_model_folder(project)),
        "imported": imported,
    }
    return show_page(request, "results", results=results)


def _model_folder(project: Project) -> Path:
    return path_beside(project.path, ".model")


def _describe_model(folder: Path) -> str:
    """Return where the model is saved and since when; empty if it is not."""
    try:
        time = datetime.fromtimestamp((folder / CHECKSUMS).stat().st_mtime).astimezone()
    except OSError:
        return ""
    return f"{folder}, {time:%Y-%m-%d %H:%M:%S}"
