"""CSV and Parquet files as Arrow tables, at once or in batches of bounded size."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from imboost.errors import DataError

CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
PARQUET_ENDINGS = (".parquet", ".pq")
DELIMITERS = (",", ";", "\t", "|")
CSV_BLOCK_BYTES = 1 << 22
DELIMITER_LINE = re.compile(r'"?sep=([\t !#-~])"?(?:[\r\n]+|$)', re.IGNORECASE)
"""A line before the header by which Excel is told the delimiter."""


@dataclass(frozen=True)
class TableFiles:
    """One file, or all of one kind in a folder, that hold one table.

    The cells of a CSV file are read as text: what they mean is decided column by column, by
    all of them.

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
        """Look at a file or a folder; raise if there is no table."""
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
        """Number of rows, where the files say it themselves; None for CSV files."""
        if self.is_csv:
            return None
        total = 0
        for path in self.paths:
            with _clear_errors(path):
                total += pq.read_metadata(path).num_rows
        return total

    def read(self) -> pa.Table:
        """Read all rows into memory."""
        batches = list(self.batches())
        try:
            return pa.concat_tables(batches, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(_unlike_types(self.paths, batches)) from error

    def batches(self, n_rows: int = 1 << 16) -> Iterator[pa.Table]:
        """Read about `n_rows` rows at a time; the first batch may hold none.

        The columns of every file must be those of the first one; their order may differ.
        """
        columns: list[str] | None = None
        for path in self.paths:
            batches = _csv_batches(path) if self.is_csv else _parquet_batches(path, n_rows)
            for batch in batches:
                if columns is None:
                    columns = batch.column_names
                check_columns(batch.column_names, columns, str(path))
                yield batch.select(columns)


def check_columns(
    names: list[str], expected: list[str], where: str, instead: str | None = None
) -> None:
    """Raise, naming the columns, unless `names` are the expected ones in any order.

    Parameters
    ----------
    names, expected : list of str
    where : str
        What has the names: a file, for instance.
    instead : str, optional
        What to do if the names cannot be changed.
    """
    missing = [name for name in expected if name not in names]
    extra = [name for name in names if name not in expected]
    if not (missing or extra):
        return
    problems = [
        f"{kind} column{'s' * (len(found) > 1)} {_listed(found)}"
        for kind, found in (("lacks the", missing), ("has the extra", extra))
        if found
    ]
    pronoun = "it" if len(missing) <= 1 and len(extra) <= 1 else "them"
    advice = "rename {}" if missing and extra else "add {}" if missing else "leave {} out"
    rest = f", or {instead}" if instead else ""
    raise DataError(f"{where} {' and '.join(problems)}: {advice.format(pronoun)}{rest}.")


def check_unique(names: list[str], where: str) -> None:
    """Raise, naming them, if columns share a name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"{where} has several columns called {_listed(twice)}; rename them.")


def _listed(names: list[str], most: int = 5) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _unlike_types(paths: tuple[Path, ...], batches: list[pa.Table]) -> str:
    """Say which column has types that cannot be joined, and where each of them stands."""
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
    with _clear_errors(path), pq.ParquetFile(path, pre_buffer=False) as file:
        check_unique(file.schema_arrow.names, str(path))
        yield file.schema_arrow.empty_table()
        for batch in file.iter_batches(n_rows):
            yield pa.Table.from_batches([batch])


def _csv_batches(path: Path) -> Iterator[pa.Table]:
    with _clear_errors(path):
        names, delimiter, n_before = _csv_header(path)
        reader = pc.open_csv(
            path,
            read_options=pc.ReadOptions(block_size=CSV_BLOCK_BYTES, skip_rows=n_before),
            parse_options=pc.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(names) > 1,  # in one column they are empty cells
            ),
            convert_options=pc.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],  # what other words mean is not for a file to say
                strings_can_be_null=True,
            ),
        )
        yield reader.schema.empty_table()
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _csv_header(path: Path) -> tuple[list[str], str, int]:
    """Return column names, delimiter and the number of lines before those names."""
    with pa.input_stream(path) as stream:
        start = stream.read(CSV_BLOCK_BYTES)
    # Incrementally, because the block may end inside a character.
    text = codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    header = text.lstrip("\r\n")
    told = DELIMITER_LINE.match(header)
    if told:
        header = header[told.end() :]
    if not header.strip():
        raise DataError(f"{path} is empty.")
    # Not by Arrow: its reader aborts the program if names are refused before it is done.
    records = {
        delimiter: next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter))
        for delimiter in (told.groups() if told else DELIMITERS)
    }
    delimiter = max(records, key=lambda delimiter: _likelihood(records[delimiter]))
    check_unique(records[delimiter], str(path))
    n_before = len(text[: len(text) - len(header)].splitlines())
    return records[delimiter], delimiter, n_before


def _likelihood(names: list[str]) -> tuple[bool, int]:
    """Rank a header, split by some delimiter: a wrong one may split inside quotes."""
    return not any('"' in name for name in names), len(names)


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    """Turn the libraries' errors into one line that names the file."""
    try:
        yield
    except DataError:
        raise
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not in UTF-8; save it in that encoding.") from error
    except (pa.ArrowException, csv.Error, OSError) as error:
        text = str(error).splitlines()[0]
        if "invalid UTF8" in text:
            raise DataError(f"{path} is not in UTF-8; save it in that encoding.") from error
        if "Expected" in text and "columns, got" in text:
            raise DataError(
                f"{path} is ragged: {text.removeprefix('CSV parse error: ')}. Every line needs "
                "as many cells as the first; cells with delimiters need quotes."
            ) from error
        raise DataError(f"{path} could not be read: {text}") from error
