"""What the commands that run a server share: options, and what is checked before the start."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from imboost.errors import SettingError, require

Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[
    int,
    typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0 picks a free one."),
]
Token = Annotated[
    str | None,
    typer.Option(
        envvar="IMBOOST_TOKEN",
        help="People log in with it, programs send it as 'Authorization: Bearer TOKEN'. Required "
        "if the address can be reached from other machines.",
    ),
]
AllowedHost = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Name under which clients reach the server, such as that of a reverse proxy. Can be "
        "repeated. The address listened on and local names are always allowed.",
    ),
]


def check_server(
    command: str, extra: str, modules: Iterable[str], host: str, token: str | None
) -> None:
    """Raise if a server cannot be run, or could be used from other machines without a token.

    Parameters
    ----------
    command, extra : str
        Name of the command, and the extra with its packages.
    modules : iterable of str
        What the command imports.
    host : str
        Address to listen on.
    token : str or None
    """
    require(command, extra, *modules)
    from imboost.web.hosts import is_loopback

    if token is not None and not token.strip():
        raise SettingError("The token is empty: set it with --token or IMBOOST_TOKEN.")
    if token is None and not is_loopback(host):
        raise SettingError(
            f"{host} can be reached from other machines: set a token with --token or "
            "IMBOOST_TOKEN, or listen on 127.0.0.1."
        )
