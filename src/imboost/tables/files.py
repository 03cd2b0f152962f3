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
    """

    paths: tuple[Path, ...]  # files with the same columns, in the order of their rows
    is_csv: bool  # otherwise Parquet

    @classmethod
    def find(cls, path: Path | str) -> TableFiles:
        """Find the table file at a path, or all in a folder; raise if there are none."""
        path = Path(path)
        if not path.exists():
            raise DataError(f"{path} does not exist.")
        is_folder = path.is_dir()
        files = (
            sorted(child for child in path.iterdir() if child.is_file()) if is_folder else [path]
        )
        csv, parquet = (
            tuple(file for file in files if file.name.lower().endswith(endings))
            for endings in (CSV_ENDINGS, PARQUET_ENDINGS)
        )
        if is_folder and bool(csv) == bool(parquet):
            kinds = "both CSV and Parquet files" if csv else "neither a CSV nor a Parquet file"
            raise DataError(f"The folder {path} holds {kinds}; it should hold one kind.")
        if not (csv or parquet):
            raise DataError(
                f"{path} is neither a CSV nor a Parquet file: its name should end with "
                f"{', '.join(CSV_ENDINGS + PARQUET_ENDINGS)}."
            )
        return cls(csv or parquet, bool(csv))

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
        columns = {}
        for name in batches[0].column_names:
            parts = [batch.select([name]) for batch in batches]
            try:
                columns[name] = pa.concat_tables(parts, promote_options="permissive").column(0)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                files: dict[str, str] = {}  # the first one with each type
                for path in self.paths:
                    files.setdefault(str(pq.read_schema(path).field(name).type), path.name)
                types = ", ".join(f"{kind} in {file}" for kind, file in files.items())
                raise DataError(
                    f"The files in {self.paths[0].parent} do not fit together: the type of the "
                    f"column '{name}' is {types}. Write it with one type."
                ) from error
        return pa.table(columns)

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


def path_beside(data: Path, ending: str) -> Path:
    """Return the path of a data file with another ending.

    >>> path_beside(Path("shop/orders.csv.gz"), ".model").as_posix()
    'shop/orders.model'
    """
    data = data.resolve() if data.name in ("", "..") else data
    known = sorted(CSV_ENDINGS + PARQUET_ENDINGS, key=len, reverse=True)
    old = next((end for end in known if data.name.lower().endswith(end)), "")
    return data.with_name(data.name[: len(data.name) - len(old)] + ending)


def _parquet_batches(path: Path, n_rows: int) -> Iterator[pa.Table]:
    with pq.ParquetFile(path, pre_buffer=False) as file:
        check_unique(file.schema_arrow.names, str(path))
        yield file.schema_arrow.empty_table()
        for batch in file.iter_batches(n_rows):
            yield pa.Table.from_batches([batch])


@contextmanager
def _as_data_errors(path: Path) -> Iterator[None]:
    """Convert errors of Arrow and of the system to a DataError of one line that names the file."""
    try:
        yield
    except (UnicodeDecodeError, pa.ArrowException, OSError) as error:
        text = str(error).splitlines()[0]
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in text:
            raise DataError(f"{path} is not in UTF-8; save it in that encoding.") from error
        if "Expected" in text and "columns, got" in text:
            raise DataError(
                f"{path} is ragged: {text.removeprefix('CSV parse error: ')}. Every line needs "
                "as many cells as the first; cells with delimiters need quotes."
            ) from error
        raise DataError(f"{path} could not be read: {text}") from error
