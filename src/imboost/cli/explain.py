"""`imboost explain`: why rows have their scores, on the terminal and as a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imboost.cli.console import say
from imboost.cli.explained_rows import MAX_REASONS, print_rows
from imboost.cli.inputs import open_inputs, scored_batches
from imboost.cli.options import Model, Scores, Table, reads_tables
from imboost.cli.outputs import write_page
from imboost.cli.progress import stage
from imboost.errors import SettingError
from imboost.present.formatting import count
from imboost.tables.read_options import ReadOptions

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector
    from imboost.scoring.explained_rows import ExplainedRow
    from imboost.scoring.row_selection import SelectedRows
    from imboost.tables.files import TableFiles


@reads_tables
def explain(
    model: Model,
    data: Table,
    row: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="Name of the row, as 'imboost check' prints it: its identifier, or 'row 17' by "
            "its number from 0; may be repeated. Default: the rows with the highest scores.",
        ),
    ] = None,
    top: Annotated[
        int,
        typer.Option(min=1, max=1000, metavar="N", help="Number of rows with the highest scores."),
    ] = 3,
    scores: Scores = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="HTML file to write as well.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the explanations as JSON.")
    ] = False,
    *,
    options: ReadOptions,
) -> None:
    """Explain the scores of rows, column by column.

    For example:

      imboost explain orders.model orders.csv --row A0000017

      imboost explain orders.model orders.csv --scores orders.scores.csv --top 10 --json
    """
    from imboost.scoring.explained_rows import describe_method, explain_rows
    from imboost.scoring.row_selection import find_rows, identifier_columns

    if row and scores is not None:
        raise SettingError("--scores finds the highest scores: leave it out with --row.")
    if out is not None and out.is_dir():
        raise SettingError(f"{out} is a folder: name a file with --out.")
    detector, files = open_inputs(model, data, options)
    identifier = next(iter(identifier_columns(detector)), None)
    if row:
        with stage(f"looking for rows in {data}"):
            selected = find_rows(files, identifier, row)
    else:
        selected = _highest_rows(detector, files, top, scores)
    with stage(f"explaining {count(len(selected.numbers), 'row')}"):
        explained = explain_rows(detector, selected, identifier)
    if as_json:
        typer.echo(json.dumps(_as_json(detector, selected.numbers, explained), indent=1))
    else:
        print_rows(explained, detector.threshold_)
    if out is not None:
        context = {
            "data": data.name,
            "threshold": detector.threshold_,
            "rows": explained,
            "n_reasons": MAX_REASONS,
            "method": describe_method(explained[0].explanation),
        }
        write_page(out, "explain.html.j2", context)
        say(f"Page: {out}", stderr=as_json)
    say(f"Read {count(selected.n_read, 'row')}, explained {len(explained):,}.", stderr=as_json)


def _highest_rows(
    detector: TableDetector, files: TableFiles, n: int, scores: Path | None
) -> SelectedRows:
    """Return the rows with the highest scores, which are computed or read from a file."""
    from imboost.scoring.row_selection import TopRows
    from imboost.scoring.score_files import check_scores

    highest = TopRows(n)
    for batch in scored_batches(detector, files, scores):
        highest.add(batch.first_row, batch.table, batch.predictions.scores)
    selected = highest.selected()
    if scores is not None:
        check_scores(detector, selected, highest.keys)
    return selected


def _as_json(
    detector: TableDetector, numbers: Sequence[int], rows: Sequence[ExplainedRow]
) -> dict[str, Any]:
    """Return explanations as JSON; control characters are escaped in it."""
    return {
        "threshold": detector.threshold_,
        "rows": [
            {"row": number, "name": row.name, "is_outlier": row.is_outlier}
            | row.explanation.as_dict()
            for number, row in zip(numbers, rows, strict=True)
        ],
    }
