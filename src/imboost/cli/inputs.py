"""Inputs of commands: model folders and tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from imboost.cli.progress import row_bar, stage
from imboost.errors import PersistenceError, SettingError, UnknownNameError

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector
    from imboost.scoring.pipeline import ScoredBatch
    from imboost.scoring.table_sample import TableSample
    from imboost.tables.files import TableFiles
    from imboost.tables.read_options import ReadOptions
    from imboost.tables.schema import Schema


def load_model(folder: Path) -> TableDetector:
    """Load a TableDetector; raise if the folder holds another detector."""
    from imboost.scoring.pipeline import load_table_detector

    check_model(folder)
    with stage(f"loading {folder}"):
        return load_table_detector(folder)


def check_model(folder: Path) -> None:
    """Raise if a model does not exist."""
    if not folder.exists():
        raise PersistenceError(f"The model {folder} does not exist: create it with 'imboost fit'.")


def open_inputs(model: Path, data: Path, options: ReadOptions) -> tuple[TableDetector, TableFiles]:
    """Find a table and load a model; raise if they were given in the wrong order."""
    from imboost.tables.files import TableFiles

    if is_model(data) and not is_model(model):
        raise SettingError(f"The model comes first, then the table: give {data} {model}.")
    files = TableFiles.find(data, options)
    return load_model(model), files


def check_engine(engine: str, ray_address: str | None, options: ReadOptions, *others: str) -> bool:
    """Whether a table is read on a Ray cluster; raise if an option is given that has no use then.

    `others` are the names of further options that were given.
    """
    if engine != "ray":
        if ray_address is not None:
            raise SettingError("--ray-address needs --engine ray.")
        return False
    for name in (*options.given, *others):
        option = name.removeprefix("has_")
        raise SettingError(f"--{option} does not apply with --engine ray: leave it out.")
    return True


def read_training_rows(
    data: Path,
    options: ReadOptions,
    seed: int,
    label_column: str | None,
    engine: str,
    ray_address: str | None,
) -> TableSample:
    """Read a table of any size and return its training rows; raise without the label column."""
    if check_engine(engine, ray_address, options):
        from imboost.scoring.ray_engine import draw_sample_on_ray
        from imboost.tables.files import TableParts

        parts = TableParts.find(data)
        with row_bar("reading", parts.n_rows) as advance:
            sample = draw_sample_on_ray(
                parts, seed, label_column, address=ray_address, progress=advance
            )
    else:
        from imboost.scoring.pipeline import check_row_counts
        from imboost.scoring.row_selection import draw_sample
        from imboost.tables.files import TableFiles

        with stage(f"reading {data}"):
            files = TableFiles.find(data, options)
            sample = draw_sample(files, seed, label_column)
        check_row_counts(files.n_rows, sample.n_rows, "loaded")
    names = sample.table.column_names
    if label_column is not None and label_column not in names:
        raise UnknownNameError("column", label_column, names)
    return sample


def default_output(data: Path, ending: str) -> Path:
    """Return the path of an output beside the table; raise if the table is standard input."""
    from imboost.tables.files import path_beside
    from imboost.tables.read_options import STANDARD_STREAM

    if data == STANDARD_STREAM:
        raise SettingError("The table is standard input: name the output with --out.")
    return path_beside(data, ending)


def is_model(folder: Path) -> bool:
    """Whether a folder holds a saved model."""
    from imboost.persistence.model_folder import CHECKSUMS

    return (folder / CHECKSUMS).is_file()


def check_model_output(out: Path, force: bool) -> None:
    """Raise if the model would replace something else."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not is_model(out):
        raise SettingError(f"{out} exists and is not a model: choose another folder with --out.")
    if not force:
        raise SettingError(
            f"{out} exists: choose another folder with --out, or replace it with --force."
        )


def check_page(out: Path | None) -> None:
    """Raise if a page would be written to a folder."""
    if out is not None and out.is_dir():
        raise SettingError(f"{out} is a folder: name a file with --out.")


def first_identifier(schema: Schema) -> str | None:
    """Return the column by which rows are named, if there is any."""
    from imboost.tables.roles import Role

    return next((column.name for column in schema if column.role == Role.IDENTIFIER), None)


def scored_batches(
    detector: TableDetector, files: TableFiles, scores: Path | None = None
) -> Iterator[ScoredBatch]:
    """Score a table batch by batch, or read its scores from a file, with a progress bar."""
    from imboost.scoring.pipeline import score_table
    from imboost.scoring.score_files import add_scores

    if scores is None:
        verb, batches = "scoring", score_table(detector, files)
    else:
        verb, batches = "reading", add_scores(detector, files, scores)
    with row_bar(verb, files.n_rows) as advance:
        for batch in batches:
            yield batch
            advance(batch.table.num_rows)
