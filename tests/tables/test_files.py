"""CSV and Parquet files: read, or refused in one clear line."""

import gzip

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imboost.errors import DataError
from imboost.tables.files import TableFiles
from imboost.tables.frames import to_arrow
from imboost.tables.text_files import BLOCK_BYTES


def write(path, content):
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,a,b\n1,2,3\n", "several columns called 'a'"),
        (b"(row),b\n1,3\n", r"a column called '\(row\)'"),
        (b"a,b\n1,2\n3\n", "ragged.*Expected 2 columns, got 1"),
        (b"a,b\n1,2\n3,4,5\n", "ragged.*Expected 2 columns, got 3"),
        (b"a,b\n1,\xe9t\xe9\n", "not in UTF-8"),
        (b"\xe9,b\n1,2\n", "not in UTF-8"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"sep=;\r\n", "is empty"),
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
        b"a;b\n1;x y\n2;\n",
        b"a\tb\n1\tx y\n2\t\n",
        b"\xef\xbb\xbfa,b\n1,x y\n2,\n",
        b'a,b\r\n1,"x y"\r\n2,\r\n',
    ],
)
def test_csv_cells_are_text_and_empty_ones_are_missing(tmp_path, content):
    table = TableFiles.find(write(tmp_path / "table.csv", content)).read()
    assert table.to_pydict() == {"a": ["1", "2"], "b": ["x y", None]}


def test_a_line_break_may_stand_in_a_quoted_cell(tmp_path):
    path = write(tmp_path / "table.csv", b'a,b\n1,"x\ny"\n2,z\n')
    assert TableFiles.find(path).read().column("b").to_pylist() == ["x\ny", "z"]


@pytest.mark.parametrize(
    ("header", "delimiter", "names"),
    [
        ('"Amount, EUR";"Size, cm";Kind', ";", ["Amount, EUR", "Size, cm", "Kind"]),
        ('Kind;"Amount, EUR, net";"Size, cm"', ";", ["Kind", "Amount, EUR, net", "Size, cm"]),
        ('"Amount\nin EUR",Kind', ",", ["Amount\nin EUR", "Kind"]),
        ('"Amount\r\nin EUR"|"a ""kind"""', "|", ["Amount\r\nin EUR", 'a "kind"']),
        ('Size in ",Kind', ",", ['Size in "', "Kind"]),
        ("\n\nSize,Kind", ",", ["Size", "Kind"]),
    ],
)
def test_delimiters_and_line_breaks_may_stand_in_quoted_names(tmp_path, header, delimiter, names):
    row = delimiter.join("1" for _ in names)
    path = write(tmp_path / "table.csv", f"{header}\n{row}\n".encode())
    assert TableFiles.find(path).read().to_pydict() == {name: ["1"] for name in names}


def test_a_character_may_stand_where_blocks_meet(tmp_path):
    cells = ["é" * 10] * (BLOCK_BYTES // 21 + 1)
    for name in ("a", "ab"):  # of the two, one has its blocks meet inside a character
        path = write(tmp_path / "table.csv", "\n".join([name, *cells, ""]).encode())
        assert TableFiles.find(path).read().to_pydict() == {name: cells}


@pytest.mark.parametrize(
    "content",
    [
        b"sep=;\r\na;b\r\n1,5;x\r\n",
        b'\xef\xbb\xbf"sep=;"\na;b\n1,5;x\n',
        b'SEP=,\n\na,b\n"1,5",x\n',
        b"sep=:\na:b\n1,5:x\n",
    ],
)
def test_a_first_line_may_name_the_delimiter(tmp_path, content):
    table = TableFiles.find(write(tmp_path / "table.csv", content)).read()
    assert table.to_pydict() == {"a": ["1,5"], "b": ["x"]}


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("before", ["", "sep=;\n", "\n\n"])
@pytest.mark.parametrize("last", ["4\n", "4", "\n"])
def test_empty_cells_of_the_only_column_are_rows(tmp_path, line_break, before, last):
    content = f"{before}a\n" + "1\n\n3\n" * 99 + "1\n\n" + last
    path = write(tmp_path / "table.csv", content.replace("\n", line_break).encode())
    cells = ["1", None, "3"] * 99 + ["1", None, last.strip() or None]
    assert TableFiles.find(path).read().to_pydict() == {"a": cells}


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


def test_a_column_of_types_that_cannot_be_joined_is_named(tmp_path):
    for number, cells in enumerate(([1], [1.5], ["x"])):
        pq.write_table(pa.table({"a": [number], "b": cells}), tmp_path / f"{number}.parquet")
    with pytest.raises(DataError) as error:
        TableFiles.find(tmp_path).read()
    assert str(error.value) == (
        f"The files in {tmp_path} do not fit together: the type of the column 'b' is int64 in "
        "0.parquet, double in 1.parquet, string in 2.parquet. Write it with one type."
    )


def test_numbers_too_large_for_the_type_of_another_file_are_refused(tmp_path):
    pq.write_table(pa.table({"a": [2**60 + 1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [0.5]}), tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"'a' is int64 in 1\.parquet, double in 2\.parquet"):
        TableFiles.find(tmp_path).read()


def test_a_path_without_a_table_is_refused(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        TableFiles.find(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match=r"is not a table: its name should end with \.csv, "):
        TableFiles.find(write(tmp_path / "table.docx", b"x"))
    with pytest.raises(DataError, match="holds no table"):
        TableFiles.find(tmp_path)
    write(tmp_path / "1.csv", b"a\n1\n")
    write(tmp_path / "1.parquet", b"junk")
    with pytest.raises(DataError, match="holds CSV and Parquet files"):
        TableFiles.find(tmp_path)
    with pytest.raises(DataError, match=r"1\.parquet could not be read"):
        TableFiles.find(tmp_path / "1.parquet").read()


def lines_with(quoted, n_lines=400):
    """Return a CSV file whose line of each given number ends with the given cell."""
    lines = ["a,b,c", *(f"{line},{line / 7:.3f},x{line}" for line in range(2, n_lines + 1))]
    for line, cell in quoted.items():
        lines[line - 1] = f"{line},1.5,{cell}"
    return "\n".join([*lines, ""]).encode()


@pytest.mark.parametrize("line_break", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    ("content", "line"),
    [
        pytest.param(lines_with({11: '"x'}), 11, id="never closed"),
        pytest.param(lines_with({11: '"x'}, 200_000), 11, id="never closed in a long file"),
        pytest.param(lines_with({400: '"x'}), 400, id="in the last line"),
        pytest.param(lines_with({11: '"x', 50: '"y'}), 11, id="closed where another opens"),
        pytest.param(lines_with({11: '"x', 50: 'y"'}), 11, id="closed by an inch mark"),
        pytest.param(lines_with({11: '"x\ny"', 50: '"x'}), 51, id="after a quoted line break"),
        pytest.param(b'a,b,c\n1,2,3\n1,"2,3\n' + b"1,2,3\n" * 9, 3, id="in a middle column"),
        pytest.param(b'"a,b\n1,2\n3,4\n', 1, id="in the header"),
        pytest.param(b'"a,b\n' + b"3,4\n" * 50_000, 1, id="in the header of a long file"),
        pytest.param(b'sep=,\na,b\n1,2\n3,"4\n5,6\n', 4, id="after a line with the delimiter"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_quote_that_swallows_lines_is_refused_with_its_line(
    tmp_path, content, line, line_break, ending
):
    content = content.replace(b"\n", line_break)
    path = tmp_path / f"bad.{ending}"
    write(path, gzip.compress(content, 1) if ending == "csv.gz" else content)
    for read in (TableFiles.read, lambda files: list(files.batches())):
        with pytest.raises(DataError, match=rf"bad\.{ending}, line {line}: .*quote") as caught:
            read(TableFiles.find(path))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        (b'a,b\n1,"x\ny, z\n\nw"\n2,"he said ""no""\n"\n', ["x\ny, z\n\nw", 'he said "no"\n']),
        (b'a,b\n1,5" pipe\n2,"x\ny"\n', ['5" pipe', "x\ny"]),
        (b'a,b\n1,"x"y\n2,"x\ny"\n', ["xy", "x\ny"]),
        (b'a,b\n1,"Street 5\nApt 3, Floor 2\nBerlin, DE\nGermany"\n', None),
    ],
)
@pytest.mark.parametrize("line_break", [b"\n", b"\r\n"])
def test_line_breaks_and_quotes_in_quoted_cells_are_kept(tmp_path, content, cells, line_break):
    path = write(tmp_path / "table.csv", content.replace(b"\n", line_break))
    found = TableFiles.find(path).read().column("b").to_pylist()
    if cells is None:
        assert len(found) == 1
    else:
        assert [cell.replace("\r\n", "\n") for cell in found] == cells


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([7, 3, 5]),
        pd.Index(["x", "y", "z"], name="key"),
        pd.MultiIndex.from_tuples([(1, "x"), (1, "y"), (2, "x")], names=["one", None]),
        pd.RangeIndex(2, 8, 2, name="row"),
    ],
    ids=["filtered", "named", "multi", "range"],
)
def test_the_index_of_a_data_frame_is_not_a_column(index):
    frame = pd.DataFrame({"size": [1, 2, 3], "kind": ["a", "b", "c"]}, index=index)
    assert to_arrow(frame).to_pydict() == {"size": [1, 2, 3], "kind": ["a", "b", "c"]}
