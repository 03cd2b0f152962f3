"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from imboost.tables.read_options import ReadOptions

DEFAULT_DETECTOR = "stack"
MAX_SEED = 2**32 - 1  # numpy's and scikit-learn's limit


class HeaderChoice(StrEnum):
    """Whether a file has a header."""

    YES = "yes"
    NO = "no"


class EngineChoice(StrEnum):
    """Where a table is read and scored."""

    LOCAL = "local"
    RAY = "ray"


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
    HeaderChoice | None,
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
Engine = Annotated[
    EngineChoice,
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
Seed = Annotated[int, typer.Option(min=0, max=MAX_SEED, metavar="N", help="Random seed.")]


def read_options(
    encoding: str | None, header: HeaderChoice | None, sheet: str | None, sql: str | None
) -> ReadOptions:
    """Return how the table is read; raise if an option cannot be used."""
    from imboost.tables.read_options import ReadOptions

    has_header = None if header is None else header == HeaderChoice.YES
    return ReadOptions(encoding, has_header, sheet, sql)
