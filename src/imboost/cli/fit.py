"""`imboost fit`: train a detector on a table and save it as a model folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table as PrintedTable
from rich.text import Text

from imboost.cli.console import called, rows, say
from imboost.cli.inputs import is_model
from imboost.cli.options import DEFAULT_DETECTOR, Seed, Table
from imboost.cli.progress import stage
from imboost.errors import DataError, SettingError, UnknownNameError

if TYPE_CHECKING:
    import pyarrow as pa

    from imboost.detectors import BaseDetector
    from imboost.detectors.table_detector import TableDetector
    from imboost.labels import Labels
    from imboost.tables.schema import Schema

MAX_SHOWN = 100  # columns listed one by one


def fit(
    data: Table,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the model. Default: beside the table, as NAME.model."),
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            help="Column with known labels: 0 or 1, yes or no, true or false, inlier or outlier, "
            "normal or anomaly; an empty cell is an unlabelled row."
        ),
    ] = None,
    outlier_word: Annotated[
        str | None,
        typer.Option(help="The label that means outlier, if labels are other words."),
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(
            help="The role of a column, such as zip=categorical: numeric, categorical, boolean, "
            "datetime, identifier, constant, text or ignored; may be repeated. The roles of "
            "other columns are detected."
        ),
    ] = None,
    detector: Annotated[
        str,
        typer.Option(
            help="stack, the most accurate; imboost, altbi or odim, which score many times faster "
            "and explain rows too; trees, oc, sb or dsad."
        ),
    ] = DEFAULT_DETECTOR,
    scaling: Annotated[
        str, typer.Option(help="How numbers are scaled: robust, quantile or minmax.")
    ] = "robust",
    contamination: Annotated[
        str, typer.Option(help="Fraction of rows to call outliers; auto to estimate it.")
    ] = "auto",
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing model.")] = False,
) -> None:
    """Train a detector on a table and save it as a model folder."""
    from imboost import persistence
    from imboost.cli.output_path import default_output
    from imboost.detectors.table_detector import TableDetector
    from imboost.labels import describe_labels
    from imboost.tables.cells import to_text
    from imboost.tables.files import TableFiles
    from imboost.tables.schema import Schema

    roles, share = parse_roles(role or ()), parse_contamination(contamination)
    out = out or default_output(data, ".model")
    _check_free(out, force)
    inner = _savable(detector)
    with stage(f"reading {data}"):
        table = TableFiles.find(data).read()
        labels = _read_labels(table, label_column, outlier_word, roles)
    if table.num_rows == 1:
        raise DataError(f"{data} has one row; there is nothing to compare it with.")
    if label_column is not None:
        roles[label_column] = "ignored"
    with stage(f"looking at {table.num_columns:,} columns of {table.num_rows:,} rows"):
        schema = Schema.fit(table, roles)
    _print_schema(schema, table.num_rows, label_column)
    if label_column is not None:
        said = to_text(table.column(label_column)).to_pylist()
        say(f"Words of labels: {describe_labels(said, labels)}.")
    _check_missing(inner, schema)
    fitted = TableDetector(
        inner, roles=roles, scaling=scaling, contamination=share, random_state=seed
    )
    n_looked_at = sum(column.role.is_feature for column in schema)
    with stage(f"training {detector} on {table.num_rows:,} rows, {n_looked_at:,} columns"):
        fitted.fit(table, labels, schema=schema)
    with stage(f"writing {out}"):
        persistence.save(fitted, out)
    _print_end(fitted, labels, data, out)


def _read_labels(
    table: pa.Table, name: str | None, outlier_word: str | None, roles: dict[str, str]
) -> Labels:
    """Return the label of every row; all are unlabelled if there is no label column."""
    from imboost.labels import from_text, unlabelled
    from imboost.tables.cells import to_text

    if name is None:
        if outlier_word is not None:
            raise SettingError("--outlier-word is a word of a label column: give --label-column.")
        return unlabelled(table.num_rows)
    if name not in table.column_names:
        raise UnknownNameError("column", name, table.column_names)
    if name in roles:
        raise SettingError(f"'{name}' is the label column and has no other role.")
    try:
        return from_text(to_text(table.column(name)).to_pylist(), outlier_word)
    except DataError as error:
        raise DataError(f"Column '{name}': {error}") from error


def parse_roles(texts: Iterable[str]) -> dict[str, str]:
    """Read roles written NAME=ROLE.

    >>> parse_roles(["zip code=categorical"])
    {'zip code': 'categorical'}
    """
    roles = {}
    for text in texts:
        name, equals, role = text.rpartition("=")
        if not (name and equals and role):
            raise SettingError(
                f"A role is written NAME=ROLE, such as zip=categorical; got {text}."
            )
        roles[name] = role
    return roles


def parse_contamination(text: str) -> float | str:
    """Read a share of rows, or the word auto.

    >>> parse_contamination("0.05"), parse_contamination("auto")
    (0.05, 'auto')
    """
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise SettingError(
            f"--contamination is a share such as 0.05, or auto; got {text}."
        ) from None


def _check_free(out: Path, force: bool) -> None:
    """Raise if a model would be written over something else."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not is_model(out):
        raise SettingError(f"{out} exists and is no model: choose another place with --out.")
    if not force:
        raise SettingError(f"{out} exists: choose another place with --out, or give --force.")


def _savable(name: str) -> BaseDetector:
    """Return a new detector; raise before it is trained if it could not be saved."""
    from imboost.detectors import make_detector
    from imboost.persistence.class_registry import DETECTORS

    detector = make_detector(name)
    if type(detector) not in DETECTORS.values():
        raise SettingError(f"{name} cannot be saved: choose another detector with --detector.")
    return detector


def _check_missing(detector: BaseDetector, schema: Schema) -> None:
    """Raise if numbers or times are missing and the detector does not allow that."""
    from imboost.tables.roles import Role

    missing = [
        column.name
        for column in schema
        if column.role in (Role.NUMERIC, Role.DATETIME) and (column.n_missing or column.n_unparsed)
    ]
    if missing and not detector.allow_nan:
        raise SettingError(
            f"{type(detector).__name__} takes no table in which numbers or times are missing, as "
            f"in '{missing[0]}': choose another detector with --detector."
        )


def _print_schema(schema: Schema, n_rows: int, label_column: str | None) -> None:
    size = f"{rows(n_rows)}, {len(schema):,} column{'s' * (len(schema) != 1)}"
    table = PrintedTable(title=size, title_justify="left")
    for heading in ("column", "role", "missing", "distinct", "note"):
        is_number = heading in ("missing", "distinct")
        table.add_column(heading, justify="right" if is_number else "left")
    for column in schema.columns[:MAX_SHOWN]:
        is_label = column.name == label_column
        table.add_row(
            Text(column.name),
            "label" if is_label else str(column.role),
            f"{column.n_missing:,}" if column.n_missing else "",
            f"{column.n_distinct:,}",
            "what to learn from, never looked at" if is_label else column.note,
        )
    Console().print(table, highlight=False)
    if len(schema) > MAX_SHOWN:
        say(f"and {len(schema) - MAX_SHOWN:,} more columns")


def _print_end(detector: TableDetector, labels: Labels, data: Path, out: Path) -> None:
    from imboost.labels import INLIER, OUTLIER, UNLABELLED

    n_rows = len(labels)
    n_outliers, n_inliers, n_without = (
        int((labels == label).sum()) for label in (OUTLIER, INLIER, UNLABELLED)
    )
    if n_without < n_rows:
        say(
            f"Labels: {n_outliers:,} outlier{'s' * (n_outliers != 1)}, "
            f"{n_inliers:,} inlier{'s' * (n_inliers != 1)}, {rows(n_without)} without."
        )
    say(called(int(detector.labels_.sum()), detector.threshold_, n_rows))
    if detector.threshold_is_estimated_:
        say(
            "Without labels of both kinds that number is a guess: rely on the order of scores, "
            "give the share of outliers with --contamination, or labels with --label-column."
        )
    say(f"Model: {out}")
    say(f"Next: imboost score {out} {data}")
    say(f"      imboost report {out} {data}")
