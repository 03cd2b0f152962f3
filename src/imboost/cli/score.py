"""`imboost score`: score a table of any size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from imboost.cli.console import outlier_count, output_file, say
from imboost.cli.inputs import (
    check_engine,
    check_model,
    default_output,
    open_inputs,
    scored_batches,
)
from imboost.cli.options import Engine, Model, RayAddress, Table, reads_tables
from imboost.cli.progress import row_bar, stage
from imboost.errors import SettingError
from imboost.present.formatting import count, percent
from imboost.tables.read_options import ReadOptions

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector
    from imboost.scoring.pipeline import Summary
    from imboost.tables.files import TableFiles

OUTLIERS = "outliers"  # value of --reasons
MAX_WARNINGS = 5  # warnings about columns that are printed

# A larger fraction of outliers than both of these warns of drift, in tables that are not tiny.
MAX_OUTLIER_FRACTION = 0.1
MAX_OUTLIER_RATIO = 5  # times the fraction in training
MIN_ROWS_TO_WARN = 20


@reads_tables
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
            help="Explain the predicted outliers (outliers), or this number of rows with the "
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
    engine: Engine = "local",
    ray_address: RayAddress = None,
    *,
    options: ReadOptions,
) -> None:
    """Score the rows of a table of any size.

    For example:

      imboost score orders.model new.csv

      imboost score orders.model new.xlsx --out checked.xlsx --reasons outliers

      imboost score orders.model shop.db --sql "SELECT * FROM orders" --out - > scores.csv

      imboost score orders.model s3://shop/orders --out s3://shop/scores --engine ray
    """
    from imboost.scoring.score_files import check_score_path
    from imboost.tables.read_options import STANDARD_STREAM

    n_reasons = parse_reasons(reasons)
    others = {"reasons": n_reasons is not None, "escape-formulas": escape_formulas}
    if check_engine(engine, ray_address, options, *(name for name in others if others[name])):
        _score_on_ray(model, data, out, ray_address)
        return
    if out is None and data == STANDARD_STREAM:
        out = STANDARD_STREAM
    if out is not None:
        check_score_path(out)
    detector, files = open_inputs(model, data, options)
    out = out or default_output(data, files.format.scores)
    check_score_path(out, files.paths)
    if n_reasons is not None:
        detector.check_explains("leave out --reasons")
    start = perf_counter()
    with output_file(out, ".csv") as draft:
        summary, n_explained = _write(detector, files, draft, escape_formulas, n_reasons)
    lines = _describe(detector, summary, perf_counter() - start, out, n_explained=n_explained)
    say(*lines, stderr=out == STANDARD_STREAM)


def parse_reasons(text: str | None) -> int | None:
    """Return how many rows are explained; 0 for all outliers, None for no row.

    >>> parse_reasons("50"), parse_reasons("outliers"), parse_reasons(None)
    (50, 0, None)
    """
    if text is None or text == OUTLIERS:
        return None if text is None else 0
    from imboost.scoring.score_files import MAX_EXPLAINED

    if not text.isdecimal() or not 1 <= int(text) <= MAX_EXPLAINED:
        raise SettingError(
            f"--reasons must be {OUTLIERS}, or a number of rows from 1 to {MAX_EXPLAINED:,}; got "
            f"{text}."
        )
    return int(text)


def _score_on_ray(model: Path, data: Path, out: Path | None, address: str | None) -> None:
    """Score a table on a cluster into a folder of Parquet parts."""
    from imboost.scoring.ray_engine import RayScores
    from imboost.tables.arrow_files import to_location
    from imboost.tables.files import path_beside

    check_model(model)
    if out is None:
        location = to_location(data).rstrip("/")
        if "://" in location:
            raise SettingError("Name the folder of the scores with --out.")
        out = path_beside(Path(location), ".scores")
    with stage(f"loading {model}"):
        scores = RayScores(model, data, out)
    with row_bar("scoring", scores.folder.table.n_rows) as advance:
        scores.run(address, advance)
    location, n_continued = scores.folder.location, scores.n_continued
    say(*_describe(scores.detector, scores.summary, scores.seconds, location, n_continued))


def _write(
    detector: TableDetector,
    files: TableFiles,
    draft: Path,
    escape_formulas: bool,
    n_reasons: int | None,
) -> tuple[Summary, int | None]:
    """Write the scores and, unless `n_reasons` is None, reasons; return the number of reasons."""
    from imboost.scoring.pipeline import Summary
    from imboost.scoring.row_selection import TopRows, identifier_columns
    from imboost.scoring.score_files import (
        MAX_EXPLAINED,
        find_reasons,
        write_reasons,
        write_scores,
    )
    from imboost.scoring.table_writers import WriteOptions, open_writer
    from imboost.tables.roles import Role

    numeric = (column.name for column in detector.schema_ if column.role == Role.NUMERIC)
    options = WriteOptions(escape_formulas, frozenset(numeric))
    is_excel = draft.suffix.lower() == ".xlsx"  # it shows whole rows
    copied = None if is_excel else identifier_columns(detector)
    summary = Summary()
    batches = summary.counted(scored_batches(detector, files))
    if n_reasons is None:
        write_scores(detector, batches, copied, lambda schema: open_writer(draft, schema, options))
        return summary, None
    top, first = TopRows(n_reasons or MAX_EXPLAINED), draft.with_name("unexplained.parquet")
    write_scores(detector, top.watch(batches), copied, lambda schema: open_writer(first, schema))
    selected = top.first(n_reasons or min(summary.n_outliers, MAX_EXPLAINED))
    with row_bar("explaining", len(selected.numbers)) as advance:
        found = find_reasons(detector, selected, advance)
    write_reasons(first, draft, found, options)
    return summary, len(found)


def _describe(
    detector: TableDetector,
    summary: Summary,
    seconds: float,
    out: Path | str,
    n_continued: int = 0,
    n_explained: int | None = None,
) -> Iterator[str]:
    """Say how long the scoring took and what is notable; an earlier run scored `n_continued`."""
    from imboost.present import wording
    from imboost.scoring.drift import Drift

    n_rows = summary.n_rows
    n_scored = n_rows - n_continued
    if n_continued and not n_scored:
        yield "All parts existed: no row was left to score."
    else:
        speed = f"{n_scored / seconds:,.0f} rows per second"
        yield f"{count(n_scored, 'row')} in {seconds:,.1f} s: {speed}."
    yield f"Scored by {detector.model_name}."
    yield outlier_count(summary.n_outliers, n_rows, detector.threshold_)
    now, then = summary.n_outliers / max(n_rows, 1), float(detector.labels_.mean())
    if n_rows >= MIN_ROWS_TO_WARN and now > max(MAX_OUTLIER_FRACTION, MAX_OUTLIER_RATIO * then):
        yield (
            f"Warning: {percent(now)} of the rows are predicted outliers, {percent(then)} in "
            "training. The data may have changed since."
        )
    warnings = Drift(detector, n_rows, summary.changes).warnings()
    for warning in warnings[:MAX_WARNINGS]:
        yield f"Warning: column '{warning.column}': {wording.column_change(warning)}."
    if len(warnings) > MAX_WARNINGS:
        yield f"Warning: {count(len(warnings) - MAX_WARNINGS, 'more difference')} from training."
    if warnings:
        yield "Scores may be unreliable; 'imboost report' shows all differences from training."
    if n_explained is not None:
        yield f"Reasons: {count(n_explained, 'row')}."
    yield f"Scores: {out}"
    earlier = f", {n_continued:,} of them earlier" if n_continued else ""
    yield f"Read {count(n_rows, 'row')}, wrote {count(n_rows, 'score')}{earlier}."
