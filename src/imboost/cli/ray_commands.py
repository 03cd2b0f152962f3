"""What commands do with `--engine ray`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from imboost.cli.progress import row_bar, stage
from imboost.errors import PersistenceError, SettingError
from imboost.present.formatting import count

if TYPE_CHECKING:
    from imboost.scoring.ray_engine import RayScores
    from imboost.scoring.table_sample import TableSample

SCORES = ".scores"  # ending of the folder of scores beside the table


def check_local(address: str | None) -> None:
    """Raise if the address of a cluster is given that is not used."""
    if address is not None:
        raise SettingError("--ray-address needs --engine ray.")


def check_ray_options(given: Sequence[str]) -> None:
    """Raise if an option is given that Ray has no use for."""
    if given:
        option = given[0].removeprefix("has_")
        raise SettingError(f"--{option} does not apply with --engine ray: leave it out.")


def sample_on_ray(
    data: Path, seed: int, label_column: str | None, address: str | None
) -> TableSample:
    """Draw the training rows of a table on a cluster."""
    from imboost.scoring.parquet_parts import ParquetTable
    from imboost.scoring.ray_engine import draw_sample_on_ray

    table = ParquetTable.find(data)
    with row_bar("reading", table.n_rows) as advance:
        return draw_sample_on_ray(table, seed, label_column, address=address, progress=advance)


def score_on_ray(model: Path, data: Path, out: Path | None, address: str | None) -> RayScores:
    """Score a table on a cluster into a folder of Parquet parts."""
    from imboost.scoring.parquet_parts import to_location
    from imboost.scoring.ray_engine import RayScores
    from imboost.tables.files import path_beside

    if not model.exists():
        raise PersistenceError(f"The model {model} does not exist: create it with 'imboost fit'.")
    if out is None:
        location = to_location(data).rstrip("/")
        if "://" in location:
            raise SettingError("Name the folder of the scores with --out.")
        out = path_beside(Path(location), SCORES)
    with stage(f"loading {model}"):
        scores = RayScores(model, data, out)
    with row_bar("scoring", scores.folder.table.n_rows) as advance:
        scores.run(address, advance)
    return scores


def describe_rows(scores: RayScores) -> str:
    """Say how many rows were read and written, and how many an earlier run had written."""
    earlier = f", {scores.n_continued:,} of them earlier" if scores.n_continued else ""
    n_rows = scores.summary.n_rows
    return f"Read {count(n_rows, 'row')}, wrote {count(n_rows, 'score')}{earlier}."
