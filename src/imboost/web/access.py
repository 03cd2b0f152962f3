"""Who may come in: programs with a bearer token, browsers with a session cookie."""

from __future__ import annotations

from collections.abc import Collection
from secrets import compare_digest

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from imboost.web.forms import form_fields, read_form
from imboost.web.login import Login
from imboost.web.responses import rejection
from imboost.web.sessions import SessionSigner
from imboost.web.visits import Visit, browser_session, csrf_token

__all__ = ["BearerAccess", "PageAccess", "browser_session", "csrf_token", "form_fields"]

PROBE_PATHS = ("/health", "/ready")  # answered without a token
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class BearerAccess:
    """Lets in programs that send the token.

    Parameters
    ----------
    app : callable
        The ASGI application behind it.
    token : str or None
        Bearer token that clients must send; None if no token is required.
    open_paths : collection of str
        Paths that are answered without a token.
    """

    def __init__(
        self, app: ASGIApp, *, token: str | None, open_paths: Collection[str] = PROBE_PATHS
    ) -> None:
        self._app = app
        self._token = token
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it with status 401."""
        if (
            scope["type"] != "http"
            or self._token is None
            or scope["path"] in self._open_paths
            or has_bearer(Headers(scope=scope), self._token)
        ):
            await self._app(scope, receive, send)
            return
        text = "Send the token as 'Authorization: Bearer TOKEN'."
        response = rejection(scope, 401, text, {"WWW-Authenticate": "Bearer"})
        await response(scope, receive, send)


class PageAccess:
    """Lets in browsers, and protects every form against cross-site requests.

    Without a token (a server on loopback) nobody needs to log in. With one, a browser sends it
    once, in the form at `/login` or as `?token=TOKEN`, and then has a cookie. Programs may send it
    as a bearer token instead. Requests that change something need the CSRF token of the page in
    both cases, since other sites can post to loopback addresses too. Rejections are raised as
    HTTPException, which `Guard` answers.

    Parameters
    ----------
    app : callable
        The ASGI application behind it.
    token : str or None
        Token to log in with; None if no login is required.
    signer : SessionSigner, optional
    open_paths : collection of str
        Paths that are answered without a login; a path that ends with a slash includes all below.
    stylesheet : str, optional
        Path of the stylesheet of the login page, one of `open_paths`.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str | None,
        signer: SessionSigner | None = None,
        open_paths: Collection[str] = (*PROBE_PATHS, "/static/"),
        stylesheet: str | None = None,
    ) -> None:
        self._app = app
        self._token = token
        self._signer = signer or SessionSigner()
        self._open_paths = open_paths
        self._login = None if token is None else Login(token, stylesheet)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, let the browser log in, or reject the request."""
        if scope["type"] != "http" or self._is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        visit = Visit(self._signer, scope)
        scope.setdefault("state", {})["visit"] = visit
        request = Request(scope)
        if self._token is not None and has_bearer(request.headers, self._token):
            await self._app(scope, receive, send)
            return
        send = visit.with_cookie(send)
        if scope["method"] not in SAFE_METHODS:
            receive = await read_form(request, receive)
            visit.check_csrf(request)
        if self._login is not None:
            response = self._login.respond(request, visit)
            if response is not None:
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_open(self, path: str) -> bool:
        return any(
            path.startswith(one) if one.endswith("/") else path == one for one in self._open_paths
        )


def has_bearer(headers: Headers, token: str) -> bool:
    """Whether a request carries the token as `Authorization: Bearer TOKEN`."""
    scheme, _, given = headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and compare_digest(given.encode("latin-1"), token.encode())
