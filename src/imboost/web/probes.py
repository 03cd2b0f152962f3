"""Endpoints for those who run a server: health and readiness."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI
from pydantic import BaseModel
from starlette.exceptions import HTTPException


class Health(BaseModel):
    """The service is running."""

    status: str


def add_probes(app: FastAPI, is_ready: Callable[[], bool]) -> None:
    """Add the endpoints /health and /ready to an application.

    Parameters
    ----------
    app : FastAPI
    is_ready : callable
        Returns whether the server can take requests now.
    """

    @app.get("/health")
    async def health() -> Health:
        """Report that the service is running."""
        return Health(status="ok")

    @app.get("/ready", include_in_schema=False)
    async def ready() -> Health:
        """Report that the service can take requests; status 503 if it cannot."""
        if not is_ready():
            raise HTTPException(503, "Not ready.", {"Retry-After": "1"})
        return Health(status="ready")
