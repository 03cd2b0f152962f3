"""Responses with a template, and what every page needs."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse

from imboost import present
from imboost.labelling.cards import panel_view
from imboost.labelling.project import Project
from imboost.present.pages import render
from imboost.web.access import browser_session

STATIC = Path(present.__file__).parent / "static"
VERSION = version("imboost")  # read from disk once
NAME_COOKIE = "imboost_name"


class Pages:
    """Renders templates with what every page needs.

    Parameters
    ----------
    project : Project
    csrf_token : callable
        Returns the token that the forms of a response send back.
    """

    def __init__(self, project: Project, csrf_token: Callable[[Request], str]) -> None:
        self._project, self._csrf_token = project, csrf_token

    def render(
        self, request: Request, template: str, status_code: int = 200, **context: Any
    ) -> HTMLResponse:
        """Render a template."""
        if "panel" not in context:
            workspace = self._project.workspace
            is_ready = workspace is not None and workspace.is_ready
            context["panel"] = panel_view(workspace) if workspace and is_ready else None
        values = {
            "table_name": self._project.path.name,
            "who": person(request),
            "csrf": self._csrf_token(request),
            "is_logged_in": browser_session(request).is_logged_in,
            "version": VERSION,
            "phase": self._project.phase,
            **context,
        }
        return HTMLResponse(render(f"{template}.html.j2", values), status_code)


def person(request: Request) -> str:
    """Return the name of the person who sends a request.

    Without a name it is empty, or one of the browser's own where several people log in.
    """
    name = request.cookies.get(NAME_COOKIE, "")
    name = name.encode("latin-1", "ignore").decode("utf-8", "ignore")
    session = browser_session(request)
    return name or (f"visitor {session.id[:4]}" if session.is_logged_in else "")
