"""Logging in to the labelling page: a browser sends the token once and gets a signed cookie."""

from __future__ import annotations

from secrets import token_hex
from typing import Annotated

from fastapi import FastAPI, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import Headers
from starlette.middleware.sessions import SessionMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from imboost.present.pages import render
from imboost.web.guard import error_response, is_token

SESSION_SECONDS = 12 * 3600
ASK = "Enter the token that the server was started with."


def add_login(app: FastAPI, token: str, cookie: str) -> None:
    """Let in nobody but people who log in with the token.

    The cookie needs a name of its own: browsers send cookies to all ports of a host.
    """

    async def try_token(given: str, request: Request) -> Response:
        if not await is_token(given.encode("utf-8", "replace"), token):
            return _login_page(401, f"The token is wrong. {ASK}")
        request.session["visitor"] = token_hex(2)
        return RedirectResponse("/", 303)

    @app.get("/login")
    async def show_login(request: Request) -> Response:
        given = request.query_params.get("token")
        return _login_page(200, ASK) if given is None else await try_token(given, request)

    @app.post("/login")
    async def log_in(request: Request, token: Annotated[str, Form()] = "") -> Response:
        return await try_token(token, request)

    @app.post("/logout")
    async def log_out(request: Request) -> Response:
        request.session.clear()
        return RedirectResponse("/login", 303)

    app.add_middleware(LoginRequired)
    app.add_middleware(
        SessionMiddleware,
        secret_key=token_hex(32),  # a restart ends all sessions
        session_cookie=cookie,
        max_age=SESSION_SECONDS,
        same_site="strict",
    )


class LoginRequired:
    """Sends browsers that are not logged in to the login page, and refuses other requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, redirect it or refuse it."""
        if scope["type"] != "http" or visitor_of(scope) or is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_page = "text/html" in headers.get("Accept", "") and "HX-Request" not in headers
        response: Response = RedirectResponse("/login", 303)
        if not is_page:
            response = error_response(401, "Log in first: load the page again.")
        await response(scope, receive, send)


def visitor_of(scope: Scope) -> str:
    """Return the identifier of a browser that is logged in; empty without a login."""
    return str(scope.get("session", {}).get("visitor", ""))


def is_open(path: str) -> bool:
    """Return whether a path is answered without a login; it must not show any data."""
    return path in ("/login", "/health") or path.startswith("/static/")


def _login_page(status: int, message: str) -> Response:
    return HTMLResponse(render("login.html.j2", {"message": message}), status)
