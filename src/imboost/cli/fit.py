"""`imboost fit`: from a file to a model folder, and what was found on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table
from rich.text import Text

from imboost import persistence
from imboost.cli.console import called, rows, say
from imboost.cli.model_folder import is_model
from imboost.cli.progress import stage
from imboost.detectors import BaseDetector, make_detector
from imboost.detectors.base import AUTO
from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError, SettingError, UnknownNameError
from imboost.labels import (
    INLIER,
    OUTLIER,
    UNLABELLED,
    Labels,
    from_words,
    tell_meanings,
    unlabelled,
)
from imboost.persistence.class_registry import DETECTORS as SAVABLE
from imboost.scoring.predictions import is_threshold_guessed
from imboost.tables.cells import words
from imboost.tables.files import TableFiles
from imboost.tables.roles import ColumnFacts, Role, find_roles

MAX_SHOWN = 100
"""Columns that are listed one by one."""


@dataclass(frozen=True)
class FitSettings:
    """What a user may say about a training.

    Parameters
    ----------
    detector : str
    roles : dict of str to str
        Columns whose role is known.
    label_column : str, optional
        Where labels stand; it is never looked at otherwise.
    outlier_word : str, optional
        What the label of an outlier says.
    scaling : str
    contamination : float or "auto"
    seed : int
    """

    detector: str
    roles: Mapping[str, str] = field(default_factory=dict)
    label_column: str | None = None
    outlier_word: str | None = None
    scaling: str = "robust"
    contamination: float | str = AUTO
    seed: int = 0


def fit_file(data: Path, out: Path, settings: FitSettings, *, force: bool = False) -> None:
    """Train on a file and write the model folder `out`; say what was found."""
    _check_free(out, force)
    inner = _savable(settings.detector)
    with stage(f"reading {data}"):
        table = TableFiles.find(data).read()
        labels = read_labels(table, settings)
    if table.num_rows == 1:
        raise DataError(f"{data} has one row; there is nothing to compare it with.")
    with stage(f"looking at {table.num_columns:,} columns of {table.num_rows:,} rows"):
        facts = find_roles(table, _roles(settings))
    _print_facts(facts, table.num_rows, settings.label_column)
    if settings.label_column is not None:
        said = words(table.column(settings.label_column)).to_pylist()
        say(f"Words of labels: {tell_meanings(said, labels)}.")
    _check_gaps(inner, facts)
    detector = _new_detector(inner, settings)
    n_looked_at = sum(fact.role.is_feature for fact in facts)
    with stage(
        f"training {settings.detector} on {table.num_rows:,} rows, {n_looked_at:,} columns"
    ):
        detector.fit(table, labels)
    with stage(f"writing {out}"):
        persistence.save(detector, out)
    _print_end(detector, labels, data, out)


def read_labels(table: pa.Table, settings: FitSettings) -> Labels:
    """Return what the label column says of every row, or that nothing is known."""
    name = settings.label_column
    if name is None:
        if settings.outlier_word is not None:
            raise SettingError("--outlier-word is a word of a label column: give --label-column.")
        return unlabelled(table.num_rows)
    if name not in table.column_names:
        raise UnknownNameError("column", name, table.column_names)
    if name in settings.roles:
        raise SettingError(f"'{name}' is the label column and has no other role.")
    try:
        return from_words(words(table.column(name)).to_pylist(), settings.outlier_word)
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
    if text == AUTO:
        return text
    try:
        return float(text)
    except ValueError:
        raise SettingError(
            f"--contamination is a share such as 0.05, or auto; got {text}."
        ) from None


def _roles(settings: FitSettings) -> dict[str, str]:
    label = {settings.label_column: str(Role.IGNORED)} if settings.label_column else {}
    return {**settings.roles, **label}


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
    detector = make_detector(name)
    if type(detector) not in SAVABLE:
        raise SettingError(f"{name} cannot be saved: choose another detector with --detector.")
    return detector


def _check_gaps(detector: BaseDetector, facts: list[ColumnFacts]) -> None:
    """Raise if there are gaps in numbers or times that a detector cannot learn from."""
    gaps = [
        fact.name
        for fact in facts
        if fact.role in (Role.NUMERIC, Role.DATETIME) and (fact.n_missing or fact.n_unread)
    ]
    if gaps and not detector.allow_nan:
        raise SettingError(
            f"{type(detector).__name__} takes no table in which numbers or times are missing, as "
            f"in '{gaps[0]}': choose another detector with --detector."
        )


def _new_detector(inner: BaseDetector, settings: FitSettings) -> TableDetector:
    return TableDetector(
        inner,
        roles=_roles(settings),
        scaling=settings.scaling,
        contamination=settings.contamination,
        random_state=settings.seed,
    )


def _print_facts(facts: list[ColumnFacts], n_rows: int, label_column: str | None) -> None:
    size = f"{rows(n_rows)}, {len(facts):,} column{'s' * (len(facts) != 1)}"
    table = Table(title=size, title_justify="left")
    for heading in ("column", "role", "missing", "distinct", "note"):
        is_number = heading in ("missing", "distinct")
        table.add_column(heading, justify="right" if is_number else "left")
    for fact in facts[:MAX_SHOWN]:
        is_label = fact.name == label_column
        table.add_row(
            Text(fact.name),
            "label" if is_label else str(fact.role),
            f"{fact.n_missing:,}" if fact.n_missing else "",
            f"{fact.n_distinct:,}",
            "what to learn from, never looked at" if is_label else fact.note,
        )
    Console().print(table, highlight=False)
    if len(facts) > MAX_SHOWN:
        say(f"and {len(facts) - MAX_SHOWN:,} more columns")


def _print_end(detector: TableDetector, labels: Labels, data: Path, out: Path) -> None:
    n_rows = len(labels)
    n_outliers, n_inliers, n_without = (
        int((labels == label).sum()) for label in (OUTLIER, INLIER, UNLABELLED)
    )
    if n_without < n_rows:
        say(
            f"Labels: {n_outliers:,} outlier{'s' * (n_outliers != 1)}, "
            f"{n_inliers:,} inlier{'s' * (n_inliers != 1)}, {rows(n_without)} without."
        )
    n_called = int(np.sum(detector.labels_))
    say(called(n_called, detector.threshold_, n_rows))
    if is_threshold_guessed(detector):
        say(
            "Without labels of both kinds that number is a guess: rely on the order of scores, "
            "give the share of outliers with --contamination, or labels with --label-column."
        )
    say(f"Model: {out}")
    say(f"Next: imboost score {out} {data}")
    say(f"      imboost report {out} {data}")
