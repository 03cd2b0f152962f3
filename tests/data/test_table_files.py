"""CSV and Parquet files: read, or refused in one clear line."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imboost.data.table_files import TableFiles
from imboost.errors import DataError


def write(path, content):
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,a,b\n1,2,3\n", "several columns called 'a'"),
        (b"a,b\n1,2\n3\n", "ragged.*Expected 2 columns, got 1"),
        (b"a,b\n1,2\n3,4,5\n", "ragged.*Expected 2 columns, got 3"),
        (b"a,b\n1,\xe9t\xe9\n", "not in UTF-8"),
        (b"\xe9,b\n1,2\n", "not in UTF-8"),
    ],
)
def test_a_bad_csv_file_is_refused_with_its_name(tmp_path, content, error):
    path = write(tmp_path / "bad.csv", content)
    with pytest.raises(DataError, match=f"bad.csv.*{error}"):
        TableFiles.find(path).read()


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,x y\n2,\n",
        b"a;b\n1;x y\n2;NA\n",
        b"a\tb\n1\tx y\n2\t\n",
        b"\xef\xbb\xbfa,b\n1,x y\n2,null\n",
        b'a,b\r\n1,"x y"\r\n2,\r\n',
    ],
)
def test_csv_cells_are_text_and_gaps_are_missing(tmp_path, content):
    table = TableFiles.find(write(tmp_path / "table.csv", content)).read()
    assert table.to_pydict() == {"a": ["1", "2"], "b": ["x y", None]}


def test_a_line_break_may_stand_in_a_quoted_cell(tmp_path):
    path = write(tmp_path / "table.csv", b'a,b\n1,"x\ny"\n2,z\n')
    assert TableFiles.find(path).read().column("b").to_pylist() == ["x\ny", "z"]


def test_a_compressed_csv_file_is_read(tmp_path):
    path = write(tmp_path / "table.csv.gz", gzip.compress(b"a,b\n1,2\n"))
    assert TableFiles.find(path).read().to_pydict() == {"a": ["1"], "b": ["2"]}


def test_a_header_alone_is_a_table_without_rows(tmp_path):
    table = TableFiles.find(write(tmp_path / "table.csv", b"a,b\n")).read()
    assert (table.num_rows, table.column_names) == (0, ["a", "b"])


def test_parquet_comes_in_batches_of_the_wanted_size(tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"a": range(10)}), path)
    files = TableFiles.find(path)
    batches = [batch for batch in files.batches(4) if batch.num_rows]
    assert [batch.num_rows for batch in batches] == [4, 4, 2]
    assert files.n_rows == 10
    assert files.read().column("a").to_pylist() == list(range(10))


def test_a_folder_of_files_is_one_table_in_the_order_of_their_names(tmp_path):
    pq.write_table(pa.table({"a": [1, 2], "b": [3, 4]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": [6], "a": [5]}), tmp_path / "2.parquet")
    files = TableFiles.find(tmp_path)
    assert files.read().to_pydict() == {"a": [1, 2, 5], "b": [3, 4, 6]}
    assert files.n_rows == 3


def test_files_of_a_folder_with_other_columns_are_named(tmp_path):
    write(tmp_path / "1.csv", b"a,b\n1,2\n")
    write(tmp_path / "2.csv", b"a,c\n1,2\n")
    with pytest.raises(DataError, match=r"2\.csv lacks the column 'b' and has the extra.*'c'"):
        TableFiles.find(tmp_path).read()


def test_what_is_no_table_is_refused(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        TableFiles.find(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="neither a CSV nor a Parquet file"):
        TableFiles.find(write(tmp_path / "table.xlsx", b"x"))
    with pytest.raises(DataError, match="holds neither"):
        TableFiles.find(tmp_path)
    write(tmp_path / "1.csv", b"a\n1\n")
    write(tmp_path / "1.parquet", b"junk")
    with pytest.raises(DataError, match="holds both"):
        TableFiles.find(tmp_path)
    with pytest.raises(DataError, match=r"1\.parquet could not be read"):
        TableFiles.find(tmp_path / "1.parquet").read()
