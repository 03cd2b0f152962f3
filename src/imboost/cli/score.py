"""`imboost score`: a table of any size in, a file of scores out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from imboost.cli.console import called, rows, say
from imboost.cli.inputs import identifiers, open_inputs, scored
from imboost.cli.options import Model, Table

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector
    from imboost.scoring.drift import DataWarning, DriftMonitor
    from imboost.scoring.streaming import ScoredBatch
    from imboost.tables.files import TableFiles

MOST_WARNINGS = 5

FEW_ROWS = 20
MANY_OUTLIERS = 0.1
MANY_TIMES = 5
"""A larger share of outliers, so many times that of the training rows, is told; of fewer rows it
says nothing."""


@dataclass
class Tally:
    """What was done so far, and where the time went.

    Parameters
    ----------
    n_rows, n_outliers : int
    model_seconds : float
        Spent in the model itself, summed over threads.
    other_seconds : float
        Spent on reading, encoding and writing.
    """

    n_rows: int = 0
    n_outliers: int = 0
    model_seconds: float = 0.0
    other_seconds: float = 0.0

    def add(self, batch: ScoredBatch, writing_seconds: float) -> None:
        """Count a batch that was written."""
        found = batch.predictions
        self.n_rows += batch.table.num_rows
        self.n_outliers += int(found.is_outlier.sum())
        self.model_seconds += found.model_seconds
        self.other_seconds += batch.reading_seconds + found.encoding_seconds + writing_seconds

    @property
    def model_share(self) -> float:
        """Part of the working time that was spent in the model."""
        worked = self.model_seconds + self.other_seconds
        return self.model_seconds / worked if worked else 0.0


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
    from imboost.cli.output_path import default_output
    from imboost.labels import OUTLIER
    from imboost.persistence.atomic_write import atomic_write
    from imboost.scoring.drift import DriftMonitor
    from imboost.scoring.writer import check_score_path

    detector, files = open_inputs(model, data)
    out = out or default_output(data, ".scores.csv" if files.is_csv else ".scores.parquet")
    check_score_path(out, files.paths)
    monitor = DriftMonitor(detector)
    start = perf_counter()
    with atomic_write(out) as draft:
        tally = _write_scores(detector, files, draft, monitor)
    seconds = perf_counter() - start
    say(
        f"{rows(tally.n_rows)} in {seconds:,.1f} s: {tally.n_rows / seconds:,.0f} rows per "
        f"second, {tally.model_share:.0%} of the work in the model.",
        called(tally.n_outliers, detector.threshold_),
    )
    _warn_of_outliers(tally, float((detector.labels_ == OUTLIER).mean()))
    _warn(monitor.warnings())
    say(f"Scores: {out}")


def _warn_of_outliers(tally: Tally, then: float) -> None:
    """Say if far more rows are called outliers than of the training rows."""
    from imboost.reporting.formatting import percent

    if tally.n_rows < FEW_ROWS:
        return
    now = tally.n_outliers / tally.n_rows
    if now > max(MANY_OUTLIERS, MANY_TIMES * then):
        say(
            f"Warning: {percent(now)} of the rows are called outliers; of the training rows it "
            f"was {percent(then)}. The table may have changed."
        )


def _warn(warnings: list[DataWarning]) -> None:
    """Say which columns are so unlike training that scores may mean little."""
    for warning in warnings[:MOST_WARNINGS]:
        say(f"Warning: column '{warning.column}': {warning.text}.")
    if len(warnings) > MOST_WARNINGS:
        say(f"Warning: {len(warnings) - MOST_WARNINGS:,} more such things were found.")
    if warnings:
        say("Scores of such rows may say little; 'imboost report' shows more.")


def _write_scores(
    detector: TableDetector, files: TableFiles, out: Path, monitor: DriftMonitor
) -> Tally:
    from imboost.scoring.writer import ScoreWriter

    tally = Tally()
    writer = ScoreWriter(out, identifiers(detector))
    try:
        for batch in scored(detector, files):
            start = perf_counter()
            writer.write(batch)
            monitor.add(batch.table)
            tally.add(batch, perf_counter() - start)
    finally:
        writer.close()
    return tally
