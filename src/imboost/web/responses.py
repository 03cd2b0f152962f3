"""Error responses of one shape."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Scope


def error_response(
    status: int, detail: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return an error as JSON with the field `detail`."""
    return JSONResponse({"detail": _encodable(detail)}, status, headers)


def rejection(
    scope: Scope, status: int, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an error as plain text for a browser, as JSON for other clients."""
    if "text/html" in Headers(scope=scope).get("Accept", ""):
        return PlainTextResponse(_encodable(detail), status, headers)
    return error_response(status, detail, headers)


def _encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot express."""
    return text.encode("utf-8", "replace").decode("utf-8")
