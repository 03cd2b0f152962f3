"""`imboost explain`: why rows score as they do, on the terminal and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imboost.cli.console import rows, say
from imboost.cli.explained_rows import MOST_REASONS, ExplainedRow, how_known, print_rows, shorten
from imboost.cli.inputs import identifiers, open_inputs, scored
from imboost.cli.options import Model, Table
from imboost.cli.progress import stage

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector
    from imboost.scoring.row_selection import SelectedRows
    from imboost.tables.files import TableFiles


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
    """Explain why rows score as they do, column by column."""
    from imboost.persistence.atomic_write import atomic_write
    from imboost.reporting import render
    from imboost.scoring.row_selection import find_rows

    detector, files = open_inputs(model, data)
    names = identifiers(detector)
    identifier = names[0] if names else None
    if row:
        with stage(f"looking for rows in {data}"):
            chosen = find_rows(files, identifier, row)
    else:
        chosen = _highest_scores(detector, files, top)
    explained = explain_rows(detector, chosen, identifier)
    print_rows(explained, detector.threshold_)
    if out is not None:
        context = {
            "rows": explained,
            "threshold": detector.threshold_,
            "data": data.name,
            "n_reasons": MOST_REASONS,
            "shorten": shorten,
            "how_known": how_known(explained[0]),
        }
        with atomic_write(out) as draft:
            draft.write_text(render("explain.html.j2", context), encoding="utf-8")
        say(f"Page: {out}")


def explain_rows(
    detector: TableDetector, chosen: SelectedRows, identifier: str | None
) -> list[ExplainedRow]:
    """Explain a few rows, in their order."""
    with stage(f"explaining {rows(len(chosen.numbers))}"):
        explanations = detector.explain(chosen.table)
    return [
        ExplainedRow(name, bool(told.score > detector.threshold_), told)
        for name, told in zip(chosen.names(identifier), explanations, strict=True)
    ]


def _highest_scores(detector: TableDetector, files: TableFiles, n: int) -> SelectedRows:
    from imboost.scoring.row_selection import TopRows

    best = TopRows(n)
    for batch in scored(detector, files):
        best.add(batch.first_row, batch.table, batch.predictions.scores)
    return best.selected()
