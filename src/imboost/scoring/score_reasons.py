"""Reasons beside the scores: the columns that make a row unusual, and a sentence about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from imboost.detectors.table_detector import TableDetector
from imboost.explain import Explanation
from imboost.present import wording
from imboost.scoring.row_selection import SelectedRows
from imboost.scoring.table_writers import WriteOptions, open_writer
from imboost.scoring.writer import free_name

MAX_EXPLAINED = 10_000  # rows; the table of these rows is held in memory
ROWS_AT_ONCE = 100  # rows explained before the progress bar moves


@dataclass(frozen=True)
class RowReasons:
    """Why a row has its score: columns, and one sentence."""

    columns: list[str]
    text: str

    @classmethod
    def of(cls, explanation: Explanation) -> RowReasons:
        """Return the main reasons of an explanation."""
        reasons = explanation.main_reasons
        return cls([reason.column for reason in reasons], wording.reasons(reasons))


def find_reasons(
    detector: TableDetector, selected: SelectedRows, advance: Callable[[int], None]
) -> dict[int, RowReasons]:
    """Return the reasons of some rows by their number; `advance` is told how many are done."""
    found: dict[int, RowReasons] = {}
    for start in range(0, len(selected.numbers), ROWS_AT_ONCE):
        numbers = selected.numbers[start : start + ROWS_AT_ONCE]
        explanations = detector.explain(selected.table.slice(start, ROWS_AT_ONCE))
        found |= dict(zip(numbers, map(RowReasons.of, explanations), strict=True))
        advance(len(numbers))
    return found


def write_reasons(
    scores: Path, out: Path, reasons: Mapping[int, RowReasons], options: WriteOptions
) -> int:
    """Copy a Parquet file of scores to a file with two more columns; return its number of rows."""
    with pq.ParquetFile(scores) as file:
        names = file.schema_arrow.names
        columns, text = (free_name(name, names) for name in ("reason_columns", "reason"))
        fields = [pa.field(columns, pa.list_(pa.string())), pa.field(text, pa.string())]
        schema = pa.schema([*file.schema_arrow, *fields])
        n_rows = 0
        with open_writer(out, schema, replace(options, marking=columns)) as writer:
            for batch in file.iter_batches():
                rows = range(n_rows, n_rows + batch.num_rows)
                found = [reasons.get(row) for row in rows]
                added = (
                    pa.array([one and one.columns for one in found], fields[0].type),
                    pa.array([one and one.text for one in found], pa.string()),
                )
                writer.write_table(pa.table([*batch.columns, *added], schema=schema))
                n_rows += batch.num_rows
    return n_rows
