"""Arguments and options that several commands share, and checks of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from imboost.errors import SettingError
from imboost.tables.read_options import ReadOptions

DEFAULT_DETECTOR = "stack"
MAX_SEED = 2**32 - 1  # numpy's and scikit-learn's limit


Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model folder written by 'imboost fit'.")
]
Table = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV, Excel, Parquet, Feather, JSON lines, SQLite or DuckDB file, a folder of files "
        "of one format, or - for standard input.",
    ),
]
Roles = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="NAME=ROLE",
        help="The role of a column, such as zip=categorical: numeric, categorical, boolean, "
        "datetime, identifier, constant, text or ignored; may be repeated. The roles of other "
        "columns are detected.",
    ),
]
RolesFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File with the roles of columns, as 'imboost check --write-roles' writes it; "
        "--role has precedence.",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="Text that stands for a missing value, besides empty cells; may be repeated. "
        "Default: NA, N/A, NULL, None, nan and others. The model keeps it.",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Encoding of a CSV or JSON file, such as cp1252. Default: UTF-8."
    ),
]
Header = Annotated[
    Literal["yes", "no"] | None,
    typer.Option(
        help="Whether the first line of a CSV file or sheet holds the column names. Default: it "
        "does, and a first line that looks like a row is refused."
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Sheet of an Excel file. Default: the first one."),
]
Sql = Annotated[
    str | None,
    typer.Option(
        "--sql",
        metavar="QUERY",
        help="Table of a SQLite or DuckDB file, or a query. Default: the only table.",
    ),
]
Scores = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Scores of the table, written by 'imboost score' with this model. Default: the table "
        "is scored again.",
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column with known labels: 0 or 1, yes or no, true or false, inlier or outlier, "
        "normal or anomaly; an empty cell is an unlabelled row.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing model.")]
Engine = Annotated[
    Literal["local", "ray"],
    typer.Option(
        help="local, this process; or ray, a Ray cluster, which reads Parquet files (needs the "
        "extra ray)."
    ),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Head node of the Ray cluster, such as 10.0.0.1:6379. Default: RAY_ADDRESS, or else "
        "a cluster on all cores of this machine.",
    ),
]
Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")]
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
Seed = Annotated[int, typer.Option(min=0, max=MAX_SEED, metavar="N", help="Random seed.")]


def reads_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading a table, in place of its parameter `options`."""
    reading = {"encoding": Encoding, "header": Header, "sheet": Sheet, "sql": Sql}

    @wraps(command)
    def read_then_run(**given: Any) -> None:
        encoding, header, sheet, sql = (given.pop(name) for name in reading)
        has_header = None if header is None else header == "yes"
        command(**given, options=ReadOptions(encoding, has_header, sheet, sql))

    parameters = dict(signature(command, eval_str=True).parameters)
    place = parameters.pop("options")
    for name, kind in reading.items():
        parameters[name] = place.replace(name=name, annotation=kind, default=None)
    read_then_run.__signature__ = Signature(list(parameters.values()))  # type: ignore[attr-defined]
    read_then_run.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    return read_then_run


def as_arguments(options: ReadOptions) -> list[str]:
    """Return the arguments of a command that reads its table with these options.

    >>> as_arguments(ReadOptions(has_header=False, encoding="cp1252"))
    ['--encoding', 'cp1252', '--header', 'no']
    """
    header = {True: "yes", False: "no"}
    given = {name.removeprefix("has_"): getattr(options, name) for name in options.given}
    return [text for name in given for text in (f"--{name}", header.get(given[name], given[name]))]


def check_server(host: str, token: str | None) -> None:
    """Raise if a server could be used from other machines without a token."""
    from imboost.web.hosts import is_loopback

    if token is not None and not token.strip():
        raise SettingError("The token is empty: set it with --token or IMBOOST_TOKEN.")
    if token is None and not is_loopback(host):
        raise SettingError(
            f"{host} can be reached from other machines: set a token with --token or "
            "IMBOOST_TOKEN, or listen on 127.0.0.1."
        )
