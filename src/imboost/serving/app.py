"""The REST service: endpoints that score and explain rows of the training table's columns."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from typing import Any

import pyarrow as pa
from fastapi import FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel

from imboost.detectors.table_detector import TableDetector
from imboost.errors import IMBoostError
from imboost.scoring.predictions import predict_table
from imboost.serving.limits import Limits
from imboost.serving.middleware import RequestGuard, error_response
from imboost.serving.schemas import (
    ErrorBody,
    ExplainedScore,
    Explanations,
    Health,
    Metadata,
    RowModel,
    Score,
    Scores,
    describe_model,
)
from imboost.serving.workers import Deadline, WorkerPool

# Rows scored or explained before the deadline is checked again.
SCORED_AT_ONCE, EXPLAINED_AT_ONCE = 1000, 20

MAX_ERRORS = 3  # validation errors listed in a response
MAX_NAME_LENGTH = 50  # characters of a client's column name repeated in a response

Responses = dict[int | str, dict[str, Any]]
ERROR_RESPONSES: Responses = {
    status: {"model": ErrorBody, "description": description}
    for status, description in {
        400: "The body is not JSON.",
        401: "The token is missing or wrong.",
        413: "The body is too large.",
        422: "The rows do not match the columns of the training table.",
        503: "Too many requests are waiting.",
        504: "The request took too long.",
    }.items()
}


def make_app(
    detector: TableDetector, limits: Limits | None = None, token: str | None = None
) -> FastAPI:
    """Return the web application that serves a trained detector.

    Parameters
    ----------
    detector : TableDetector
    limits : Limits, optional
        Limits of one request.
    token : str, optional
        Bearer token that clients must send. Default: no token is required.
    """
    limits = limits or Limits()
    workers = WorkerPool(limits)

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
    )
    app.add_middleware(RequestGuard, limits=limits, token=token)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    for kind, status in ((IMBoostError, 422), (pa.ArrowException, 422), (TimeoutError, 504)):
        app.add_exception_handler(kind, _error_handler(status))
    app.add_exception_handler(Exception, _answer_failure)
    _add_endpoints(app, detector, limits, workers, needs_token=token is not None)
    return app


def _add_endpoints(
    app: FastAPI,
    detector: TableDetector,
    limits: Limits,
    workers: WorkerPool,
    *,
    needs_token: bool,
) -> None:
    rows = RowModel(detector)
    metadata = describe_model(detector, app.version, limits.n_rows, limits.n_explained)
    # The middleware checks the token; this documents it in the OpenAPI schema.
    security = [Security(HTTPBearer(auto_error=False))] if needs_token else []

    @app.get("/health")
    async def health() -> Health:
        """Report that the service is running."""
        return Health(status="ok")

    errors: Responses = {status: ERROR_RESPONSES[status] for status in (401, 504)}

    @app.get("/metadata", responses=errors, dependencies=security)
    async def get_metadata() -> Metadata:
        """Describe the model and the columns of its training table."""
        return metadata

    for name, work, n_rows, response in (
        ("score", score_request, limits.n_rows, Scores),
        ("explain", explain_request, limits.n_explained, Explanations),
    ):
        request = rows.batch(f"{name.capitalize()}Request", n_rows)
        endpoint = _in_worker(workers, request, partial(work, detector, rows))
        app.post(
            f"/{name}",
            name=name,
            description=work.__doc__,
            response_model=response,
            responses=ERROR_RESPONSES,
            dependencies=security,
        )(endpoint)


def _in_worker(
    workers: WorkerPool,
    model: type[BaseModel],
    work: Callable[[Sequence[BaseModel], Deadline], Any],
) -> Callable[..., Any]:
    """Return an endpoint that processes the rows of a request in a worker thread."""

    async def endpoint(request: Any) -> Any:
        return await workers.run(partial(work, request.rows))

    endpoint.__annotations__["request"] = model
    return endpoint


def score_request(
    detector: TableDetector, rows: RowModel, sent: Sequence[BaseModel], deadline: Deadline
) -> Scores:
    """Score the rows of a request."""
    scores: list[Score] = []
    for start in range(0, len(sent), SCORED_AT_ONCE):
        deadline.check()
        batch = sent[start : start + SCORED_AT_ONCE]
        found = predict_table(detector, rows.table(batch))
        scores += [
            Score(
                identifiers=rows.identifiers(row),
                score=found.scores[at],
                probability=found.probabilities[at],
                is_outlier=found.is_outlier[at],
            )
            for at, row in enumerate(batch)
        ]
    return Scores(scores=scores)


def explain_request(
    detector: TableDetector, rows: RowModel, sent: Sequence[BaseModel], deadline: Deadline
) -> Explanations:
    """Explain the rows of a request."""
    explanations: list[ExplainedScore] = []
    for start in range(0, len(sent), EXPLAINED_AT_ONCE):
        deadline.check()
        batch = sent[start : start + EXPLAINED_AT_ONCE]
        explanations += [
            ExplainedScore(
                identifiers=rows.identifiers(row),
                is_outlier=explanation.score > detector.threshold_,
                **asdict(explanation),
            )
            for row, explanation in zip(batch, detector.explain(rows.table(batch)), strict=True)
        ]
    return Explanations(explanations=explanations)


async def _answer_invalid(_: Request, error: Exception) -> JSONResponse:
    """Describe the first errors of an invalid request, without repeating its values."""
    errors = error.errors() if isinstance(error, RequestValidationError) else []
    texts = [_describe_error(one) for one in errors[:MAX_ERRORS]]
    if len(errors) > MAX_ERRORS:
        texts.append(f"and {len(errors) - MAX_ERRORS:,} more errors")
    return error_response(422, "; ".join(texts))


def _describe_error(error: Mapping[str, Any]) -> str:
    """Describe a validation error by its row and column."""
    location, kind = [str(part)[:MAX_NAME_LENGTH] for part in error["loc"]], error["type"]
    if kind == "json_invalid":
        return "The body is not JSON"
    row = f"row {location[2]}" if len(location) > 2 else " ".join(location)
    if len(location) < 4:
        return f"{row}: {error['msg']}"
    column = f"column '{location[3]}'"
    if kind == "missing":
        return f"{row} lacks the {column}"
    if kind == "extra_forbidden":
        return f"{row} has the {column}, which the training table did not have"
    return f"{row}, {column}: {error['msg'].removeprefix('Value error, ')}"


def _error_handler(status: int) -> Any:
    async def handle(_: Request, error: Exception) -> JSONResponse:
        text = str(error).splitlines()[0] if str(error) else "The request took too long."
        return error_response(status, text)

    return handle


async def _answer_failure(_: Request, __: Exception) -> JSONResponse:
    return error_response(500, "The service failed; see its log.")
