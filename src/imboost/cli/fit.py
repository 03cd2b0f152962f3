"""`imboost fit`: train a detector on a table and save it as a model folder."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from imboost.cli.console import outlier_count, print_table, say
from imboost.cli.inputs import check_model_output, default_output, read_training_rows
from imboost.cli.options import (
    DEFAULT_DETECTOR,
    Engine,
    Force,
    LabelColumn,
    Missing,
    RayAddress,
    Roles,
    RolesFile,
    Seed,
    Table,
    as_arguments,
    reads_tables,
)
from imboost.cli.progress import stage
from imboost.errors import DataError, SettingError, UnknownNameError
from imboost.present.formatting import count
from imboost.tables.read_options import ReadOptions

if TYPE_CHECKING:
    import pyarrow as pa

    from imboost.labels import Labels
    from imboost.tables.schema import Schema

MAX_COLUMNS = 100  # columns listed one by one


@reads_tables
def fit(
    data: Table,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for the model. Default: beside the table, as NAME.model."
        ),
    ] = None,
    label_column: LabelColumn = None,
    outlier_label: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL", help="The label that means outlier, if labels are spelled otherwise."
        ),
    ] = None,
    role: Roles = None,
    roles: RolesFile = None,
    detector: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="stack, the most accurate; imboost, altbi or odim, deep detectors that explain "
            "rows too; trees or pretrained.",
        ),
    ] = DEFAULT_DETECTOR,
    scaling: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="How numbers are scaled: auto, robust, log, quantile or minmax."
        ),
    ] = "auto",
    contamination: Annotated[
        str,
        typer.Option(
            metavar="FRACTION", help="Fraction of rows that are outliers; auto to estimate it."
        ),
    ] = "auto",
    seed: Seed = 0,
    force: Force = False,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    missing: Missing = None,
    *,
    options: ReadOptions,
) -> None:
    """Train a detector on a table and save it as a model folder.

    For example:

      imboost fit orders.csv

      imboost fit orders.xlsx --label-column is_wrong --role zip=categorical

      imboost fit shop.db --sql "SELECT * FROM orders" --out orders.model
    """
    from imboost import persistence
    from imboost.detectors import make_detector
    from imboost.detectors.table_detector import TableDetector
    from imboost.labels import OUTLIER
    from imboost.persistence.saved_model import check_savable
    from imboost.tables.roles import Role
    from imboost.tables.schema import Schema

    chosen = given_roles(roles, role)
    fraction: float | str = contamination
    with suppress(ValueError):
        fraction = float(contamination)
    if label_column is None and outlier_label is not None:
        raise SettingError("--outlier-label needs --label-column, the column with labels.")
    if label_column in chosen:
        raise SettingError(f"'{label_column}' is the label column and cannot have another role.")
    inner = make_detector(detector)
    check_savable(inner)
    fitted = TableDetector(
        inner,
        roles=chosen,
        missing_values=missing,
        scaling=scaling,
        contamination=fraction,
        random_state=seed,
    )
    fitted.check_settings()
    out = out or default_output(data, ".model")
    check_model_output(out, force)
    sample = read_training_rows(data, options, seed, label_column, engine, ray_address)
    table, n_rows = sample.table, sample.n_rows
    if n_rows == 1:
        raise DataError(f"{data} has one row; training needs at least two rows.")
    labels = _read_labels(table, label_column, outlier_label)
    if label_column is not None:
        chosen[label_column] = "ignored"
    with stage(f"finding the roles of {count(table.num_columns, 'column')}"):
        schema, parsed = Schema.fit_parse(table, chosen, missing_values=missing)
    print_columns(schema, n_rows, label_column)
    if not sample.is_complete:
        say(
            f"Training rows: a uniform sample of {count(table.num_rows, 'row')}. Missing and "
            "distinct values are counted in it."
        )
    incomplete = (column for column in schema if column.n_missing or column.n_unparsed)
    for column in incomplete:
        if column.role in (Role.NUMERIC, Role.DATETIME) and not inner.allow_nan:
            raise SettingError(
                f"{type(inner).__name__} cannot be trained on missing numbers or dates, as in "
                f"'{column.name}': choose another detector with --detector."
            )
    size = f"{count(table.num_rows, 'row')}, {count(len(schema.parsers), 'column')}"
    weights = sample.weights(labels)
    is_weighted = isinstance(fraction, float) and not sample.is_complete
    with stage(f"training {detector} on {size}"):
        fitted.fit(
            table, labels, schema=(schema, parsed), weights=weights if is_weighted else None
        )
    with stage(f"writing {out}"):
        persistence.save(fitted, out)
    n_outliers = round(float(weights[fitted.labels_ == OUTLIER].sum()))
    about = "" if sample.is_complete else "Estimated from the training rows: "
    say(about + outlier_count(n_outliers, n_rows, fitted.threshold_))
    if fitted.decision_.is_estimated:
        say(
            "Without labels of both classes the threshold is a rough estimate: rely on the "
            "ranking of the scores, give the fraction of outliers with --contamination, or give "
            "labels with --label-column."
        )
    arguments = shlex.join([str(out), str(data), *as_arguments(options)])
    say(
        f"Model: {out}",
        f"Read {count(n_rows, 'row')}, trained on {len(fitted.decision_scores_):,}.",
        f"Next: imboost score {arguments}",
        f"      imboost report {arguments}",
    )


def given_roles(file: Path | None, texts: Iterable[str] | None) -> dict[str, str]:
    """Return the roles in a file and those written NAME=ROLE, which have precedence.

    >>> given_roles(None, ["zip code=categorical"])
    {'zip code': 'categorical'}
    """
    from imboost.tables.roles import Role, read_roles

    roles = read_roles(file) if file is not None else {}
    for text in texts or ():
        name, _, role = text.rpartition("=")
        if not (name and role):
            raise SettingError(
                f"A role is written NAME=ROLE, such as zip=categorical; got {text}."
            )
        if role not in list(Role):
            raise UnknownNameError("role", role, list(Role))
        roles[name] = role
    return roles


def _read_labels(table: pa.Table, column: str | None, outlier_label: str | None) -> Labels:
    """Return the label of every row, and print how the label column was read."""
    from imboost.labels import INLIER, OUTLIER, describe_labels, from_text, unlabelled
    from imboost.tables.cells import to_text

    if column is None:
        return unlabelled(table.num_rows)
    values = to_text(table.column(column)).to_pylist()
    try:
        labels = from_text(values, outlier_label)
    except DataError as error:
        raise DataError(f"Column '{column}': {error}") from error
    n_outliers, n_inliers = (int((labels == label).sum()) for label in (OUTLIER, INLIER))
    say(
        f"Labels: {count(n_outliers, 'outlier')}, {count(n_inliers, 'inlier')}, "
        f"{len(labels) - n_outliers - n_inliers:,} unlabelled.",
        f"Values in '{column}': {describe_labels(values, labels)}.",
    )
    return labels


def print_columns(schema: Schema, n_rows: int, label_column: str | None = None) -> None:
    """Print the role of every column."""
    n_columns = len(schema.columns)
    title = f"{count(n_rows, 'row')}, {count(n_columns, 'column')}"
    headings = ("column", "role", "missing", "distinct", "note")
    lines = []
    for column in schema.columns[:MAX_COLUMNS]:
        role, note = str(column.role), column.note
        if column.name == label_column:
            role, note = "label", "used as labels, not as a feature"
        n_missing = f"{column.n_missing:,}" if column.n_missing else ""
        lines.append((column.name, role, n_missing, f"{column.n_distinct:,}", note))
    print_table(title, headings, lines, right=("missing", "distinct"))
    if n_columns > MAX_COLUMNS:
        say(f"and {n_columns - MAX_COLUMNS:,} more columns")
