"""`imboost explain`: why rows have their scores, on the terminal and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from imboost.cli.console import say
from imboost.cli.explained_rows import MAX_REASONS, print_rows
from imboost.cli.inputs import open_inputs, scored_batches
from imboost.cli.options import Model, Table
from imboost.cli.outputs import write_page
from imboost.cli.progress import stage
from imboost.reporting.formatting import count


def explain(
    model: Model,
    data: Table,
    row: Annotated[
        list[str] | None,
        typer.Option(
            help="Identifier of the row, or its number from 0 if the table has no identifier; may "
            "be repeated. Default: the rows with the highest scores."
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of rows with the highest scores.")
    ] = 3,
    out: Annotated[Path | None, typer.Option(help="HTML file to write as well.")] = None,
) -> None:
    """Explain the scores of rows, column by column."""
    from imboost.scoring.explained_rows import explain_rows, page_context
    from imboost.scoring.row_selection import TopRows, find_rows, identifier_columns

    detector, files = open_inputs(model, data)
    identifier = next(iter(identifier_columns(detector)), None)
    if row:
        with stage(f"looking for rows in {data}"):
            selected = find_rows(files, identifier, row)
    else:
        highest = TopRows(top)
        for batch in scored_batches(detector, files):
            highest.add(batch.first_row, batch.table, batch.predictions.scores)
        selected = highest.selected()
    with stage(f"explaining {count(len(selected.numbers), 'row')}"):
        explained = explain_rows(detector, selected, identifier)
    print_rows(explained, detector.threshold_)
    if out is not None:
        context = {
            "data": data.name,
            "threshold": detector.threshold_,
            **page_context(explained, MAX_REASONS),
        }
        write_page(out, "explain.html.j2", context)
        say(f"Page: {out}")
    say(f"Read {count(selected.n_read, 'row')}, explained {len(explained):,}.")
