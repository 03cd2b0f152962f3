"""REST scoring: a model behind a few addresses, described in the words of its own table."""

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
from imboost.serving.middleware import Gate
from imboost.serving.schemas import (
    ErrorBody,
    ExplainedScore,
    Explanations,
    Health,
    Metadata,
    ReasonBody,
    RowModel,
    Score,
    Scores,
    describe,
)
from imboost.serving.workers import Deadline, Jobs

BATCH_ROWS, BATCH_EXPLAINED = 1000, 20
"""Rows after which work asks whether there is time left."""

MOST_SHOWN = 3
"""Mistakes of a request that are told."""

MOST_LETTERS = 50
"""Of a name that a request holds."""

Problems = dict[int | str, dict[str, Any]]
PROBLEMS: Problems = {
    400: {"model": ErrorBody, "description": "The body is no JSON."},
    401: {"model": ErrorBody, "description": "The token is missing or wrong."},
    413: {"model": ErrorBody, "description": "The body is too large."},
    422: {"model": ErrorBody, "description": "The rows do not fit the table of the model."},
    503: {"model": ErrorBody, "description": "Too many requests are waiting."},
    504: {"model": ErrorBody, "description": "The request took too long."},
}


def make_app(
    detector: TableDetector, limits: Limits | None = None, token: str | None = None
) -> FastAPI:
    """Return the service of a trained detector.

    Parameters
    ----------
    detector : TableDetector
    limits : Limits, optional
        What one request may ask.
    token : str, optional
        What clients must send; anyone may ask if not given.
    """
    limits = limits or Limits()
    jobs = Jobs(limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        jobs.stop()

    app = FastAPI(
        title="IMBoost scoring",
        description="Finds outliers in a table. A higher score is more outlying.",
        version=version("imboost"),
        lifespan=lifespan,
        docs_url=None,  # its scripts would come from elsewhere
        redoc_url=None,
    )
    app.add_middleware(Gate, limits=limits, token=token)
    app.add_exception_handler(RequestValidationError, _tell_mistakes)
    for kind, status in ((IMBoostError, 422), (pa.ArrowException, 422), (TimeoutError, 504)):
        app.add_exception_handler(kind, _teller(status))
    app.add_exception_handler(Exception, _tell_failure)
    _add_addresses(app, detector, limits, jobs, is_closed=token is not None)
    return app


def _add_addresses(
    app: FastAPI, detector: TableDetector, limits: Limits, jobs: Jobs, *, is_closed: bool
) -> None:
    rows = RowModel(detector)
    metadata = describe(detector, app.version, limits.n_rows, limits.n_explained)
    # The gate looks at the token; this tells clients of it.
    told = [Security(HTTPBearer(auto_error=False))] if is_closed else []

    @app.get("/health")
    async def health() -> Health:
        """Say that the service is there."""
        return Health(status="ok")

    few: Problems = {status: PROBLEMS[status] for status in (401, 504)}

    @app.get("/metadata", responses=few, dependencies=told)
    async def tell_metadata() -> Metadata:
        """Say what the model is and which columns it knows."""
        return metadata

    for name, work, n_rows, answer in (
        ("score", score_request, limits.n_rows, Scores),
        ("explain", explain_request, limits.n_explained, Explanations),
    ):
        request = rows.batch(f"{name.capitalize()}Request", n_rows)
        endpoint = _in_thread(jobs, request, partial(work, detector, rows))
        app.post(
            f"/{name}",
            name=name,
            description=work.__doc__,
            response_model=answer,
            responses=PROBLEMS,
            dependencies=told,
        )(endpoint)


def _in_thread(
    jobs: Jobs, model: type[BaseModel], work: Callable[[Sequence[BaseModel], Deadline], Any]
) -> Callable[..., Any]:
    """Return what answers requests of a model with the result of work on their rows."""

    async def answer(request: Any) -> Any:
        return await jobs.run(partial(work, request.rows))

    answer.__annotations__["request"] = model
    return answer


def score_request(
    detector: TableDetector, rows: RowModel, sent: Sequence[BaseModel], deadline: Deadline
) -> Scores:
    """Score the rows of a request."""
    scores: list[Score] = []
    for start in range(0, len(sent), BATCH_ROWS):
        deadline.check()
        batch = sent[start : start + BATCH_ROWS]
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
    for start in range(0, len(sent), BATCH_EXPLAINED):
        deadline.check()
        batch = sent[start : start + BATCH_EXPLAINED]
        explanations += [
            ExplainedScore(
                identifiers=rows.identifiers(row),
                score=told.score,
                is_outlier=told.score > detector.threshold_,
                baseline=told.baseline,
                residual=told.residual,
                is_exact=told.is_exact,
                reasons=[ReasonBody(**asdict(reason)) for reason in told.reasons],
            )
            for row, told in zip(batch, detector.explain(rows.table(batch)), strict=True)
        ]
    return Explanations(explanations=explanations)


async def _tell_mistakes(_: Request, error: Exception) -> JSONResponse:
    """Say what is wrong with a request, without repeating what it holds."""
    mistakes = error.errors() if isinstance(error, RequestValidationError) else []
    told = [_mistake(mistake) for mistake in mistakes[:MOST_SHOWN]]
    if len(mistakes) > MOST_SHOWN:
        told.append(f"and {len(mistakes) - MOST_SHOWN:,} more")
    return _answer(422, "; ".join(told))


def _mistake(mistake: Mapping[str, Any]) -> str:
    """Say where a mistake is and what it is, as short as names allow."""
    place, kind = [str(part)[:MOST_LETTERS] for part in mistake["loc"]], mistake["type"]
    if kind == "json_invalid":
        return "The body is no JSON"
    row = f"row {place[2]}" if len(place) > 2 else " ".join(place)
    if len(place) < 4:
        return f"{row}: {mistake['msg']}"
    if kind == "missing":
        return f"{row} lacks the column '{place[3]}'"
    if kind == "extra_forbidden":
        return f"{row} has the column '{place[3]}', which the table has not"
    return f"{row}, column '{place[3]}': {mistake['msg'].removeprefix('Value error, ')}"


def _teller(status: int) -> Any:
    async def tell(_: Request, error: Exception) -> JSONResponse:
        return _answer(status, str(error).splitlines()[0] if str(error) else "It took too long.")

    return tell


async def _tell_failure(_: Request, __: Exception) -> JSONResponse:
    return _answer(500, "The service failed; its log says more.")


def _answer(status: int, detail: str) -> JSONResponse:
    readable = detail.encode("utf-8", "replace").decode("utf-8")  # half a character cannot be sent
    return JSONResponse({"detail": readable}, status_code=status)
