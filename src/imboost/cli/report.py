"""`imboost report`: a page about the scores of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imboost.cli.console import say, write_text
from imboost.cli.inputs import (
    check_page,
    default_output,
    first_identifier,
    open_inputs,
    scored_batches,
)
from imboost.cli.options import Model, Scores, Table, reads_tables
from imboost.cli.progress import stage
from imboost.errors import SettingError
from imboost.present.formatting import count
from imboost.tables.read_options import ReadOptions

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector
    from imboost.tables.files import TableFiles

MAX_CHECKED_ROWS = 500_000  # larger tables are not read into memory to look for findings


@reads_tables
def report(
    model: Model,
    data: Table,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="HTML file to write. Default: beside the table, as NAME.report.html.",
        ),
    ] = None,
    scores: Scores = None,
    *,
    options: ReadOptions,
) -> None:
    """Write a page about a table: scores, threshold, explanations and data warnings.

    For example:

      imboost report orders.model orders.csv

      imboost report orders.model orders.csv --scores orders.scores.csv --out page.html
    """
    import numpy as np

    from imboost.present.report import ReportSample, render_report
    from imboost.scoring.drift import Drift
    from imboost.scoring.pipeline import Summary
    from imboost.scoring.score_files import check_scores

    out = out or default_output(data, ".report.html")
    check_page(out)
    detector, files = open_inputs(model, data, options)
    sample, summary = ReportSample(), Summary()
    for batch in summary.counted(scored_batches(detector, files, scores)):
        numbers = np.arange(batch.first_row, batch.first_row + batch.table.num_rows)
        sample.add(numbers, batch.table, batch.predictions.scores)
    if scores is not None:
        check_scores(detector, sample.top.selected(), sample.top.keys)
    with stage(f"explaining {count(sample.n_explained, 'row')}"):
        drift = Drift(detector, summary.n_rows, summary.changes)
        findings = _table_findings(detector, files, summary.n_rows)
        page = render_report(
            detector, data.name, sample, summary.n_outliers, drift.findings(), findings
        )
    write_text(out, page)
    n_read = sample.top.selected().n_read
    say(f"Report: {out}", f"Read {count(n_read, 'row')}, scored {summary.n_rows:,}.")


def _table_findings(
    detector: TableDetector, files: TableFiles, n_rows: int
) -> list[dict[str, Any]] | None:
    """Return what is wrong with the table, for the page; None if it is too large."""
    from imboost.findings.check import check_table
    from imboost.findings.output import page_findings
    from imboost.tables.schema import Schema

    if n_rows > MAX_CHECKED_ROWS:
        return None
    table = files.read()
    missing_values = detector.schema_.missing_values
    given = (detector.roles or {}).items()
    roles = {name: role for name, role in given if name in table.column_names}
    try:
        schema = Schema.fit_parse(
            table, roles, missing_values=missing_values, needs_features=False
        )
    except SettingError:  # no cell fits a role any more, which the page says in its warnings
        schema = Schema.fit_parse(table, missing_values=missing_values, needs_features=False)
    found = check_table(table, schema=schema)
    return page_findings(found, table, first_identifier(schema[0]))
