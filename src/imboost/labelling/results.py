"""The results page: downloads, saving the model, and answers from Label Studio."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa
from fastapi import FastAPI, Request, Response, UploadFile
from fastapi.responses import RedirectResponse, StreamingResponse

from imboost.errors import SessionError
from imboost.labelling.exports import (
    csv_parts,
    parquet_bytes,
    report_page,
    save_model,
    scored_table,
)
from imboost.labelling.label_studio import CONFIG, export_tasks
from imboost.labelling.label_studio_import import MAX_BYTES, import_answers
from imboost.labelling.project import Project
from imboost.labelling.workspace import Workspace
from imboost.persistence.model_folder import CHECKSUMS
from imboost.session.export import history_table
from imboost.session.store import SQLLog
from imboost.tables.files import path_beside

if TYPE_CHECKING:
    from imboost.labelling.pages import Pages

DOWNLOADS = [
    ("/download/scores.csv", "Scores, CSV", "the table with score, rank, decision and answer"),
    ("/download/scores.parquet", "Scores, Parquet", "the same with the types of the table"),
    ("/download/answers.csv", "Answers, CSV", "every answer with who, when, score and note"),
    ("/download/answers.parquet", "Answers, Parquet", "the same with types"),
]
"""Address, title and description of each download."""

REPORT = "/download/report.html"

CSV, PARQUET = "text/csv; charset=utf-8", "application/vnd.apache.parquet"


def add_routes(app: FastAPI, project: Project, pages: Pages) -> None:
    """Add the routes of the results page to the application."""
    _add_results(app, project, pages)
    _add_tables(app, project)
    _add_documents(app, project)


def _add_results(app: FastAPI, project: Project, pages: Pages) -> None:
    folder = path_beside(project.path, ".model")
    saving = Lock()

    def render(request: Request, imported: str = "") -> Response:
        shown = {
            "downloads": DOWNLOADS,
            "saved": _describe_model(folder),
            "report": REPORT,
            "imported": imported,
        }
        return pages.render(request, "results", results=shown)

    @app.get("/results")
    def results(request: Request) -> Response:
        _workspace(project)
        return render(request)

    @app.post("/save")
    def save() -> Response:
        workspace = _workspace(project)
        with saving:
            save_model(workspace, folder)
        return RedirectResponse("/results", status_code=303)

    @app.post("/label-studio")
    def import_file(request: Request, file: UploadFile) -> Response:
        content = file.file.read(MAX_BYTES + 1)
        return render(request, str(import_answers(_workspace(project).session, content)))


def _add_tables(app: FastAPI, project: Project) -> None:
    @app.get("/download/scores.csv")
    def scores_csv() -> Response:
        parts = csv_parts(scored_table(_workspace(project)))
        return _attachment(project, ".scores.csv", parts, CSV)

    @app.get("/download/scores.parquet")
    def scores_parquet() -> Response:
        content = parquet_bytes(scored_table(_workspace(project)))
        return _attachment(project, ".scores.parquet", content, PARQUET)

    @app.get("/download/answers.csv")
    def answers_csv() -> Response:
        return _attachment(project, ".answers.csv", csv_parts(_answers(project)), CSV)

    @app.get("/download/answers.parquet")
    def answers_parquet() -> Response:
        return _attachment(project, ".answers.parquet", parquet_bytes(_answers(project)), PARQUET)


def _add_documents(app: FastAPI, project: Project) -> None:
    @app.get(REPORT)
    def report() -> Response:
        page = report_page(_workspace(project), project.path.name)
        return _attachment(project, ".report.html", page.encode(), "text/html; charset=utf-8")

    @app.get("/download/label-studio.json")
    def tasks() -> Response:
        content = json.dumps(list(export_tasks(_workspace(project))), indent=1).encode()
        return _attachment(project, ".label-studio.json", content, "application/json")

    @app.get("/download/label-studio.xml")
    def config() -> Response:
        return _attachment(project, ".label-studio.xml", CONFIG.encode(), "application/xml")


def _workspace(project: Project) -> Workspace:
    if project.workspace is None or not project.workspace.is_ready:
        raise SessionError("There are no results before the first training is finished.")
    return project.workspace


def _answers(project: Project) -> pa.Table:
    """Read the history from the store, where other processes may have added to it."""
    _workspace(project)
    log = SQLLog(project.url, project.name)
    try:
        return history_table(log)
    finally:
        log.close()


def _describe_model(folder: Path) -> str:
    """Say where the model is saved and since when; empty if it is not."""
    try:
        time = datetime.fromtimestamp((folder / CHECKSUMS).stat().st_mtime).astimezone()
    except OSError:
        return ""
    return f"{folder}, {time:%Y-%m-%d %H:%M:%S}"


def _attachment(
    project: Project, ending: str, content: bytes | Iterable[bytes], kind: str
) -> Response:
    """Return a download that is named after the table."""
    name = path_beside(Path(project.path.name), ending).name
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    if isinstance(content, bytes):
        return Response(content, media_type=kind, headers=headers)
    return StreamingResponse(content, media_type=kind, headers=headers)
