"""Tables are written batch by batch in every format."""

import zipfile

import pyarrow as pa
from python_calamine import CalamineWorkbook

from imboost.scoring import table_writers
from imboost.scoring.table_writers import WriteOptions, open_writer


def test_text_in_an_excel_file_is_never_a_formula_or_a_link(tmp_path):
    texts = ["=1+1", "{=1+1}", "https://example.com", "0012", "12", "x" * 40_000]
    table = pa.table({"=name": texts, "size": texts})
    with open_writer(tmp_path / "t.xlsx", table.schema, WriteOptions(numeric={"size"})) as write:
        write(table)
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
        assert not [name for name in archive.namelist() if "rels" in name and "sheet" in name]
    assert "<f>" not in sheet
    with CalamineWorkbook.from_path(tmp_path / "t.xlsx") as workbook:
        header, *rows = workbook.get_sheet_by_index(0).to_python()
    assert header == ["=name", "size"]
    assert [row[0] for row in rows] == [*texts[:5], "x" * table_writers.MAX_CHARACTERS]
    assert [row[1] for row in rows[3:5]] == [12.0, 12.0]


def test_a_header_is_written_once_whatever_the_batches(tmp_path):
    table = pa.table({"a": ["x", "y"]})
    none = table.slice(0, 0)
    for number, tables in enumerate(([none, table], [pa.concat_tables([none, table, none])])):
        path = tmp_path / f"{number}.csv"
        with open_writer(path, table.schema) as write:
            for part in tables:
                write(part)
        assert path.read_text() == '"a"\n"x"\n"y"\n'
