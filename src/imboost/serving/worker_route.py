"""Endpoints that process the rows of a request in a worker thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import ClientDisconnect

from imboost.serving.body import RequestError
from imboost.web.workers import Deadline, WorkerPool

Read = Callable[[bytes, Deadline], Sequence[BaseModel]]
Work = Callable[[Sequence[BaseModel], Deadline], BaseModel]


def worker_route(
    workers: WorkerPool, read: Read, work: Work, count_rows: Callable[[int], None]
) -> type[APIRoute]:
    """Return a class of routes that leave a request to the workers.

    FastAPI would parse and validate the body in the event loop. The signature of the endpoint only
    describes the request in the OpenAPI schema.

    Parameters
    ----------
    workers : WorkerPool
    read : callable
        Returns the rows of a body.
    work : callable
        Returns the response to the rows.
    count_rows : callable
        Called with the number of rows that were processed.
    """

    def process(body: bytes, deadline: Deadline) -> str:
        rows = read(body, deadline)
        answer = work(rows, deadline).model_dump_json()
        count_rows(len(rows))
        return answer

    async def respond(request: Request) -> Response:
        workers.check_room()
        if not _is_json(request.headers.get("Content-Type", "")):
            raise RequestError("Send JSON with the header 'Content-Type: application/json'.")
        try:
            body = await request.body()
        except ClientDisconnect:
            raise HTTPException(400, "The connection ended before the body.") from None
        content = await workers.run(partial(process, body))
        return Response(content, media_type="application/json")

    class WorkerRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            return respond

    return WorkerRoute


def described_by(model: type[BaseModel]) -> Callable[..., Any]:
    """Return an endpoint that only describes its request, for the OpenAPI schema."""

    def endpoint(request: Any) -> None:
        raise NotImplementedError

    endpoint.__annotations__["request"] = model
    return endpoint


def _is_json(content_type: str) -> bool:
    kind, _, subtype = content_type.partition(";")[0].strip().lower().partition("/")
    return kind == "application" and (subtype == "json" or subtype.endswith("+json"))
