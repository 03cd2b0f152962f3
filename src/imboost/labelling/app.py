"""The web application of the labelling page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from zlib import crc32

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from imboost import present
from imboost.errors import IMBoostError, SessionError, StoreError
from imboost.labelling import results, routes
from imboost.labelling.label_studio import MAX_BYTES
from imboost.labelling.login import add_login, is_open
from imboost.labelling.pages import show_page
from imboost.labelling.project import Project
from imboost.web.guard import Guard, error_response
from imboost.web.hosts import AllowedHosts

STATIC = Path(present.__file__).parent / "static"
FORM_BYTES = 64 * 1024  # of an upload besides the file
STATUSES = {StoreError: 503, SessionError: 409, IMBoostError: 422}


def make_app(
    project: Project, *, token: str | None = None, hosts: AllowedHosts | None = None
) -> ASGIApp:
    """Return the web application that labels the table of an opened project.

    No login is required without a token. Requests may name the hosts, by default those of the
    local machine.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        project.close()

    # It is a page, not an interface for programs: no OpenAPI schema.
    app = FastAPI(title="IMBoost labelling", lifespan=lifespan, openapi_url=None)
    app.router.redirect_slashes = False
    app.state.project = project
    app.mount("/static", StaticFiles(directory=STATIC))
    app.include_router(routes.router)
    app.include_router(results.router)
    if token is not None:
        add_login(app, token, f"imboost_{crc32(f'{project.url} {project.name}'.encode()):x}")
    for kind in (HTTPException, RequestValidationError, IMBoostError):
        app.add_exception_handler(kind, _show_error)
    return Guard(app, hosts=hosts or AllowedHosts(), max_bytes=MAX_BYTES + FORM_BYTES)


def _show_error(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        status = error.status_code
        message = "There is no such page." if status == 404 else error.detail
    elif isinstance(error, RequestValidationError):
        status, message = 422, "The form is not complete. Load the page again."
    else:
        status = next(status for kind, status in STATUSES.items() if isinstance(error, kind))
        message = str(error).partition("\n")[0]
    if is_open(request.url.path):  # shown to everybody
        return error_response(status, message)
    return show_page(request, "error", status, status=status, message=message, panel=None)
