"""The REST service: endpoints that score and explain rows of the training table's columns."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Any

import pyarrow as pa
from fastapi import FastAPI, Request, Response, Security
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from starlette.types import ASGIApp

from imboost.detectors.table_detector import TableDetector
from imboost.errors import IMBoostError
from imboost.scoring.predictions import predict_table
from imboost.serving.body import read_rows
from imboost.serving.docs_page import add_docs_page
from imboost.serving.limits import Limits
from imboost.serving.schemas import (
    ErrorBody,
    ExplainedScore,
    Explanations,
    Metadata,
    RowModel,
    Score,
    Scores,
    describe_model,
)
from imboost.serving.worker_route import described_by, worker_route
from imboost.web.access import BearerAccess
from imboost.web.access_log import Observed
from imboost.web.addresses import AllowedHosts
from imboost.web.guard import Guard
from imboost.web.metrics import Metrics
from imboost.web.probes import add_probes
from imboost.web.responses import error_response
from imboost.web.workers import Deadline, WorkerPool

# Rows scored or explained before the deadline is checked again.
SCORED_AT_ONCE, EXPLAINED_AT_ONCE = 1000, 20

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
    detector: TableDetector,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: AllowedHosts | None = None,
) -> ASGIApp:
    """Return the web application that serves a trained detector.

    Parameters
    ----------
    detector : TableDetector
    limits : Limits, optional
        Limits of one request.
    token : str, optional
        Bearer token that clients must send. Default: no token is required.
    hosts : AllowedHosts, optional
        Hosts that requests may name. Default: those of the local machine.
    """
    limits = limits or Limits()
    workers = WorkerPool(limits.n_jobs, limits.n_waiting, limits.seconds)
    metrics = Metrics(lambda: workers.n_waiting)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        workers.stop()

    app = FastAPI(
        title="IMBoost scoring",
        description="Finds outliers in a table. A higher score is more outlying.",
        version=version("imboost"),
        lifespan=lifespan,
        docs_url=None,  # FastAPI's page loads scripts from other sites; `add_docs_page` does not
        redoc_url=None,
        redirect_slashes=False,
    )
    for kind, status in ((IMBoostError, 422), (pa.ArrowException, 422), (TimeoutError, 504)):
        app.add_exception_handler(kind, _error_handler(status))
    app.add_exception_handler(Exception, _answer_failure)
    add_probes(app, is_ready=lambda: not workers.is_full)
    _add_endpoints(app, detector, limits, workers, metrics, needs_token=token is not None)
    add_docs_page(app)

    @app.get("/metrics", include_in_schema=False)
    async def get_metrics() -> Response:
        """Return the metrics of the service."""
        return metrics.respond()

    guarded = Guard(
        BearerAccess(app, token=token),
        hosts=hosts or AllowedHosts(),
        limits=limits.of_requests(),
    )
    return Observed(guarded, metrics.count_request)


def _add_endpoints(
    app: FastAPI,
    detector: TableDetector,
    limits: Limits,
    workers: WorkerPool,
    metrics: Metrics,
    *,
    needs_token: bool,
) -> None:
    rows = RowModel(detector)
    metadata = describe_model(detector, app.version, limits.n_rows, limits.n_explained)
    # The middleware checks the token; this documents it in the OpenAPI schema.
    security = [Security(HTTPBearer(auto_error=False))] if needs_token else []
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
        app.router.add_api_route(
            f"/{name}",
            described_by(request),
            methods=["POST"],
            name=name,
            description=work.__doc__,
            response_model=response,
            responses=ERROR_RESPONSES,
            dependencies=security,
            route_class_override=worker_route(
                workers,
                read=partial(read_rows, rows, n_rows),
                work=partial(work, detector, rows),
                count_rows=partial(metrics.count_rows, f"/{name}"),
            ),
        )


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
    return Scores(model=detector.model_name, scores=scores)


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
                **explanation.as_dict(),
            )
            for row, explanation in zip(batch, detector.explain(rows.table(batch)), strict=True)
        ]
    return Explanations(explanations=explanations)


def _error_handler(status: int) -> Any:
    async def handle(_: Request, error: Exception) -> JSONResponse:
        text = str(error).splitlines()[0] if str(error) else "The request took too long."
        return error_response(status, text)

    return handle


async def _answer_failure(_: Request, __: Exception) -> JSONResponse:
    return error_response(500, "The service failed; see its log.")
