"""The handlers of the labelling page: columns, questions and lists."""

from __future__ import annotations

import math
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import numpy as np
from fastapi import APIRouter, Depends, Form, Request, Response
from starlette.concurrency import run_in_threadpool

from imboost.errors import IMBoostError, SessionError, StoreError
from imboost.labelling.cards import panel_view, question_view, row_views
from imboost.labelling.pages import (
    NAME_COOKIE,
    OfProject,
    OfWorkspace,
    person,
    redirect,
    show_page,
)
from imboost.labelling.workspace import MAX_NAME_LENGTH, MAX_NOTE_LENGTH, Workspace
from imboost.present.rows import QuestionView
from imboost.session import Answer

PAGE_ROWS = 50
N_LIST_COLUMNS = 6  # columns of the table that the list of suspects shows
MAX_COLUMNS = 20_000  # of the form of all columns
SUSPECTS = "/suspects"
BACK_PATHS = ("/", SUSPECTS)  # where an answer on the page of a row leads to
GROUP = "+group"  # suffix of an answer that is for all checked rows of the group

Text = Annotated[str, Form()]
Row = Annotated[int, Form()]
Rows = Annotated[list[int], Form()]

router = APIRouter()


@router.get("/health")
async def health() -> dict[str, str]:
    """Report that the server is running."""
    return {"status": "ok"}


@router.get("/columns")
def show_columns(request: Request, project: OfProject) -> Response:
    """Show the columns before the first training."""
    if project.setup is None or project.phase != "columns":
        return redirect("/")
    return show_page(request, "columns", columns=project.setup.view())


@router.post("/columns")
async def set_columns(request: Request, project: OfProject) -> Response:
    """Set the roles of the columns, and start the first training if it is asked for."""
    form = await request.form(max_fields=MAX_COLUMNS)
    setup = project.setup
    if setup is None or project.phase != "columns":
        return redirect("/")
    roles = {
        name: str(form[key])
        for index, name in enumerate(setup.table.column_names)
        if (key := f"role-{index}") in form
    }
    is_start = form.get("action") == "start"
    try:
        await run_in_threadpool(setup.set_roles, roles)  # both take seconds for a large table
        if is_start:
            await run_in_threadpool(project.start)
    except StoreError:
        raise
    except IMBoostError as error:
        return show_page(request, "columns", 422, columns=setup.view(str(error)))
    return redirect("/" if is_start else "/columns")


@router.get("/progress")
def show_progress(request: Request, project: OfProject) -> Response:
    """Show the progress of the first training."""
    workspace = project.workspace
    if workspace is None or workspace.is_ready:
        return Response(headers={"HX-Redirect": "/"})
    return show_page(
        request, "fragments/progress", training=workspace.training, error=workspace.error
    )


@router.post("/retry")
def retry(project: OfProject) -> Response:
    """Train again after a training that failed."""
    if project.workspace is not None:
        project.workspace.retry()
    return redirect("/")


@router.post("/columns/revise")
def revise_columns(project: OfProject) -> Response:
    """Show the columns again after a first training that failed."""
    project.revise_columns()
    return redirect("/columns")


@router.post("/name")
def set_name(name: Text = "") -> Response:
    """Remember the name of a person in a cookie."""
    response = redirect("/")
    value = quote(name.strip()[:MAX_NAME_LENGTH])
    response.set_cookie(NAME_COOKIE, value, httponly=True, samesite="strict")
    return response


@router.get("/")
def home(request: Request, project: OfProject) -> Response:
    """Show what is to be done: the columns, the first training or a question."""
    workspace = project.workspace
    if workspace is None:
        return redirect("/columns")
    if not workspace.is_ready:
        return show_page(request, "training", training=workspace.training, error=workspace.error)
    return show_page(request, "question", question=_next_question(request, workspace))


@router.post("/answer")
def record_answer(
    request: Request,
    project: OfProject,
    row: Row,
    answer: Text,
    request_id: Annotated[str, Form(alias="request")] = "",
    note: Text = "",
    also: Rows = [],  # noqa: B006
    back: Text = "",
) -> Response:
    """Store an answer about a row, or about the rows of its group, and show the next question."""
    workspace = project.workspace
    if workspace is None:
        raise SessionError("The session is not started yet.")
    kind, is_group, _ = answer.partition(GROUP)
    rows = [row, *(other for other in also if other != row)] if is_group else [row]
    workspace.answer(  # stored also while the model of a reopened session is trained
        rows,
        Answer.parse(kind),
        who=person(request),
        note=note.strip()[:MAX_NOTE_LENGTH],
        request=request_id[:64],
        from_list=back == SUSPECTS,
    )
    if back or not workspace.is_ready:
        return redirect(back if back in BACK_PATHS else "/")
    return _show_next(request, workspace)


@router.post("/undo")
def undo(request: Request, workspace: OfWorkspace) -> Response:
    """Withdraw the last answer of a person."""
    workspace.undo(person(request))
    return _show_next(request, workspace)


@router.post("/next")
def pass_over(request: Request, workspace: OfWorkspace, row: Row) -> Response:
    """Show another question; this one comes again later."""
    workspace.leases.pass_over(row, person(request))
    return _show_next(request, workspace)


@router.get("/panel")
def show_panel(request: Request, workspace: OfWorkspace) -> Response:
    """Show the side panel alone."""
    return show_page(request, "fragments/panel", panel=panel_view(workspace))


def suspects_view(
    workspace: OfWorkspace,
    sort: str = "score",
    order: str = "desc",
    column: str = "",
    value: str = "",
    answered: str = "all",
    page: int = 1,
) -> dict[str, Any]:
    """Return a page of the rows, by score or by a column, filtered by the text of their cells."""
    snapshot, columns, session = workspace.snapshot, workspace.columns, workspace.session
    answers = session.answers
    keep = np.ones(len(snapshot.scores), dtype=bool)
    if value:
        keep = columns.contain(value, [column] if column in columns.names else columns.names)
    if answered in ("answered", "unanswered"):
        has_answer = np.zeros(len(keep), dtype=bool)
        has_answer[session.rows.positions([*answers, *session.conflicts])] = True
        keep &= has_answer if answered == "answered" else ~has_answer
    rows = np.flatnonzero(keep)
    sort = sort if sort in columns.names else "score"
    keys = snapshot.scores if sort == "score" else columns.sort_keys(sort)
    ordered = np.argsort(keys[rows] if order == "asc" else -keys[rows], kind="stable")
    page, n_pages = _page_of(page, len(rows))
    shown = rows[ordered][(page - 1) * PAGE_ROWS : page * PAGE_ROWS].tolist()
    names = list(columns.used)[:N_LIST_COLUMNS]
    names += dict.fromkeys(
        name for name in (sort, column) if name in columns.names and name not in names
    )
    return {
        "rows": row_views(workspace, shown, names, answers),
        "columns": names,
        "all_columns": columns.names,
        "sort": sort,
        "descending": order != "asc",
        "column": column,
        "value": value,
        "answered": answered,
        "page": page,
        "n_pages": n_pages,
        "n_rows": len(rows),
    }


@router.get("/suspects")
def show_suspects(
    request: Request, suspects: Annotated[dict[str, Any], Depends(suspects_view)]
) -> Response:
    """List the rows by score or by a column."""
    return show_page(request, "suspects", suspects=suspects)


@router.post("/suspects")
def answer_selected(
    request: Request,
    workspace: OfWorkspace,
    answer: Text,
    rows: Rows = [],  # noqa: B006
) -> Response:
    """Store an answer about all selected rows of the list."""
    if rows:
        workspace.answer(rows, Answer.parse(answer), who=person(request), from_list=True)
    return redirect(f"/suspects?{request.url.query}")


@router.get("/rows/{row}")
def show_row(request: Request, workspace: OfWorkspace, row: int, back: str = SUSPECTS) -> Response:
    """Show any row, with the reasons of its score."""
    view = question_view(workspace, row, explain=True)
    return show_page(request, "row", question=view, back=back if back in BACK_PATHS else SUSPECTS)


def history_view(workspace: OfWorkspace, page: int = 1) -> dict[str, Any]:
    """Return a page of the history, newest first."""
    session = workspace.session
    given = session.history
    page, n_pages = _page_of(page, len(given))
    end = len(given) - (page - 1) * PAGE_ROWS
    start = max(end - PAGE_ROWS, 0)
    entries = [
        {
            "number": number,
            "name": workspace.row_name(entry.row),
            "entry": entry,
            "is_current": session.answers_about(entry.row).get(entry.who) is entry,
        }
        for number, entry in enumerate(given[start:end], start + 1)
    ]
    return {"entries": entries[::-1], "page": page, "n_pages": n_pages, "n_entries": len(given)}


def _page_of(page: int, n: int) -> tuple[int, int]:
    """Return the nearest page that a list of `n` entries has, and the number of its pages."""
    n_pages = max(1, math.ceil(n / PAGE_ROWS))
    return min(max(page, 1), n_pages), n_pages


@router.get("/history")
def show_history(
    request: Request, history: Annotated[dict[str, Any], Depends(history_view)]
) -> Response:
    """Show all answers, the newest first."""
    return show_page(request, "history", history=history)


@router.post("/history")
def correct(
    request: Request,
    workspace: OfWorkspace,
    row: Row,
    answer: Text,
    page: Annotated[int, Form()] = 1,
) -> Response:
    """Correct an answer."""
    workspace.answer([row], answer, who=person(request), from_list=True)
    return redirect(f"/history?{urlencode({'page': page})}")


def disagreements_view(workspace: Workspace) -> dict[str, Any]:
    """Return answers that the model contradicts, and rows about which people disagree."""

    def entry(row: int, probability: float | None = None) -> dict[str, Any]:
        people = workspace.session.answers_about(row)
        return {
            "row": row,
            "name": workspace.row_name(row),
            "answers": [(who, given.answer) for who, given in people.items()],
            "probability": probability,  # out of fold, of an outlier
        }

    return {
        "doubtful": [entry(row, probability) for row, probability in workspace.doubtful()],
        "conflicts": [entry(row) for row in workspace.session.conflicts],
    }


@router.get("/disagreements")
def show_disagreements(request: Request, workspace: OfWorkspace) -> Response:
    """Show the answers that other people or the model contradict."""
    return show_page(request, "disagreements", disagreements=disagreements_view(workspace))


@router.post("/disagreements")
def resolve(request: Request, workspace: OfWorkspace, row: Row, answer: Text) -> Response:
    """Decide a row about which people disagree."""
    workspace.resolve(row, answer, who=person(request))
    return redirect("/disagreements")


def _show_next(request: Request, workspace: Workspace) -> Response:
    """Show the next card for htmx, or a redirect for a page without JavaScript."""
    if "HX-Request" not in request.headers:
        return redirect("/")
    question = _next_question(request, workspace)
    return show_page(request, "fragments/answered", question=question)


def _next_question(request: Request, workspace: Workspace) -> QuestionView | None:
    row = workspace.take_question(person(request))
    return None if row is None else question_view(workspace, row, is_asked=True)
