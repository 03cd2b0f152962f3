"""`imboost score`: score a table of any size."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from imboost.cli.console import outlier_count, say
from imboost.cli.inputs import open_inputs, scored_batches
from imboost.cli.options import Model, Table
from imboost.reporting.formatting import count, percent

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector
    from imboost.scoring.drift import DataWarning

MAX_WARNINGS = 5  # warnings about columns that are printed

# A larger fraction of outliers than both of these warns of drift, in tables that are not tiny.
MAX_OUTLIER_FRACTION = 0.1
MAX_OUTLIER_RATIO = 5  # times the fraction in training
MIN_ROWS_TO_WARN = 20


def score(
    model: Model,
    data: Table,
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV or Parquet file for the scores. Default: beside the table, as "
            "NAME.scores.csv or NAME.scores.parquet."
        ),
    ] = None,
) -> None:
    """Score the rows of a table of any size."""
    from imboost.persistence.atomic_write import atomic_write
    from imboost.scoring.drift import DriftMonitor
    from imboost.scoring.row_selection import identifier_columns
    from imboost.scoring.streaming import check_row_counts
    from imboost.scoring.writer import ScoreWriter, check_score_path
    from imboost.tables.files import path_beside

    detector, files = open_inputs(model, data)
    out = out or path_beside(data, ".scores.csv" if files.is_csv else ".scores.parquet")
    check_score_path(out, files.paths)
    monitor = DriftMonitor(detector)
    n_read = n_outliers = 0
    model_seconds = other_seconds = 0.0  # summed over threads
    start = perf_counter()
    with atomic_write(out) as draft:
        with ScoreWriter(draft, identifier_columns(detector)) as writer:
            for batch in scored_batches(detector, files):
                before = perf_counter()
                writer.write(batch)
                monitor.add(batch.table)
                found = batch.predictions
                n_read += batch.table.num_rows
                n_outliers += int(found.is_outlier.sum())
                model_seconds += found.model_seconds
                other_seconds += batch.reading_seconds + found.encoding_seconds
                other_seconds += perf_counter() - before
        check_row_counts(n_read, writer.n_rows, "wrote")
    seconds = perf_counter() - start
    in_model = model_seconds / ((model_seconds + other_seconds) or 1.0)
    say(
        f"{count(n_read, 'row')} in {seconds:,.1f} s: {n_read / seconds:,.0f} rows per second, "
        f"{percent(in_model)} of the computing time in the model.",
        outlier_count(n_outliers, n_read, detector.threshold_),
    )
    _warn_about_outliers(n_outliers, n_read, detector)
    _warn_about_columns(monitor.warnings())
    say(f"Scores: {out}", f"Read {count(n_read, 'row')}, wrote {count(writer.n_rows, 'score')}.")


def _warn_about_outliers(n_outliers: int, n_rows: int, detector: TableDetector) -> None:
    """Warn if a far larger fraction of rows is called outliers than in training."""
    now, then = n_outliers / max(n_rows, 1), float(detector.labels_.mean())
    if n_rows >= MIN_ROWS_TO_WARN and now > max(MAX_OUTLIER_FRACTION, MAX_OUTLIER_RATIO * then):
        say(
            f"Warning: {percent(now)} of the rows are called outliers, {percent(then)} in "
            "training. The data may have changed since."
        )


def _warn_about_columns(warnings: list[DataWarning]) -> None:
    """Warn about columns that differ so much from training that scores may be unreliable."""
    for warning in warnings[:MAX_WARNINGS]:
        say(f"Warning: column '{warning.column}': {warning.text}.")
    if len(warnings) > MAX_WARNINGS:
        say(f"Warning: {count(len(warnings) - MAX_WARNINGS, 'more difference')} from training.")
    if warnings:
        say("Scores may be unreliable; 'imboost report' shows all differences from training.")
