"""What the handlers of the labelling page share: the project of a request, and its pages."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from imboost.errors import SessionError
from imboost.labelling.cards import panel_view
from imboost.labelling.login import visitor_of
from imboost.labelling.project import Project
from imboost.labelling.workspace import Workspace
from imboost.present.pages import render

NAME_COOKIE = "imboost_name"


async def project_of(request: Request) -> Project:
    """Return the project of the application."""
    project: Project = request.app.state.project
    return project


OfProject = Annotated[Project, Depends(project_of)]


async def workspace_of(project: OfProject) -> Workspace:
    """Return the workspace; raise before the first training is finished."""
    if project.workspace is None or not project.workspace.is_ready:
        raise SessionError("The first training is not finished yet.")
    return project.workspace


OfWorkspace = Annotated[Workspace, Depends(workspace_of)]


def show_page(
    request: Request, template: str, status_code: int = 200, **context: Any
) -> HTMLResponse:
    """Render a template, with what every page needs."""
    project: Project = request.app.state.project
    if "panel" not in context:
        workspace = project.workspace
        context["panel"] = panel_view(workspace) if workspace and workspace.is_ready else None
    values = {
        "table_name": project.path.name,
        "who": person(request),
        "is_logged_in": bool(visitor_of(request.scope)),
        "phase": project.phase,
    }
    return HTMLResponse(render(f"{template}.html.j2", {**values, **context}), status_code)


def redirect(path: str) -> RedirectResponse:
    """Let the browser fetch a page after a form."""
    return RedirectResponse(path, 303)


def person(request: Request) -> str:
    """Return the name of the person who sends a request.

    Without a name it is empty, or an identifier of the browser where several people log in.
    """
    visitor = visitor_of(request.scope)
    return unquote(request.cookies.get(NAME_COOKIE, "")) or (
        f"visitor {visitor}" if visitor else ""
    )
