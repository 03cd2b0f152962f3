"""Inputs of commands: model folders and tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from imboost.cli.options import EngineChoice
from imboost.cli.progress import row_bar, stage
from imboost.cli.ray_commands import check_local, check_ray_options, sample_on_ray
from imboost.errors import PersistenceError, SettingError, UnknownNameError

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector
    from imboost.scoring.pipeline import ScoredBatch
    from imboost.scoring.table_sample import TableSample
    from imboost.tables.files import TableFiles
    from imboost.tables.read_options import ReadOptions


def load_model(folder: Path) -> TableDetector:
    """Load a TableDetector; raise if the folder holds another detector."""
    from imboost.scoring.pipeline import load_table_detector

    if not folder.exists():
        raise PersistenceError(f"The model {folder} does not exist: create it with 'imboost fit'.")
    with stage(f"loading {folder}"):
        return load_table_detector(folder)


def open_inputs(model: Path, data: Path, options: ReadOptions) -> tuple[TableDetector, TableFiles]:
    """Find a table and load a model; raise if they were given in the wrong order."""
    from imboost.tables.files import TableFiles

    if is_model(data) and not is_model(model):
        raise SettingError(f"The model comes first, then the table: give {data} {model}.")
    files = TableFiles.find(data, options)
    return load_model(model), files


def read_training_rows(
    data: Path,
    options: ReadOptions,
    seed: int,
    label_column: str | None,
    engine: EngineChoice,
    ray_address: str | None,
) -> TableSample:
    """Read a table of any size and return its training rows; raise without the label column."""
    from imboost.scoring.pipeline import check_row_counts
    from imboost.scoring.training_sample import draw_sample
    from imboost.tables.files import TableFiles

    if engine == EngineChoice.RAY:
        check_ray_options(options.given)
        sample = sample_on_ray(data, seed, label_column, ray_address)
    else:
        check_local(ray_address)
        with stage(f"reading {data}"):
            files = TableFiles.find(data, options)
            sample = draw_sample(files, seed, label_column)
        check_row_counts(files.n_rows, sample.n_rows, "loaded")
    names = sample.table.column_names
    if label_column is not None and label_column not in names:
        raise UnknownNameError("column", label_column, names)
    return sample


def default_output(data: Path, ending: str, option: str = "--out") -> Path:
    """Return the path of an output beside the table; raise if the table is standard input."""
    from imboost.tables.files import path_beside
    from imboost.tables.read_options import STANDARD_STREAM

    if data == STANDARD_STREAM:
        raise SettingError(f"The table is standard input: name the output with {option}.")
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
