"""The documentation of the service at `/docs`, made of its OpenAPI schema; it loads nothing."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from imboost.present.pages import render

POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""Content-Security-Policy of the page: its own style and nothing else."""

Schema = dict[str, Any]


def add_docs_page(app: FastAPI) -> None:
    """Add `GET /docs` to a service."""

    @app.get("/docs", include_in_schema=False)
    async def show_docs() -> HTMLResponse:
        context = {"schema": app.openapi(), "content": content, "kind": kind}
        page = render("service.html.j2", context)
        return HTMLResponse(page, headers={"Content-Security-Policy": POLICY})


def content(body: Schema) -> Schema:
    """Return the schema of a request or a response."""
    schema: Schema = body["content"]["application/json"]["schema"]
    return schema


def kind(part: Schema) -> str:
    """Describe a type.

    >>> kind({"anyOf": [{"type": "number"}, {"type": "null"}]})
    'number or null'
    >>> kind({"type": "array", "items": {"$ref": "#/components/schemas/Row"}})
    'array of Row'
    """
    if "anyOf" in part:
        return " or ".join(kind(alternative) for alternative in part["anyOf"])
    if part.get("type") == "array":
        return f"array of {kind(part['items'])}"
    return str(part.get("$ref", part.get("type", "any"))).rpartition("/")[2]
