"""CSV and Parquet files as Arrow tables, at once or in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from imboost.errors import DataError
from imboost.tables.column_names import check_columns, check_unique
from imboost.tables.csv_files import csv_batches

CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
PARQUET_ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True)
class TableFiles:
    """A table in one file, or in all files of a folder.

    Cells of CSV files are read as text; `imboost.tables.schema` parses them.

    Parameters
    ----------
    paths : tuple of Path
        Files with the same columns, in the order of their rows.
    is_csv : bool
        Whether they are CSV files; otherwise Parquet.
    """

    paths: tuple[Path, ...]
    is_csv: bool

    @classmethod
    def find(cls, path: Path | str) -> TableFiles:
        """Find the files of a path to a file or a folder; raise if there are none."""
        path = Path(path)
        if not path.exists():
            raise DataError(f"{path} does not exist.")
        if not path.is_dir():
            if not path.name.lower().endswith(CSV_ENDINGS + PARQUET_ENDINGS):
                raise DataError(
                    f"{path} is neither a CSV nor a Parquet file: its name should end with "
                    f"{', '.join(CSV_ENDINGS + PARQUET_ENDINGS)}."
                )
            return cls((path,), path.name.lower().endswith(CSV_ENDINGS))
        files = sorted(child for child in path.iterdir() if child.is_file())
        by_kind = {
            kind: tuple(file for file in files if file.name.lower().endswith(endings))
            for kind, endings in (("CSV", CSV_ENDINGS), ("Parquet", PARQUET_ENDINGS))
        }
        found = [kind for kind, paths in by_kind.items() if paths]
        if len(found) != 1:
            kinds = "both CSV and Parquet files" if found else "neither a CSV nor a Parquet file"
            raise DataError(f"The folder {path} holds {kinds}; it should hold one kind.")
        return cls(by_kind[found[0]], found[0] == "CSV")

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None for CSV files, which would have to be read."""
        if self.is_csv:
            return None
        total = 0
        for path in self.paths:
            with _as_data_errors(path):
                total += pq.read_metadata(path).num_rows
        return total

    def read(self) -> pa.Table:
        """Read all rows into memory."""
        batches = list(self.batches())
        try:
            return pa.concat_tables(batches, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(_describe_types(self.paths, batches)) from error

    def batches(self, n_rows: int = 1 << 16) -> Iterator[pa.Table]:
        """Read about `n_rows` rows at a time; the first batch may hold none.

        The columns of every file must be those of the first one; their order may differ.
        """
        columns: list[str] | None = None
        for path in self.paths:
            with _as_data_errors(path):
                for batch in csv_batches(path) if self.is_csv else _parquet_batches(path, n_rows):
                    columns = columns or batch.column_names
                    check_columns(batch.column_names, columns, str(path))
                    yield batch.select(columns)


def _describe_types(paths: tuple[Path, ...], batches: list[pa.Table]) -> str:
    """Return which column has types that cannot be joined, and a file with each type."""
    unlike = next(name for name in batches[0].column_names if not _can_be_joined(batches, name))
    first_files: dict[str, str] = {}
    for path in paths:
        first_files.setdefault(str(pq.read_schema(path).field(unlike).type), path.name)
    types = ", ".join(f"{kind} in {file}" for kind, file in first_files.items())
    return (
        f"The files in {paths[0].parent} do not fit together: the type of the column '{unlike}' "
        f"is {types}. Write it with one type."
    )


def _can_be_joined(batches: list[pa.Table], name: str) -> bool:
    try:
        pa.concat_tables([batch.select([name]) for batch in batches], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return False
    return True


def _parquet_batches(path: Path, n_rows: int) -> Iterator[pa.Table]:
    with pq.ParquetFile(path, pre_buffer=False) as file:
        check_unique(file.schema_arrow.names, str(path))
        yield file.schema_arrow.empty_table()
        for batch in file.iter_batches(n_rows):
            yield pa.Table.from_batches([batch])


@contextmanager
def _as_data_errors(path: Path) -> Iterator[None]:
    """Raise errors of Arrow and of the system as one line that names the file."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not in UTF-8; save it in that encoding.") from error
    except (pa.ArrowException, OSError) as error:
        text = str(error).splitlines()[0]
        if "invalid UTF8" in text:
            raise DataError(f"{path} is not in UTF-8; save it in that encoding.") from error
        if "Expected" in text and "columns, got" in text:
            raise DataError(
                f"{path} is ragged: {text.removeprefix('CSV parse error: ')}. Every line needs "
                "as many cells as the first; cells with delimiters need quotes."
            ) from error
        raise DataError(f"{path} could not be read: {text}") from error
