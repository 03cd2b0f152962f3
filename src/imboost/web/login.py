"""The login page: a browser sends the token of the server once."""

from __future__ import annotations

from math import ceil
from secrets import compare_digest
from urllib.parse import parse_qsl, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from imboost.web.forms import form_fields
from imboost.web.rate_limit import RateLimit
from imboost.web.responses import rejection
from imboost.web.visits import Visit

LOGIN_PATH, LOGOUT_PATH = "/login", "/logout"
N_ATTEMPTS, ATTEMPT_SECONDS = 5, 12.0  # wrong tokens of a client at once, and the wait after them

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in - IMBoost</title>{stylesheet}
</head>
<body>
<main class="login">
<h1>Log in</h1>
<p role="status">{message}</p>
<form method="post" action="{path}">
<input type="hidden" name="csrf" value="{csrf_token}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button type="submit">Log in</button>
</form>
</main>
</body>
</html>
"""
ASK = "Enter the token that was set with --token or IMBOOST_TOKEN when the server was started."


class Login:
    """Lets a browser in once it has sent the token.

    Parameters
    ----------
    token : str
    stylesheet : str, optional
        Path of a stylesheet for the page.
    """

    def __init__(self, token: str, stylesheet: str | None = None) -> None:
        self._token = token
        link = f'\n<link rel="stylesheet" href="{stylesheet}">' if stylesheet else ""
        self._page = PAGE.replace("{stylesheet}", link)
        self._failures = RateLimit(N_ATTEMPTS, ATTEMPT_SECONDS)

    def respond(self, request: Request, visit: Visit) -> Response | None:
        """Answer a request that has to do with logging in; None if the application may answer."""
        query = parse_qsl(
            request.scope["query_string"].decode("ascii", "replace"), keep_blank_values=True
        )
        given = dict(query).get("token")
        if request.method == "POST" and request.scope["path"] == LOGIN_PATH:
            return self._try(form_fields(request).get("token", [""])[0], "/", request, visit)
        if request.method == "POST" and request.scope["path"] == LOGOUT_PATH:
            visit.log_out()
            return _redirect(LOGIN_PATH)
        if request.method == "GET" and given is not None:
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            target = _own_path(request.scope) + (f"?{rest}" if rest else "")
            if visit.session.is_logged_in:
                return _redirect(target)
            return self._try(given, target, request, visit)
        if visit.session.is_logged_in:
            return _redirect("/") if request.scope["path"] == LOGIN_PATH else None
        if "text/html" not in request.headers.get("Accept", "") or "HX-Request" in request.headers:
            headers = {"WWW-Authenticate": "Bearer"}
            return rejection(request.scope, 401, "Log in first: load the page again.", headers)
        return self._form(visit, 200 if request.scope["path"] == LOGIN_PATH else 401, ASK)

    def _try(self, given: str, target: str, request: Request, visit: Visit) -> Response:
        """Log in with a token, or show the form again."""
        address = request.client.host if request.client else ""
        wait = self._failures.wait(address)
        if wait > 0:
            headers = {"Retry-After": str(ceil(wait))}
            raise HTTPException(429, f"Too many wrong tokens. Wait {ceil(wait)} seconds.", headers)
        if not compare_digest(given.encode("utf-8", "replace"), self._token.encode()):
            self._failures.take(address)
            return self._form(visit, 401, f"The token is wrong. {ASK}")
        visit.log_in()
        return _redirect(target)

    def _form(self, visit: Visit, status: int, message: str) -> Response:
        page = self._page.format(message=message, path=LOGIN_PATH, csrf_token=visit.csrf_token())
        return HTMLResponse(page, status)


def _redirect(target: str) -> Response:
    return Response(status_code=303, headers={"Location": target})


def _own_path(scope: Scope) -> str:
    """Return the path of a request; two slashes at its start would lead to another server."""
    path: str = scope["raw_path"].decode("ascii")
    return "/" + path.lstrip("/\\")
