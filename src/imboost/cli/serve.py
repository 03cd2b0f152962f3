"""`imboost serve`: run the REST service."""

from __future__ import annotations

import ipaddress
import socket
from importlib.util import find_spec
from typing import Annotated

import typer

from imboost.cli.console import say
from imboost.cli.inputs import load_model
from imboost.cli.options import Model
from imboost.errors import MissingPackageError, SettingError
from imboost.serving.limits import Limits


def serve(
    model: Model,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 picks a free one.")
    ] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="IMBOOST_TOKEN",
            help="Clients must send it as 'Authorization: Bearer TOKEN'. Required if the address "
            "can be reached from other machines.",
        ),
    ] = None,
    max_rows: Annotated[
        int, typer.Option(min=1, help="Maximum number of rows in a request to /score.")
    ] = Limits.n_rows,
    max_bytes: Annotated[
        int, typer.Option(min=1024, help="Maximum number of bytes in a request.")
    ] = Limits.n_bytes,
    timeout: Annotated[
        float, typer.Option(help="Maximum number of seconds to answer a request.")
    ] = Limits.seconds,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Requests processed at the same time. Default: one per core."),
    ] = None,
) -> None:
    """Serve a model over HTTP: score and explain rows that other programs send."""
    if timeout <= 0:
        raise SettingError(f"--timeout must be above 0, got {timeout:g}.")
    missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if missing:
        raise MissingPackageError("imboost serve", missing, extra="serve")
    check_access(host, token)
    import uvicorn

    from imboost.serving.app import make_app

    limits = Limits(n_rows=max_rows, n_bytes=max_bytes, seconds=timeout, n_jobs=jobs)
    app = make_app(load_model(model), limits, token)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listener.getsockname()[1]}"
        say(
            f"Serving {model} at {address}: POST /score and /explain, GET /metadata and /health.",
            f"OpenAPI schema: {address}/openapi.json. Stop with Ctrl+C.",
        )
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


def check_access(host: str, token: str | None) -> None:
    """Raise if the service could be used from other machines without a token."""
    if token is not None and not token.strip():
        raise SettingError("The token is empty: set it with --token or IMBOOST_TOKEN.")
    if token is None and not is_loopback(host):
        raise SettingError(
            f"{host} can be reached from other machines: set a token with --token or "
            "IMBOOST_TOKEN, or listen on 127.0.0.1."
        )


def is_loopback(host: str) -> bool:
    """Whether an address can only be reached from the same machine.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        found = {info[4][0] for info in socket.getaddrinfo(host, None)}
        return all(ipaddress.ip_address(str(address)).is_loopback for address in found)
