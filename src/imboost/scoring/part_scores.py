"""Scores of a table as a folder of Parquet parts with a manifest.

A part that exists is complete. Its name follows from the input, so that a part that is scored
twice replaces itself. The manifest is written at the end, after all parts have been checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq

from imboost.detectors.table_detector import TableDetector
from imboost.errors import DataError, SettingError
from imboost.scoring.pipeline import Summary, score_batches
from imboost.scoring.row_selection import identifier_columns
from imboost.scoring.score_files import PREDICTED, write_scores
from imboost.scoring.table_writers import Write
from imboost.tables.arrow_files import file_system, parquet_metadata
from imboost.tables.files import Part, TableParts

MANIFEST = "_manifest.json"  # readers of Parquet folders skip names with an underscore
METADATA = b"imboost"  # key of our entry in the metadata of a part
OWN_FILE = re.compile(r"part-\d{5}-\d{6}-\d{6}\.parquet|\.part-[-.0-9a-z]+|_manifest\.json")
N_READERS = 16  # footers read at the same time, which helps on remote file systems


@dataclass(frozen=True)
class PartFolder:
    """The folder of the scores of one table by one model."""

    location: str  # path or URL
    table: TableParts
    model: str  # hash of the model

    @property
    def run(self) -> str:
        """Identity of a run: another model, table or version has another one."""
        return f"{version('imboost')} {self.model} {self.table.fingerprint}"

    def prepare(self) -> None:
        """Create the folder; raise if it exists and holds anything but parts of scores."""
        system, root = file_system(self.location)
        [info] = system.get_file_info([root])
        if info.type == pyarrow.fs.FileType.File:
            raise SettingError(f"{self.location} is a file: name a folder.")
        if root == file_system(self.table.location)[1]:
            raise SettingError(
                f"{self.location} is the table: name another folder for the scores."
            )
        system.create_dir(root, recursive=True)
        for name in self._names():
            if not OWN_FILE.fullmatch(name):
                raise SettingError(
                    f"{self.location} holds '{name}', which is no part of scores: choose a new "
                    "folder."
                )

    def finished(self) -> dict[str, Summary]:
        """Return the summaries of the parts that are complete, by name.

        Raises a SettingError if one is by another model or version, or of another table.
        """
        planned = {part.name: part for part in self.table.parts}
        names = [name for name in self._names() if name.startswith("part-")]
        found: dict[str, Summary] = {}
        with ThreadPoolExecutor(N_READERS) as pool:
            for name, content in zip(names, pool.map(self._read, names), strict=True):
                if content is None:  # a machine failed before the part was on disk
                    continue
                metadata, run, summary = content
                if name not in planned or run != self.run:
                    raise SettingError(
                        f"{self.location} holds scores by another model, of another table or by "
                        "another version: choose another folder, or remove it."
                    )
                if _holds(metadata, planned[name]):
                    found[name] = summary
        return found

    def score(self, detector: TableDetector, part: Part) -> Summary:
        """Score a part and write its file, which ends with its run and its summary."""
        summary = Summary()
        batches = score_batches(detector, self.table.read(part), part.first_row)

        @contextmanager
        def open_part(schema: pa.Schema) -> Iterator[Write]:
            with pq.ParquetWriter(stream, schema) as writer:
                yield writer.write_table
                about = {"run": self.run, "summary": vars(summary)}
                writer.add_key_value_metadata({METADATA: json.dumps(about)})

        with self._complete(part.name) as stream:
            identifiers = identifier_columns(detector)
            write_scores(detector, summary.counted(batches), identifiers, open_part)
        return summary

    def finish(self) -> None:
        """Write the manifest; raise if a part is missing or the table has changed."""
        found = self.finished()
        missing = [part.name for part in self.table.parts if part.name not in found]
        if missing:
            raise DataError(f"{self.location} lacks {missing[0]}: start the command again.")
        if TableParts.find(self.table.location).fingerprint != self.table.fingerprint:
            raise DataError(f"{self.table.location} has changed while it was scored.")
        content = {
            "imboost": version("imboost"),
            "model": self.model,
            "table": self.table.location,
            "fingerprint": self.table.fingerprint,
            "n_rows": self.table.n_rows,
            "n_outliers": sum(summary.n_outliers for summary in found.values()),
            "parts": [{"name": part.name, **asdict(part)} for part in self.table.parts],
        }
        with self._complete(MANIFEST) as stream:
            stream.write(json.dumps(content, indent=1).encode())
        system, root = file_system(self.location)
        for name in self._names():
            if name.startswith(".part-"):  # of machines that failed
                system.delete_file(f"{root}/{name}")

    @contextmanager
    def _complete(self, name: str) -> Iterator[Any]:
        """Yield the stream of a file that appears complete or not at all."""
        system, root = file_system(self.location)
        draft = f"{root}/.part-{uuid4().hex}"
        try:
            with system.open_output_stream(draft) as stream:
                yield stream
            system.move(draft, f"{root}/{name}")
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{root}/{name} could not be written: {error}") from error

    def _read(self, name: str) -> tuple[pq.FileMetaData, str, Summary] | None:
        """Read what a file says about itself; None if it is damaged."""
        try:
            metadata = parquet_metadata(f"{self.location}/{name}")
            about = json.loads(metadata.metadata[METADATA])
            return metadata, about["run"], Summary(**about["summary"])
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError):
            return None

    def _names(self) -> list[str]:
        system, root = file_system(self.location)
        found = system.get_file_info(pyarrow.fs.FileSelector(root, allow_not_found=True))
        return sorted(info.base_name for info in found)


def _holds(metadata: pq.FileMetaData, part: Part) -> bool:
    """Whether a file holds exactly the rows of a part, by the statistics of their numbers."""
    if metadata.num_rows != part.n_rows:
        return False
    first_row, at = part.first_row, metadata.num_columns - len(PREDICTED)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        found = group.column(at).statistics
        if (found.min, found.max) != (first_row, first_row + group.num_rows - 1):
            return False
        first_row += group.num_rows
    return True
