"""`imboost explain`: why rows have their scores, on the terminal and as a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from imboost.cli.console import say, write_text
from imboost.cli.inputs import check_page, first_identifier, open_inputs, scored_batches
from imboost.cli.options import Model, Scores, Table, reads_tables
from imboost.cli.progress import stage
from imboost.errors import SettingError
from imboost.present.formatting import count, number, printable, shorten
from imboost.tables.read_options import ReadOptions

if TYPE_CHECKING:
    from imboost.present.rows import RowView

MAX_REASONS = 8  # columns shown for a row; the others are added up
BAR_WIDTH = 8  # characters of the longest bar
MIN_WIDTH = 10  # characters of the narrowest column: a date


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
    from imboost.present.pages import render
    from imboost.present.report import explain_rows
    from imboost.scoring.row_selection import TopRows, find_rows
    from imboost.scoring.score_files import check_scores

    if row and scores is not None:
        raise SettingError("--scores finds the highest scores: leave it out with --row.")
    check_page(out)
    detector, files = open_inputs(model, data, options)
    identifier = first_identifier(detector.schema_)
    if row:
        with stage(f"looking for rows in {data}"):
            selected = find_rows(files, identifier, row)
    else:
        highest = TopRows(top)
        for batch in scored_batches(detector, files, scores):
            highest.add(batch.first_row, batch.table, batch.predictions.scores)
        selected = highest.selected()
        if scores is not None:
            check_scores(detector, selected, highest.keys)
    with stage(f"explaining {count(len(selected.numbers), 'row')}"):
        explained = explain_rows(detector, selected, identifier)
    if as_json:
        shown = [
            {"row": view.row, "name": view.name, "is_outlier": view.is_outlier}
            | view.explanation.as_dict()
            for view in explained
        ]
        typer.echo(json.dumps({"threshold": detector.threshold_, "rows": shown}, indent=1))
    else:
        print_rows(explained, detector.threshold_)
    if out is not None:
        context = {
            "data": data.name,
            "threshold": detector.threshold_,
            "rows": explained,
            "n_reasons": MAX_REASONS,
            "method": explained[0].method,
        }
        write_text(out, render("explain.html.j2", context))
        say(f"Page: {out}", stderr=as_json)
    say(f"Read {count(selected.n_read, 'row')}, explained {len(explained):,}.", stderr=as_json)


def print_rows(rows: Sequence[RowView], threshold: float) -> None:
    """Print the explanation of every row, and how contributions were computed."""
    console = Console(highlight=False)
    for row in rows:
        predicted = "outlier (above" if row.is_outlier else "inlier (not above"
        title = f": score {number(row.explanation.score)}, predicted {predicted} the threshold "
        title += f"{number(threshold)})"
        console.print(Text.assemble((printable(row.name), "bold"), title), soft_wrap=True)
        console.print(_reason_table(row))
        if row.warning:
            console.print(row.warning)
        console.print()
    console.print(rows[0].method)


def _reason_table(row: RowView) -> RichTable:
    """Return a table of reasons that ends with the sum of baseline, residual and reasons."""
    from imboost.present import wording

    reasons = row.explanation.reasons
    has_tolerances = any(reason.tolerance for reason in reasons)
    table = RichTable(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for heading in ("column", "value", "reference rows", "expected"):
        table.add_column(heading, overflow="fold", min_width=MIN_WIDTH)
    for heading in ["contribution", *["typical"] * has_tolerances]:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", width=BAR_WIDTH, no_wrap=True)
    for reason in reasons[:MAX_REASONS]:
        part = reason.contribution / row.largest
        block = "█" if part > 0 else "░"  # full if it raises the score, hollow if it lowers it
        table.add_row(
            Text(printable(reason.column)),
            Text("" if reason.is_about_row else printable(shorten(reason.text or "(missing)"))),
            Text(printable(wording.position(reason, short=True))),
            Text(printable(wording.cell(reason.expected))),
            row.number(reason.contribution, "+"),
            *[f"\N{LESS-THAN OR EQUAL TO} {row.number(reason.tolerance)}"] * has_tolerances,
            block * round(BAR_WIDTH * abs(part)),
        )
    if others := reasons[MAX_REASONS:]:
        added = sum(reason.contribution for reason in others)
        table.add_row(count(len(others), "other column"), "", "", "", row.number(added, "+"))
    total = row.number(row.explanation.score)
    for name, figure in (
        ("residual", row.number(row.explanation.residual, "+")),
        ("baseline", row.number(row.explanation.baseline)),
        ("", "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * len(total)),
        ("score", total),
    ):
        table.add_row(name, "", "", "", figure)
    return table
