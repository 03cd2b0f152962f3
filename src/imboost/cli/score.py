"""`imboost score`: score a table of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from imboost.cli.console import outlier_count, say
from imboost.cli.inputs import default_output, open_inputs, scored_batches
from imboost.cli.options import (
    Encoding,
    Engine,
    EngineChoice,
    Header,
    Model,
    RayAddress,
    Sheet,
    Sql,
    Table,
    read_options,
)
from imboost.cli.outputs import output_file
from imboost.cli.progress import row_bar
from imboost.cli.ray_commands import check_local, check_ray_options, describe_rows, score_on_ray
from imboost.present import wording
from imboost.present.formatting import count, percent

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector
    from imboost.facts import Fact
    from imboost.scoring.drift import DriftMonitor
    from imboost.scoring.ray_engine import RayScores
    from imboost.scoring.streaming import ScoredBatch
    from imboost.scoring.table_writers import WriteOptions
    from imboost.tables.files import TableFiles

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
            metavar="FILE",
            help="CSV, Parquet, JSON lines or Excel file for the scores, or - for standard "
            "output. An Excel file holds all columns of the table. Default: beside the table, as "
            "NAME.scores.csv or in the table's own format; standard output if the table is "
            "standard input. With --engine ray a folder of Parquet files, NAME.scores.",
        ),
    ] = None,
    reasons: Annotated[
        str | None,
        typer.Option(
            metavar="ROWS",
            help="Explain the rows called outliers (outliers), or this number of rows with the "
            "highest scores. Excel files mark the cells.",
        ),
    ] = None,
    escape_formulas: Annotated[
        bool,
        typer.Option(
            "--escape-formulas",
            help="In CSV, put an apostrophe before text that spreadsheets would run as a formula.",
        ),
    ] = False,
    engine: Engine = EngineChoice.LOCAL,
    ray_address: RayAddress = None,
    encoding: Encoding = None,
    header: Header = None,
    sheet: Sheet = None,
    sql: Sql = None,
) -> None:
    """Score the rows of a table of any size.

    For example:

      imboost score orders.model new.csv

      imboost score orders.model new.xlsx --out checked.xlsx --reasons outliers

      imboost score orders.model shop.db --sql "SELECT * FROM orders" --out - > scores.csv

      imboost score orders.model s3://shop/orders --out s3://shop/scores --engine ray
    """
    from imboost.scoring.drift import DriftMonitor
    from imboost.scoring.score_reasons import parse_reasons
    from imboost.scoring.streaming import check_row_counts
    from imboost.scoring.table_writers import WriteOptions
    from imboost.scoring.writer import check_score_path
    from imboost.tables.roles import Role
    from imboost.tables.standard_input import STANDARD_STREAM

    options, n_reasons = read_options(encoding, header, sheet, sql), parse_reasons(reasons)
    if engine == EngineChoice.RAY:
        others = {"reasons": reasons is not None, "escape-formulas": escape_formulas}
        check_ray_options([*options.given, *(name for name in others if others[name])])
        scores = score_on_ray(model, data, out, ray_address)
        say(
            *_summary(scores, scores.n_continued),
            f"Scores: {scores.folder.location}",
            describe_rows(scores),
        )
        return
    check_local(ray_address)
    if out is None and data == STANDARD_STREAM:
        out = STANDARD_STREAM
    if out is not None:
        check_score_path(out)
    detector, files = open_inputs(model, data, options)
    out = out or default_output(data, files.format.scores)
    check_score_path(out, files.paths)
    if n_reasons is not None:
        detector.check_explains("leave out --reasons")
    tell = partial(say, stderr=out == STANDARD_STREAM)
    numeric = (column.name for column in detector.schema_ if column.role == Role.NUMERIC)
    writing = WriteOptions(escape_formulas, frozenset(numeric))
    with output_file(out, ".csv") as draft:
        done = _Scoring(detector, files, DriftMonitor(detector))
        n_written = done.write(draft, writing, n_reasons)
        check_row_counts(done.n_read, n_written, "wrote")
    tell(*_summary(done))
    if n_reasons is not None:
        tell(f"Reasons: {count(done.n_explained, 'row')}.")
    tell(f"Scores: {out}", f"Read {count(done.n_read, 'row')}, wrote {count(n_written, 'score')}.")


@dataclass
class _Scoring:
    """Scores a table into a file and counts."""

    detector: TableDetector
    files: TableFiles
    monitor: DriftMonitor
    n_read: int = 0
    n_outliers: int = 0
    n_explained: int = 0
    seconds: float = 0.0
    model_seconds: float = 0.0  # summed over threads, as the next
    other_seconds: float = 0.0

    def write(self, draft: Path, options: WriteOptions, n_reasons: int | None) -> int:
        """Write the scores and, unless `n_reasons` is None, reasons; return the rows written."""
        from imboost.scoring.row_selection import TopRows, identifier_columns
        from imboost.scoring.score_reasons import MAX_EXPLAINED, find_reasons, write_reasons
        from imboost.scoring.writer import ScoreWriter

        is_excel = draft.suffix.lower() == ".xlsx"  # it shows whole rows
        copied = None if is_excel else identifier_columns(self.detector)
        top = TopRows(n_reasons or MAX_EXPLAINED)
        first = draft if n_reasons is None else draft.with_name("unexplained.parquet")
        start = perf_counter()
        with ScoreWriter(first, copied, options, self.detector.model_name) as writer:
            for batch in scored_batches(self.detector, self.files):
                before = perf_counter()
                writer.write(batch)
                if n_reasons is not None:
                    top.add(batch.first_row, batch.table, batch.predictions.scores)
                self._count(batch)
                self.other_seconds += perf_counter() - before
        self.seconds = perf_counter() - start
        if n_reasons is None:
            return writer.n_rows
        selected = top.first(n_reasons or min(self.n_outliers, MAX_EXPLAINED))
        self.n_explained = len(selected.numbers)
        with row_bar() as progress:
            task = progress.add_task("explaining", total=self.n_explained)
            found = find_reasons(self.detector, selected, lambda n: progress.advance(task, n))
        return write_reasons(first, draft, found, options)

    def _count(self, batch: ScoredBatch) -> None:
        found = batch.predictions
        self.monitor.add(batch.table)
        self.n_read += batch.table.num_rows
        self.n_outliers += int(found.is_outlier.sum())
        self.model_seconds += found.model_seconds
        self.other_seconds += batch.reading_seconds + found.encoding_seconds


def _summary(done: _Scoring | RayScores, n_continued: int = 0) -> Iterator[str]:
    """Say how long the scoring took and what is notable about the scores and the table.

    An earlier run has scored `n_continued` of the rows.
    """
    n_read, detector = done.n_read, done.detector
    n_scored = n_read - n_continued
    share_in_model = done.model_seconds / ((done.model_seconds + done.other_seconds) or 1.0)
    if n_continued and not n_scored:
        yield "All parts existed: no row was left to score."
    else:
        yield (
            f"{count(n_scored, 'row')} in {done.seconds:,.1f} s: {n_scored / done.seconds:,.0f} "
            f"rows per second, {percent(share_in_model)} of the computing time in the model."
        )
    yield f"Scored by {detector.model_name}."
    yield outlier_count(done.n_outliers, n_read, detector.threshold_)
    yield from _outlier_warnings(done.n_outliers, n_read, detector)
    yield from _column_warnings(done.monitor.warnings())


def _outlier_warnings(n_outliers: int, n_rows: int, detector: TableDetector) -> Iterator[str]:
    """Warn if a far larger fraction of rows is called outliers than in training."""
    now, then = n_outliers / max(n_rows, 1), float(detector.labels_.mean())
    if n_rows >= MIN_ROWS_TO_WARN and now > max(MAX_OUTLIER_FRACTION, MAX_OUTLIER_RATIO * then):
        yield (
            f"Warning: {percent(now)} of the rows are predicted outliers, {percent(then)} in "
            "training. The data may have changed since."
        )


def _column_warnings(warnings: list[Fact]) -> Iterator[str]:
    """Warn about columns that differ so much from training that scores may be unreliable."""
    for warning in warnings[:MAX_WARNINGS]:
        yield f"Warning: column '{warning.column}': {wording.column_change(warning)}."
    if len(warnings) > MAX_WARNINGS:
        yield f"Warning: {count(len(warnings) - MAX_WARNINGS, 'more difference')} from training."
    if warnings:
        yield "Scores may be unreliable; 'imboost report' shows all differences from training."
