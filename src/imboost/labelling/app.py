"""The web application of the labelling page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Annotated
from urllib.parse import urlencode

from fastapi import FastAPI, Form, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from imboost.errors import IMBoostError, SessionError, StoreError
from imboost.labelling import results
from imboost.labelling.cards import (
    disagreements_view,
    history_view,
    panel_view,
    question_view,
    suspects_view,
)
from imboost.labelling.label_studio_import import MAX_BYTES
from imboost.labelling.pages import NAME_COOKIE, STATIC, Pages, person
from imboost.labelling.project import Project
from imboost.labelling.views import QuestionView
from imboost.labelling.workspace import Workspace
from imboost.session import Answer
from imboost.web.access import PageAccess, csrf_token
from imboost.web.addresses import AllowedHosts
from imboost.web.guard import Guard
from imboost.web.limits import RequestLimits
from imboost.web.probes import add_probes

MAX_NAME_LENGTH = 60  # characters of a person's name
MAX_NOTE_LENGTH = 2000  # characters of a note
FORM_BYTES = 64 * 1024  # of an upload besides the file
SUSPECTS = "/suspects"
BACK_PATHS = ("/", SUSPECTS)  # where an answer on the page of a row leads to
GROUP = "+group"  # suffix of an answer that is for all checked rows of the group

Text = Annotated[str, Form()]
Row = Annotated[int, Form()]
Rows = Annotated[list[int], Form()]


def make_app(
    project: Project, *, token: str | None = None, hosts: AllowedHosts | None = None
) -> ASGIApp:
    """Return the web application that labels a table.

    Parameters
    ----------
    project : Project
        It is opened already.
    token : str, optional
        Token to log in with. Default: no login is required.
    hosts : AllowedHosts, optional
        Hosts that requests may name. Default: those of the local machine.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        project.close()

    app = FastAPI(
        title="IMBoost labelling",
        version=version("imboost"),
        lifespan=lifespan,
        docs_url=None,  # it is a page, not an interface for programs
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    pages = Pages(project, csrf_token)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    add_probes(app, is_ready=lambda: project.phase != "training")
    _add_setup(app, project, pages)
    _add_questions(app, project, pages)
    _add_lists(app, project, pages)
    results.add_routes(app, project, pages)
    _add_error_handlers(app, pages)
    return Guard(
        PageAccess(app, token=token, stylesheet="/static/theme.css"),
        hosts=hosts or AllowedHosts(),
        limits=RequestLimits(n_bytes=MAX_BYTES + FORM_BYTES),
    )


def _workspace(project: Project) -> Workspace:
    if project.workspace is None or not project.workspace.is_ready:
        raise SessionError("The first training is not finished yet.")
    return project.workspace


def _add_setup(app: FastAPI, project: Project, pages: Pages) -> None:
    @app.get("/columns")
    def columns(request: Request) -> Response:
        if project.setup is None or project.phase != "columns":
            return _redirect("/")
        return pages.render(request, "columns", columns=project.setup.view())

    @app.post("/columns")
    async def set_columns(request: Request) -> Response:
        form = await request.form(max_fields=20_000)
        setup = project.setup
        if setup is None or project.phase != "columns":
            return _redirect("/")
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
            return pages.render(request, "columns", 422, columns=setup.view(str(error)))
        return _redirect("/" if is_start else "/columns")

    @app.get("/progress")
    def progress(request: Request) -> Response:
        if project.phase != "training":
            return Response(headers={"HX-Redirect": "/"})
        workspace = project.workspace
        return pages.render(
            request,
            "fragments/progress",
            training=workspace.training if workspace else None,
            error=workspace.error if workspace else "",
        )

    @app.post("/name")
    def set_name(name: Text = "") -> Response:
        response = _redirect("/")
        encoded = name.strip()[:MAX_NAME_LENGTH].encode().decode("latin-1")
        response.set_cookie(NAME_COOKIE, encoded, httponly=True, samesite="strict")
        return response


def _add_questions(app: FastAPI, project: Project, pages: Pages) -> None:
    @app.get("/")
    def home(request: Request) -> Response:
        if project.phase == "columns":
            return _redirect("/columns")
        if project.phase == "training" and project.workspace is not None:
            training, error = project.workspace.training, project.workspace.error
            return pages.render(request, "training", training=training, error=error)
        return pages.render(request, "question", question=_next(request))

    def _next(request: Request) -> QuestionView | None:
        workspace = _workspace(project)
        row = workspace.take_question(person(request))
        return None if row is None else question_view(workspace, row, is_asked=True)

    def _after(request: Request) -> Response:
        """Return the next card for htmx, or a redirect for a page without JavaScript."""
        if "HX-Request" not in request.headers or project.phase != "questions":
            return _redirect("/")
        return pages.render(request, "fragments/answered", question=_next(request))

    @app.post("/answer")
    def answer(
        request: Request,
        row: Row,
        answer: Text,
        request_id: Annotated[str, Form(alias="request")] = "",
        note: Text = "",
        also: Rows = [],  # noqa: B006
        back: Text = "",
    ) -> Response:
        kind, is_group, _ = answer.partition(GROUP)
        rows = [row, *(other for other in also if other != row)] if is_group else [row]
        if project.workspace is None:
            raise SessionError("The session is not started yet.")
        project.workspace.answer(  # stored also while the model of a reopened session is trained
            rows,
            Answer.parse(kind),
            who=person(request),
            note=note.strip()[:MAX_NOTE_LENGTH],
            request=request_id[:64],
            resolves=back == SUSPECTS,
        )
        return _redirect(back if back in BACK_PATHS else "/") if back else _after(request)

    @app.post("/undo")
    def undo(request: Request) -> Response:
        _workspace(project).undo(person(request))
        return _after(request)

    @app.post("/next")
    def pass_over(request: Request, row: Row) -> Response:
        _workspace(project).pass_over(row, person(request))
        return _after(request)

    @app.get("/panel")
    def panel(request: Request) -> Response:
        return pages.render(request, "fragments/panel", panel=panel_view(_workspace(project)))


def _add_lists(app: FastAPI, project: Project, pages: Pages) -> None:
    @app.get("/suspects")
    def suspects(
        request: Request,
        sort: str = "score",
        order: str = "desc",
        column: str = "",
        value: str = "",
        answered: str = "all",
        page: int = 1,
    ) -> Response:
        view = suspects_view(
            _workspace(project),
            sort=sort,
            descending=order != "asc",
            column=column,
            value=value,
            answered=answered,
            page=page,
        )
        return pages.render(request, "suspects", suspects=view)

    @app.post("/suspects")
    def answer_suspects(
        request: Request,
        answer: Text,
        rows: Rows = [],  # noqa: B006
    ) -> Response:
        if rows:
            workspace = _workspace(project)
            workspace.answer(rows, Answer.parse(answer), who=person(request), resolves=True)
        return _redirect(f"/suspects?{request.url.query}")

    @app.get("/rows/{row}")
    def one_row(request: Request, row: int, back: str = SUSPECTS) -> Response:
        workspace = _workspace(project)
        if not 0 <= row < len(workspace.snapshot.scores):
            raise SessionError(f"There is no row {row}.")
        view = question_view(workspace, row, explain=True)
        back = back if back in BACK_PATHS else SUSPECTS
        return pages.render(request, "row", question=view, back=back)

    @app.get("/history")
    def history(request: Request, page: int = 1) -> Response:
        return pages.render(request, "history", history=history_view(_workspace(project), page))

    @app.post("/history")
    def correct(
        request: Request, row: Row, answer: Text, page: Annotated[int, Form()] = 1
    ) -> Response:
        _workspace(project).answer([row], answer, who=person(request), resolves=True)
        return _redirect(f"/history?{urlencode({'page': page})}")

    @app.get("/disagreements")
    def disagreements(request: Request) -> Response:
        view = disagreements_view(_workspace(project))
        return pages.render(request, "disagreements", disagreements=view)

    @app.post("/disagreements")
    def resolve(request: Request, row: Row, answer: Text) -> Response:
        _workspace(project).answer([row], answer, who=person(request), resolves=True)
        return _redirect("/disagreements")


def _add_error_handlers(app: FastAPI, pages: Pages) -> None:
    def handle(status: int) -> Callable[[Request, Exception], Response]:
        def answer(request: Request, error: Exception) -> Response:
            message = str(error).splitlines()[0] if str(error) else "The request failed."
            return pages.render(
                request, "error", status, status=status, message=message, panel=None
            )

        return answer

    def answer_http(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        text = "There is no such page." if status == 404 else getattr(error, "detail", "")
        if request.url.path.startswith("/static/"):  # answered to everybody, without a session
            return PlainTextResponse(text, status)
        return pages.render(request, "error", status, status=status, message=text, panel=None)

    def answer_invalid(request: Request, _: Exception) -> Response:
        message = "The form is not complete. Load the page again."
        return pages.render(request, "error", 422, status=422, message=message, panel=None)

    app.add_exception_handler(HTTPException, answer_http)
    app.add_exception_handler(RequestValidationError, answer_invalid)
    app.add_exception_handler(StoreError, handle(503))
    app.add_exception_handler(SessionError, handle(409))
    app.add_exception_handler(IMBoostError, handle(422))


def _redirect(path: str) -> RedirectResponse:
    return RedirectResponse(path, status_code=303)
