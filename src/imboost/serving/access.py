"""Who may use the service: programs that send the token."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from imboost.web.guard import error_response
from imboost.web.token import is_token

PROBE_PATHS = ("/health", "/ready")  # answered without a token


class BearerAccess:
    """Refuses requests without the token, before their bodies are read.

    Parameters
    ----------
    app : callable
        The ASGI application behind it.
    token : str
        Bearer token that clients must send.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with status 401."""
        if scope["type"] == "http" and scope["path"] not in PROBE_PATHS:
            scheme, _, given = Headers(scope=scope).get("Authorization", "").partition(" ")
            is_bearer = scheme.lower() == "bearer"
            if not (is_bearer and await is_token(given.encode("latin-1"), self._token)):
                text = "Send the token as 'Authorization: Bearer TOKEN'."
                response = error_response(401, text, {"WWW-Authenticate": "Bearer"})
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)
