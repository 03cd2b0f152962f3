"""The documentation of the service at `/docs`, made of its OpenAPI schema; it loads nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from imboost.present.pages import render

POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""Content-Security-Policy of the page: its own style and nothing else."""

Schema = dict[str, Any]


@dataclass(frozen=True)
class Field:
    """A field of a JSON object."""

    name: str
    kind: str
    meaning: str


@dataclass(frozen=True)
class Fields:
    """The fields of an object that is sent or returned."""

    title: str
    fields: list[Field]


@dataclass(frozen=True)
class Operation:
    """An endpoint: what it takes and returns."""

    method: str
    path: str
    description: str
    fields: list[Fields]
    responses: list[tuple[str, str]]


def add_docs_page(app: FastAPI) -> None:
    """Add `GET /docs` to a service."""

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        page = render_docs(app.openapi())
        return HTMLResponse(page, headers={"Content-Security-Policy": POLICY})


def render_docs(schema: Schema) -> str:
    """Return the page about an OpenAPI schema."""
    operations = [
        _operation(schema, method, path, found)
        for path, methods in schema["paths"].items()
        for method, found in methods.items()
    ]
    context = {
        "title": schema["info"]["title"],
        "description": schema["info"].get("description", ""),
        "api_version": schema["info"]["version"],
        "operations": operations,
    }
    return render("service.html.j2", context)


def _operation(schema: Schema, method: str, path: str, found: Schema) -> Operation:
    fields: list[Fields] = []
    if "requestBody" in found:
        fields += _objects(schema, _content(found["requestBody"]), "Request", set())
    fields += _objects(schema, _content(found["responses"].get("200", {})), "Response", set())
    responses = [(status, one["description"]) for status, one in found["responses"].items()]
    description = found.get("description") or found.get("summary", "")
    return Operation(method.upper(), path, description, fields, responses)


def _content(body: Schema) -> Schema:
    content: Schema = body.get("content", {}).get("application/json", {}).get("schema", {})
    return content


def _objects(schema: Schema, part: Schema, title: str, seen: set[str]) -> list[Fields]:
    """Return the fields of an object and of all objects in it, each once."""
    name = _name(part)
    if name in seen:
        return []
    found = _resolve(schema, part)
    if not found.get("properties"):
        return []
    properties: dict[str, Schema] = found["properties"]
    fields = [
        Field(key, _kind(schema, value), value.get("description", ""))
        for key, value in properties.items()
    ]
    inner = [
        one
        for value in properties.values()
        for one in _objects(
            schema, _of_items(value), f"{title}: {_name(_of_items(value))}", seen | {name}
        )
    ]
    return [Fields(title, fields), *inner]


def _of_items(part: Schema) -> Schema:
    items: Schema = part.get("items", part)
    return items


def _name(part: Schema) -> str:
    return str(part.get("$ref", part.get("title", ""))).rpartition("/")[2]


def _resolve(schema: Schema, part: Schema) -> Schema:
    """Return a schema in place of the reference to it."""
    while "$ref" in part:
        part = schema["components"]["schemas"][part["$ref"].rpartition("/")[2]]
    return part


def _kind(schema: Schema, part: Schema) -> str:
    """Describe a type.

    >>> _kind({}, {"anyOf": [{"type": "number"}, {"type": "null"}]})
    'number or null'
    >>> _kind({}, {"type": "array", "items": {"type": "string"}})
    'array of string'
    """
    if "anyOf" in part:
        return " or ".join(_kind(schema, one) for one in part["anyOf"])
    if part.get("type") == "array":
        return f"array of {_kind(schema, part.get('items', {}))}"
    return str(part.get("type") or _name(part) or "any")
