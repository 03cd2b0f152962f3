"""Scores of a table as a folder of Parquet parts with a manifest.

Each part is written under a hidden name and then renamed, so that a part that exists is complete.
Its name follows from the input: a part that is scored twice replaces itself. The manifest is
written at the end, after all parts have been checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from time import perf_counter
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq

from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError, SettingError
from imboost.scoring.drift import DriftMonitor
from imboost.scoring.parquet_parts import ParquetTable, Part, file_system
from imboost.scoring.predictions import predict_table
from imboost.scoring.row_selection import identifier_columns
from imboost.scoring.streaming import BATCH_ROWS, ScoredBatch
from imboost.scoring.writer import OWN_COLUMNS, score_lines, score_schema

MANIFEST = "_manifest.json"  # readers of Parquet folders skip names with an underscore
METADATA = b"imboost"  # key of our entry in the metadata of a part
OWN_FILE = re.compile(r"\.?part-\d{5}-\d{6}-\d{6}\.parquet(\.[0-9a-f]+)?|_manifest\.json")
N_READERS = 16  # footers read at the same time, which helps on remote file systems


@dataclass(frozen=True)
class ScoredPart:
    """What is known about a part that has been scored; stored in its metadata.

    Parameters
    ----------
    run : str
        Identity of model, table and version, see `run_identity`.
    n_rows, n_outliers : int
    model_seconds, other_seconds : float
        Time spent in the model, and on reading, encoding and writing.
    drift : dict
        See `DriftMonitor.counts`.
    """

    run: str
    n_rows: int
    n_outliers: int
    model_seconds: float
    other_seconds: float
    drift: dict[str, Any]


@dataclass(frozen=True)
class PartFolder:
    """The folder of the scores of one table by one model.

    Parameters
    ----------
    location : str
        Path or URL.
    table : ParquetTable
    model : str
        Hash of the model.
    """

    location: str
    table: ParquetTable
    model: str

    @property
    def run(self) -> str:
        """Identity of a run: another model, table or version has another one."""
        return f"{version('imboost')} {self.model} {self.table.fingerprint}"

    def prepare(self) -> None:
        """Create the folder; raise if it exists and holds anything but Parquet parts."""
        system, root = file_system(self.location)
        [info] = system.get_file_info([root])
        if info.type == pyarrow.fs.FileType.File:
            raise SettingError(f"{self.location} is a file: name a folder with --out.")
        system.create_dir(root, recursive=True)
        if root.rstrip("/") == file_system(self.table.location)[1].rstrip("/"):
            raise SettingError(f"{self.location} is the table: name another folder with --out.")
        for name in self._names():
            if not OWN_FILE.fullmatch(name):
                raise SettingError(
                    f"{self.location} holds '{name}', which is no part of scores: choose a new "
                    "folder with --out."
                )

    def finished(self) -> dict[str, ScoredPart]:
        """Return the parts that are complete, by name.

        Raises
        ------
        SettingError
            If the folder holds scores by another model, of another table or by another version.
        """
        planned = {part.name: part for part in self.table.parts}
        names = [name for name in self._names() if name.startswith("part-")]
        found: dict[str, ScoredPart] = {}
        with ThreadPoolExecutor(N_READERS) as pool:
            parts = [planned.get(name) for name in names]
            for name, scored in zip(names, pool.map(self._read, names, parts), strict=True):
                if scored is None:  # a machine failed before the part was on disk
                    continue
                if name not in planned or scored.run != self.run:
                    raise SettingError(
                        f"{self.location} holds scores by another model, of another table or by "
                        "another version: choose another folder with --out, or remove it."
                    )
                found[name] = scored
        return found

    def score(self, detector: TableDetector, part: Part) -> ScoredPart:
        """Score a part and write its file; it appears complete or not at all."""
        system, root = file_system(self.location)
        draft = f"{root}/.{part.name}.{uuid4().hex}"
        try:
            with system.open_output_stream(draft) as stream:
                scored = self._write(stream, detector, part)
            system.move(draft, f"{root}/{part.name}")
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{root}/{part.name} could not be written: {error}") from error
        return scored

    def finish(self) -> int:
        """Check that every row was scored once and write the manifest; return the rows.

        Raises
        ------
        DataError
            If a part is missing or the table has changed.
        """
        found = self.finished()
        missing = [part.name for part in self.table.parts if part.name not in found]
        if missing:
            raise DataError(f"{self.location} lacks {missing[0]}: start the command again.")
        if ParquetTable.find(self.table.location).fingerprint != self.table.fingerprint:
            raise DataError(f"{self.table.location} has changed while it was scored.")
        content = {
            "imboost": version("imboost"),
            "model": self.model,
            "table": self.table.location,
            "fingerprint": self.table.fingerprint,
            "n_rows": self.table.n_rows,
            "n_outliers": sum(scored.n_outliers for scored in found.values()),
            "parts": [{"name": part.name, **asdict(part)} for part in self.table.parts],
        }
        system, root = file_system(self.location)
        draft = f"{root}/.part-{uuid4().hex}"
        with system.open_output_stream(draft) as stream:
            stream.write(json.dumps(content, indent=1).encode())
        system.move(draft, f"{root}/{MANIFEST}")
        for name in self._names():
            if name.startswith(".part-"):  # of machines that failed
                system.delete_file(f"{root}/{name}")
        return self.table.n_rows

    def _write(self, stream: Any, detector: TableDetector, part: Part) -> ScoredPart:
        copied, monitor = identifier_columns(detector), DriftMonitor(detector)
        writer: pq.ParquetWriter | None = None
        schema: pa.Schema | None = None
        n_outliers, first_row, model_seconds = 0, part.first_row, 0.0
        start = perf_counter()
        for table in self.table.read(part):
            lines = []
            for batch in _scored(detector, first_row, table):
                schema = schema or score_schema(batch.table, copied, detector.model_name)
                writer = writer or pq.ParquetWriter(stream, schema)
                lines.append(score_lines(batch, schema, copied))
                n_outliers += int(batch.predictions.is_outlier.sum())
                model_seconds += batch.predictions.model_seconds
            first_row += table.num_rows
            monitor.add(table)
            if writer:
                writer.write_table(pa.concat_tables(lines))
        if writer is None:
            raise DataError(f"{part.path} has no rows in a part that should have some.")
        other_seconds = perf_counter() - start - model_seconds
        scored = ScoredPart(
            self.run, part.n_rows, n_outliers, model_seconds, other_seconds, monitor.counts()
        )
        writer.add_key_value_metadata({METADATA: json.dumps(asdict(scored)).encode()})
        writer.close()
        return scored

    def _read(self, name: str, part: Part | None) -> ScoredPart | None:
        """Read what a file says about itself; None if it does not hold the rows of its part."""
        system, root = file_system(self.location)
        try:
            with system.open_input_file(f"{root}/{name}") as source:
                metadata = pq.read_metadata(source)
            scored = ScoredPart(**json.loads(metadata.metadata[METADATA]))
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError):
            return None
        if part is not None and scored.run == self.run and not _holds(metadata, part):
            return None
        return scored

    def _names(self) -> list[str]:
        system, root = file_system(self.location)
        found = system.get_file_info(pyarrow.fs.FileSelector(root, allow_not_found=True))
        return sorted(info.base_name for info in found)


def _scored(detector: TableDetector, first_row: int, table: pa.Table) -> Iterator[ScoredBatch]:
    for offset in range(0, table.num_rows, BATCH_ROWS):
        batch = table.slice(offset, BATCH_ROWS)
        yield ScoredBatch(first_row + offset, batch, predict_table(detector, batch), 0.0)


def _holds(metadata: pq.FileMetaData, part: Part) -> bool:
    """Whether a file holds exactly the rows of a part, by the statistics of their numbers."""
    if metadata.num_rows != part.n_rows:
        return False
    first_row, at = part.first_row, metadata.num_columns - len(OWN_COLUMNS)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        found = group.column(at).statistics
        if (found.min, found.max) != (first_row, first_row + group.num_rows - 1):
            return False
        first_row += group.num_rows
    return True
