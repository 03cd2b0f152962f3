"""`imboost serve`: run the REST service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from imboost.cli.console import say
from imboost.cli.inputs import load_model
from imboost.cli.options import AllowedHost, Host, Model, Token, check_server
from imboost.errors import SettingError, require
from imboost.serving.limits import Limits

PACKAGES = ("fastapi", "jinja2", "prometheus_fastapi_instrumentator", "uvicorn")
MAX_CONNECTIONS = 256


def serve(
    model: Model,
    host: Host = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0 picks a free one."),
    ] = 8000,
    token: Token = None,
    max_rows: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Maximum number of rows in a request to /score."),
    ] = Limits.n_rows,
    max_bytes: Annotated[
        int, typer.Option(min=1024, metavar="N", help="Maximum number of bytes in a request.")
    ] = Limits.n_bytes,
    timeout: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="Maximum number of seconds to answer a request."),
    ] = Limits.seconds,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Requests processed at the same time. Default: one per core."
        ),
    ] = None,
    max_connections: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of open connections.")
    ] = MAX_CONNECTIONS,
    allowed_host: AllowedHost = None,
    access_log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append a line per request to this file."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Write a line per request to standard error.")
    ] = False,
) -> None:
    """Serve a model over HTTP: score and explain rows that other programs send.

    For example:

      imboost serve orders.model --port 8000
    """
    if timeout <= 0:
        raise SettingError(f"--timeout must be above 0, got {timeout:g}.")
    require("imboost serve", "serve", *PACKAGES)
    check_server(host, token)
    from imboost.serving.app import make_app
    from imboost.web.hosts import AllowedHosts
    from imboost.web.server import run_server

    limits = Limits(n_rows=max_rows, n_bytes=max_bytes, seconds=timeout, n_jobs=jobs)
    hosts = AllowedHosts.of(host, allowed_host or [])

    def announce(address: str) -> None:
        say(
            f"Serving {model} at {address}: POST /score and /explain, GET /metadata and /health.",
            f"Documentation: {address}/docs. Stop with Ctrl+C.",
        )

    run_server(
        make_app(load_model(model), limits, token, hosts),
        host,
        port,
        max_connections=max_connections,
        on_ready=announce,
        access_log=access_log,
        verbose=verbose,
    )
