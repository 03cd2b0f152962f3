"""The browser behind a request: its session, its cookie and the origin of its forms."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Scope, Send

from imboost.web.forms import form_fields
from imboost.web.sessions import BrowserSession, SessionSigner

CSRF_FIELD, CSRF_HEADER = "csrf", "X-CSRF-Token"
RELOAD = "Load the page again, and repeat what you did."
OTHER_SITE = "The request was sent by a page of another site."


class Visit:
    """A request of a browser, and the session that its cookie stands for.

    Parameters
    ----------
    signer : SessionSigner
    scope : dict
        The ASGI scope of the request.

    Attributes
    ----------
    session : BrowserSession
        That of the request's cookie, or a new one.
    """

    def __init__(self, signer: SessionSigner, scope: Scope) -> None:
        self._signer = signer
        # Browsers send a cookie to all ports of a host; each server has its own.
        self._cookie = f"imboost_{(scope.get('server') or ('', 0))[1]}"
        self._is_secure = scope.get("scheme") == "https"
        found = signer.read(Request(scope).cookies.get(self._cookie, ""))
        self.session = signer.renew(found) if found else signer.start()
        self._is_new = found is None
        self._sends_cookie = not self._is_new and self.session != found

    def csrf_token(self) -> str:
        """Return the token for the forms of a page; a new browser gets its cookie with it."""
        self._sends_cookie = self._sends_cookie or self._is_new
        return self._signer.csrf_token(self.session)

    def log_in(self) -> None:
        """Start a new session that may see everything."""
        self._start(is_logged_in=True)

    def log_out(self) -> None:
        """End the session, and start one that may see nothing."""
        self._signer.end(self.session)
        self._start(is_logged_in=False)

    def _start(self, *, is_logged_in: bool) -> None:
        self.session = self._signer.start(is_logged_in=is_logged_in)
        self._sends_cookie = True

    def check_csrf(self, request: Request) -> None:
        """Raise status 403 unless a request was sent by a page of this server."""
        if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            raise HTTPException(403, OTHER_SITE)
        origin = request.headers.get("Origin")
        if origin is not None and _host(origin) != request.headers.get("Host", "").lower():
            raise HTTPException(403, OTHER_SITE)
        given = request.headers.get(CSRF_HEADER) or form_fields(request).get(CSRF_FIELD, [""])[0]
        if not given:
            raise HTTPException(403, f"The CSRF token is missing. {RELOAD}")
        if not self._signer.is_csrf_token(given, self.session):
            raise HTTPException(403, f"The session has ended. {RELOAD}")

    def with_cookie(self, send: Send) -> Send:
        """Return a `send` that adds the cookie if the browser has none or an old one."""

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and self._sends_cookie:
                MutableHeaders(scope=message).append("Set-Cookie", self._set_cookie())
            await send(message)

        return send_with_cookie

    def _set_cookie(self) -> str:
        parts = [
            f"{self._cookie}={self._signer.write(self.session)}",
            "Path=/",
            f"Max-Age={int(self._signer.seconds)}",
            "HttpOnly",
            "SameSite=Strict",
        ]
        return "; ".join([*parts, "Secure"] if self._is_secure else parts)


def csrf_token(request: Request) -> str:
    """Return the CSRF token for the forms and the htmx headers of a page.

    The page sends it back in the form field `csrf` or the header `X-CSRF-Token`.
    """
    return _visit(request).csrf_token()


def browser_session(request: Request) -> BrowserSession:
    """Return the session of the browser that sent a request."""
    return _visit(request).session


def _visit(request: Request) -> Visit:
    visit: Visit = request.scope["state"]["visit"]
    return visit


def _host(origin: str) -> str:
    """Return the host and port of an origin; empty if it has none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
