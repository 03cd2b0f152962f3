"""Endpoints for those who run a server: health, readiness and metrics."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from imboost.web.metrics import Metrics


class Health(BaseModel):
    """The service is running."""

    status: str


def add_probes(app: FastAPI, metrics: Metrics, is_ready: Callable[[], bool]) -> None:
    """Add the endpoints /health, /ready and /metrics to an application.

    Parameters
    ----------
    app : FastAPI
    metrics : Metrics
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

    @app.get("/metrics", include_in_schema=False)
    async def get_metrics() -> Response:
        """Return the metrics of the service."""
        return metrics.respond()
