"""`imboost-bench report`: tables and figures from benchmark results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    out: Annotated[Path, typer.Argument(help="Folder with results.csv.")],
    against: Annotated[
        str | None,
        typer.Option(
            help="The reference method, such as stack/spread, or stack for "
            "stack with its own query strategy. Default: imboost/mm."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with ADBench files; adds table C.1, their sizes."),
    ] = None,
) -> None:
    """Write the tables and figures of a benchmark next to the paper's values."""
    from imboost_bench.report import write_report

    for path in write_report(out, against, data):
        typer.echo(f"wrote {path}")
