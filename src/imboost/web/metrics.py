"""Metrics in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import Response

from imboost.web.access_log import FinishedRequest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the latency histogram's buckets."""

OTHER_PATH = "other"  # label of requests that no endpoint answered


class Metrics:
    """Counts the requests and the work of a server.

    Parameters
    ----------
    n_waiting : callable
        Returns the number of jobs that wait for a worker.
    """

    def __init__(self, n_waiting: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "imboost_requests",
            "Requests by method, endpoint and status.",
            ["method", "path", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "imboost_request_seconds",
            "Time from the head of a request to the end of its response.",
            ["path"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._rows = Counter(
            "imboost_rows", "Rows processed, by endpoint.", ["path"], registry=self._registry
        )
        waiting = Gauge(
            "imboost_jobs_waiting", "Jobs that wait for a worker.", registry=self._registry
        )
        waiting.set_function(n_waiting)

    def count_request(self, request: FinishedRequest) -> None:
        """Count a request under the path of its endpoint, not under what the client sent."""
        path = getattr(request.scope.get("route"), "path", OTHER_PATH)
        method = request.scope["method"] if path != OTHER_PATH else OTHER_PATH
        self._requests.labels(method, path, str(request.status)).inc()
        self._seconds.labels(path).observe(request.seconds)

    def count_rows(self, path: str, n_rows: int) -> None:
        """Count rows that an endpoint has processed."""
        self._rows.labels(path).inc(n_rows)

    def respond(self) -> Response:
        """Return all metrics."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)
