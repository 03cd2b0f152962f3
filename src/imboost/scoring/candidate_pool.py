"""The candidate pool of a table that is too large for a session.

A session on a large table asks about the rows of its pool: a uniform sample of the table, the rows
with the highest scores, and those nearest to the threshold. The weights of the rows say how many
rows of the complete table each of them stands for, so that estimates are about that table.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.base import clone

from imboost.detectors.detector import Detector
from imboost.detectors.table_detector import TableDetector
from imboost.errors import SettingError
from imboost.persistence.atomic_write import atomic_write
from imboost.scoring.pipeline import score_table
from imboost.scoring.row_selection import TopRows, draw_sample
from imboost.scoring.table_sample import TableSample
from imboost.tables.files import TableFiles

MAX_SESSION_ROWS = 500_000  # rows of a table up to which a session holds all of them in memory
MAX_SESSION_CELLS = 20_000_000  # the same for the cells of wide tables
N_HIGHEST = 2000  # rows with the highest scores; sessions have tens to hundreds of answers
N_DOUBTFUL = 2000  # rows nearest to the threshold
SMALL_BYTES = 1 << 24  # files of fewer bytes are not read to count their rows

METADATA = b"imboost.pool"  # key of the row numbers in the metadata of a pool's Parquet file


def needs_pool(files: TableFiles) -> bool:
    """Whether a table has too many rows for a session; the rows of some formats are counted."""
    n_rows, n_read = files.n_rows, 0
    if n_rows is None and sum(path.stat().st_size for path in files.paths) < SMALL_BYTES:
        return False
    for batch in files.batches():
        limit = min(MAX_SESSION_ROWS, MAX_SESSION_CELLS // max(batch.num_columns, 1))
        n_read += batch.num_rows
        if n_rows is not None or n_read > limit:
            return bool((n_read if n_rows is None else n_rows) > limit)
    return False


def read_or_draw(path: Path | str, detector: Detector, seed: int = 0) -> TableSample | pa.Table:
    """Read the pool or the table at a path; of a large table, draw the pool."""
    pool = load_pool(path)
    if pool is not None:
        return pool
    files = TableFiles.find(path)
    return draw_pool(files, detector, seed=seed) if needs_pool(files) else files.read()


def store_pool(
    files: TableFiles,
    detector: Detector,
    path: Path,
    *,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
) -> TableSample:
    """Draw the candidate pool of a large table and write it; see `draw_pool` and `save_pool`."""
    pool = draw_pool(files, detector, seed=seed, progress=progress)
    save_pool(pool, path)
    return pool


def draw_pool(
    files: TableFiles,
    detector: Detector,
    *,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
) -> TableSample:
    """Draw the candidate pool of a table: one pass draws training rows, one scores all rows.

    A copy of the detector, which takes tables, is trained on the uniform sample; `progress` is
    told how many more rows are scored.
    """
    if not isinstance(detector, TableDetector):
        raise SettingError(f"{files.paths[0]} is a table: give a TableDetector.")
    sample = draw_sample(files, seed)
    if sample.is_complete:
        return sample
    fitted: TableDetector = clone(detector)
    if fitted.random_state is None:
        fitted.set_params(random_state=seed)
    fitted.fit(sample.table)
    highest, doubtful = TopRows(N_HIGHEST), TopRows(N_DOUBTFUL)
    for batch in highest.watch(score_table(fitted, files)):
        scores = batch.predictions.scores
        doubtful.add(batch.first_row, batch.table, -np.abs(scores - fitted.threshold_))
        progress(len(scores))
    chosen = [highest.selected(), doubtful.selected()]
    joined = pa.concat_tables(
        [*(one.table for one in chosen), sample.table], promote_options="permissive"
    )
    numbers = np.concatenate([*(one.numbers for one in chosen), sample.rows])
    # Of a row that was both chosen and drawn, the first is kept: it stands for itself.
    rows, first = np.unique(numbers, return_index=True)
    is_drawn = first >= len(numbers) - len(sample.rows)
    return TableSample(joined.take(pa.array(first)), rows, sample.n_rows, is_drawn)


def save_pool(pool: TableSample, path: Path) -> None:
    """Write a pool to a Parquet file, which is also a table of its rows."""
    content = {
        "n_rows": pool.n_rows,
        "rows": _pack(pool.rows),
        "is_drawn": _pack(pool.is_drawn),
    }
    table = pool.table.replace_schema_metadata({METADATA: json.dumps(content)})
    with atomic_write(path) as draft:
        pq.write_table(table, draft)


def load_pool(path: Path | str) -> TableSample | None:
    """Read a pool; None if the path does not lead to one."""
    path = Path(path)
    if path.suffix != ".parquet" or not path.is_file():
        return None
    metadata = pq.read_metadata(path).metadata or {}
    if METADATA not in metadata:
        return None
    content = json.loads(metadata[METADATA])
    return TableSample(
        TableFiles.find(path).read(),
        np.frombuffer(_unpack(content["rows"]), dtype=np.int64),
        content["n_rows"],
        np.frombuffer(_unpack(content["is_drawn"]), dtype=np.bool_),
    )


def _pack(values: Any) -> str:
    return b64encode(zlib.compress(values.tobytes())).decode()


def _unpack(text: str) -> bytes:
    return zlib.decompress(b64decode(text))
