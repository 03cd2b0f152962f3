"""The REST service: endpoints that score and explain rows of the training table's columns."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import pyarrow as pa
from fastapi import FastAPI, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.security import HTTPBearer
from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_fastapi_instrumentator import Instrumentator
from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from imboost.detectors.table_detector import TableDetector
from imboost.errors import IMBoostError
from imboost.present.pages import render
from imboost.scoring.pipeline import predict_table
from imboost.serving.limits import Limits
from imboost.serving.schemas import (
    ErrorBody,
    ExplainedScore,
    Explanations,
    Metadata,
    RowModel,
    Scores,
    describe_model,
    score_body,
)
from imboost.serving.workers import Workers, check_deadline
from imboost.web.guard import Guard, error_response, is_token
from imboost.web.hosts import AllowedHosts

# Rows scored or explained before the deadline is checked again.
SCORED_AT_ONCE, EXPLAINED_AT_ONCE = 1000, 20
UNUSABLE = (IMBoostError, pa.ArrowException)  # rows that cannot be scored
MAX_ERRORS = 3  # listed in a response
PROBE_PATHS = ("/health", "/ready")  # answered without a token
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
MAX_NAME_LENGTH = 50  # characters of a client's column name repeated in a response

Work = Callable[[TableDetector, RowModel, Sequence[BaseModel], float], BaseModel]

ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": description}
    for status, description in {
        400: "The body cannot be read.",
        401: "The token is missing or wrong.",
        413: "The body is too large.",
        422: "The body is not JSON, or its rows do not match the columns of the training table.",
        503: "Too many requests are waiting.",
        504: "The request took too long.",
    }.items()
}


def make_app(
    detector: TableDetector,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: AllowedHosts | None = None,
) -> ASGIApp:
    """Return the web application that serves a trained detector.

    Clients must send the token, if there is one, as a bearer token. Requests may name the hosts,
    by default those of the local machine.
    """
    limits = limits or Limits()
    workers = Workers(limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        workers.stop()

    app = FastAPI(
        title="IMBoost scoring",
        description="Finds outliers in a table. A higher score is more outlying.",
        version=version("imboost"),
        lifespan=lifespan,
        docs_url=None,  # FastAPI's page loads scripts from other sites
        redoc_url=None,
        redirect_slashes=False,
    )
    for kind in (HTTPException, RequestValidationError, *UNUSABLE, Exception):
        app.add_exception_handler(kind, _show_error)
    _add_endpoints(app, detector, limits, workers, needs_token=token is not None)
    behind_token = app if token is None else BearerAccess(app, token)
    return Guard(behind_token, hosts=hosts or AllowedHosts(), max_bytes=limits.n_bytes)


def _add_endpoints(
    app: FastAPI,
    detector: TableDetector,
    limits: Limits,
    workers: Workers,
    *,
    needs_token: bool,
) -> None:
    rows = RowModel(detector)
    metadata = describe_model(detector, app.version, limits.n_rows, limits.n_explained)
    rows_counted = _add_metrics(app, workers)
    # `BearerAccess` checks the token; this documents it in the OpenAPI schema.
    security = [Security(HTTPBearer(auto_error=False))] if needs_token else []

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Report that the service is running."""
        return {"status": "ok"}

    @app.get("/ready", include_in_schema=False)
    async def ready() -> dict[str, str]:
        """Report that the service can take requests; status 503 if it cannot."""
        if workers.is_full:
            raise HTTPException(503, "Not ready.", {"Retry-After": "1"})
        return {"status": "ready"}

    @app.get("/metadata", responses={401: ERROR_RESPONSES[401]}, dependencies=security)
    async def get_metadata() -> Metadata:
        """Describe the model and the columns of its training table."""
        return metadata

    @app.get("/docs", include_in_schema=False)
    async def show_docs() -> HTMLResponse:
        page = render("service.html.j2", {"schema": app.openapi()})
        return HTMLResponse(page, headers={"Content-Security-Policy": PAGE_POLICY})

    def add(name: str, work: Work, n_rows: int, response: type[BaseModel]) -> None:
        async def endpoint(body: Any) -> Response:
            def process(deadline: float) -> str:
                return work(detector, rows, body.rows, deadline).model_dump_json()

            content = await workers.run(process)
            rows_counted.labels(f"/{name}").inc(len(body.rows))
            return Response(content, media_type="application/json")

        endpoint.__annotations__["body"] = rows.batch(f"{name.capitalize()}Request", n_rows)
        app.post(
            f"/{name}",
            name=name,
            description=work.__doc__ or "",
            response_model=response,
            responses=ERROR_RESPONSES,
            dependencies=security,
        )(endpoint)

    add("score", score_request, limits.n_rows, Scores)
    add("explain", explain_request, limits.n_explained, Explanations)


class BearerAccess:
    """Refuses requests without the bearer token, before their bodies are read."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

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


def score_request(
    detector: TableDetector, rows: RowModel, sent: Sequence[BaseModel], deadline: float
) -> Scores:
    """Score the rows of a request."""
    scores: list[dict[str, Any]] = []
    for start in range(0, len(sent), SCORED_AT_ONCE):
        check_deadline(deadline)
        batch = sent[start : start + SCORED_AT_ONCE]
        found = predict_table(detector, rows.table(batch))
        columns = zip(found.scores, found.probabilities, found.is_outlier, strict=True)
        scores += [
            score_body(rows.identifiers(row), values)
            for row, values in zip(batch, columns, strict=True)
        ]
    return Scores(model=detector.model_name, scores=scores)


def explain_request(
    detector: TableDetector, rows: RowModel, sent: Sequence[BaseModel], deadline: float
) -> Explanations:
    """Explain the rows of a request."""
    explanations: list[ExplainedScore] = []
    for start in range(0, len(sent), EXPLAINED_AT_ONCE):
        check_deadline(deadline)
        batch = sent[start : start + EXPLAINED_AT_ONCE]
        explanations += [
            ExplainedScore(
                identifiers=rows.identifiers(row),
                is_outlier=explanation.score > detector.threshold_,
                **explanation.as_dict(),
            )
            for row, explanation in zip(batch, detector.explain(rows.table(batch)), strict=True)
        ]
    return Explanations(explanations=explanations)


def _add_metrics(app: FastAPI, workers: Workers) -> Counter:
    """Add `GET /metrics`; return the counter of rows."""
    registry = CollectorRegistry()
    waiting = Gauge("imboost_jobs_waiting", "Jobs that wait for a worker.", registry=registry)
    waiting.set_function(lambda: workers.n_waiting)
    instrumentator = Instrumentator(should_group_status_codes=False, registry=registry)
    instrumentator.instrument(app).expose(app, include_in_schema=False)
    return Counter("imboost_rows", "Rows processed, by endpoint.", ["path"], registry=registry)


async def _show_error(_: Request, error: Exception) -> JSONResponse:
    if isinstance(error, HTTPException):
        return error_response(error.status_code, error.detail, error.headers)
    if isinstance(error, RequestValidationError):
        texts = [_describe(one) for one in error.errors()[:MAX_ERRORS]]
        more = ["and more errors"] if len(error.errors()) > MAX_ERRORS else []
        return error_response(422, "; ".join([*texts, *more]))
    if isinstance(error, UNUSABLE):
        return error_response(422, str(error).partition("\n")[0])
    return error_response(500, "The service failed; see its log.")


def _describe(error: Mapping[str, Any]) -> str:
    """Describe a validation error by its row and column, without repeating its value."""
    kind, message = error["type"], error["msg"].removeprefix("Value error, ")
    _, *place = error["loc"]  # such as ("body", "rows", 0, "amount")
    if kind == "json_invalid":
        return "The body is not JSON"
    if not place:
        return "Send a JSON object with the field 'rows', as 'Content-Type: application/json'"
    if len(place) == 1:
        return f"body {str(place[0])[:MAX_NAME_LENGTH]}: {message}"
    row = f"row {place[1]}"
    if len(place) == 2:
        return f"{row}: {message}"
    column = f"column '{str(place[2])[:MAX_NAME_LENGTH]}'"
    if kind == "missing":
        return f"{row} lacks the {column}"
    if kind == "extra_forbidden":
        return f"{row} has the {column}, which the training table did not have"
    return f"{row}, {column}: {message}"
