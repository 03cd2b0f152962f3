"""What cells say: alone as among others, once a reader is fitted, and from any kind of file."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from imboost.data.cells import TIME_FORMS, levels, numbers, times, truths
from imboost.data.encoding import TableEncoder
from imboost.data.readers import NumberReader, TimeReader, WordReader
from imboost.data.roles import find_roles
from imboost.data.tables import as_table

N = 60
SECONDS_OF_A_DAY = 86_400.0


def column(*cells, kind=None):
    return pa.chunked_array([pa.array(cells, kind)])


def one_by_one(reader, cells):
    return [found for at in range(len(cells)) for found in listed(reader.read(cells.slice(at, 1)))]


def listed(found):
    return found.to_pylist() if isinstance(found, pa.ChunkedArray) else found.tolist()


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        (NumberReader, ["1,234", "5", "1,234,567.5", "2,5", "-inf", None, "many"]),
        (NumberReader, ["1,234", "2,5", "-0,25", "+7", "1e3", " 4 ", None]),
        (NumberReader, [1.5, float("inf"), None]),
        (TimeReader, ["03/04/2024", "04/13/2024", "2024-04-13", "soon", None]),
        (TimeReader, ["03/04/2024", "13/04/2024", "03/04/24 10:30", "31/02/2024"]),
        (TimeReader, ["2024-01-02T03:04:05.678Z", "2024-02-30", "0000-00-00", "2024-01-01 25:00"]),
        (TimeReader, ["20240102", "20241301", None]),
        (WordReader, ["Y", "N", "y", "yes", "1", "TRUE", "maybe", None]),
        (WordReader, [True, False, None]),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value[0]),
)
def test_cells_are_read_one_by_one_as_all_at_once(kind, cells):
    cells = column(*cells)
    reader = kind.fit(cells)
    assert str(one_by_one(reader, cells)) == str(listed(reader.read(cells)))


def test_levels_are_read_one_by_one_as_all_at_once():
    cells = column("1.0", "01", "2", "2.5", " x ", None)
    reader = WordReader()
    assert one_by_one(reader, cells) == reader.read(cells).to_pylist()
    assert reader.read(cells).to_pylist() == ["1", "01", "2", "2.5", "x", None]


@pytest.mark.parametrize(
    ("cells", "grouped", "note"),
    [
        (["1,234", "56"], True, "1,234 is read as 1234"),
        (["1,234.5", "1,234,567"], True, "1,234 is read as 1234"),
        (["1,234", "2,50"], False, "2,5 is read as 2.5"),
        (["0,512", "1,234"], False, "2,5 is read as 2.5"),
        (["1.5", "2"], False, ""),
        ([1.5, 2.0], False, ""),
    ],
)
def test_what_a_comma_means_is_decided_by_all_cells(cells, grouped, note):
    cells = column(*cells)
    reader = NumberReader.fit(cells)
    assert (reader.grouped, reader.note(cells)) == (grouped, note)


@pytest.mark.parametrize(
    ("cells", "form", "is_noted"),
    [
        (["03/04/2024", "05/06/2024"], "DD/MM/YYYY", True),
        (["03/04/2024", "13/06/2024"], "DD/MM/YYYY", False),
        (["03/04/2024", "05/16/2024"], "MM/DD/YYYY", False),
        (["03.04.2024"], "DD.MM.YYYY", False),
        (["2024-04-03", "03.04.2024"], "DD.MM.YYYY", False),
        (["2024-04-03", "soon"], "YYYY-MM-DD", False),
        ([20240403, 20240404], "YYYYMMDD", False),
    ],
)
def test_the_form_of_times_is_decided_by_all_cells(cells, form, is_noted):
    cells = column(*cells)
    reader = TimeReader.fit(cells)
    assert (reader.form, bool(reader.note(cells))) == (form, is_noted)


@pytest.mark.parametrize("form", TIME_FORMS)
def test_a_day_that_no_calendar_has_is_missing(form):
    def written(year, month, day):
        return form.replace("YYYY", year).replace("MM", month).replace("DD", day)

    cells = column(
        written("1970", "01", "02"),
        written("1972", "02", "29"),
        written("1970", "02", "29"),
        written("1970", "13", "01"),
        written("0000", "00", "00"),
    )
    np.testing.assert_array_equal(
        times(cells, form) / SECONDS_OF_A_DAY, [1.0, 789.0, np.nan, np.nan, np.nan]
    )


def test_parts_of_a_second_are_those_of_a_stored_time():
    said = column("2024-05-06T07:08:09.123456789", "2024-05-06 07:08:09.5+02:00", "2024-05-06")
    stored = np.array(["2024-05-06T07:08:09.123456", "2024-05-06T07:08:09.5", "2024-05-06"])
    stored = stored.astype("datetime64[us]")
    np.testing.assert_array_equal(times(said), times(pa.chunked_array([stored])))


def test_infinity_is_a_number_in_text_too():
    said = numbers(column("inf", "-Infinity", "+INF", "1e400", "infinite"))
    stored = numbers(column(np.inf, -np.inf, np.inf, np.inf, None))
    np.testing.assert_array_equal(said, stored)


def test_whole_numbers_are_levels_of_one_spelling():
    assert levels(column(1.0, 2.5, 1e15)).to_pylist() == ["1", "2.5", "1000000000000000"]
    assert levels(column("1.0", "1.", "01", "1.05")).to_pylist() == ["1", "1", "01", "1.05"]
    assert levels(column(True)).to_pylist() == levels(column("True")).to_pylist() == ["true"]


@pytest.mark.parametrize("later", ["y", "yes", "1", "1.0", "TRUE", 1, 1.0, True])
def test_yes_is_written_as_in_training(later):
    reader = WordReader.fit(column("Y", "N", "Y"))
    assert reader.read(column(later)).to_pylist() == ["Y"]
    assert truths(column(later)).tolist() == [1.0]


def test_a_table_is_encoded_alike_from_csv_and_from_parquet(tmp_path):
    rng = np.random.default_rng(0)
    gap = np.arange(N) == 7
    day = np.datetime64("2024-01-01T00:00:00") + 25_000 * np.arange(N).astype("timedelta64[s]")
    table = pa.table(
        {
            "amount": pa.array(np.where(np.arange(N) == 3, np.inf, rng.normal(size=N)), mask=gap),
            "paid": pa.array(rng.integers(0, 2, N).astype(bool), mask=gap),
            "flag": pa.array(rng.integers(0, 2, N).astype(float), mask=gap),
            "code": pa.array(rng.integers(1, 4, N).astype(float), mask=gap),
            "word": rng.choice(["red", "blue", "green"], N),
            "day": pa.array(day, mask=gap),
        }
    )
    pa.parquet.write_table(table, tmp_path / "table.parquet")
    pa.csv.write_csv(table, tmp_path / "table.csv")
    table.to_pandas().to_csv(tmp_path / "pandas.csv", index=False)
    roles = {"code": "categorical"}
    tables = [as_table(tmp_path / name) for name in ("table.parquet", "table.csv", "pandas.csv")]
    facts = [find_roles(table, roles) for table in tables]
    assert [fact.role for fact in facts[0]] == [fact.role for fact in facts[1]]
    for trained, known in zip(tables, facts, strict=True):
        encoder = TableEncoder.fit(trained, known)
        expected = encoder.encode(trained)
        for other in tables:
            np.testing.assert_array_equal(encoder.encode(other), expected)


@pytest.mark.parametrize(
    "reader", [NumberReader(True), TimeReader("DD/MM/YYYY"), WordReader(("n", "y"))]
)
@pytest.mark.parametrize(
    "kind",
    [
        pa.null(),
        pa.bool_(),
        pa.int8(),
        pa.float32(),
        pa.decimal128(5, 2),
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.date32(),
        pa.timestamp("ns", "Europe/Berlin"),
        pa.time32("s"),
        pa.duration("ms"),
        pa.dictionary(pa.int8(), pa.string()),
    ],
    ids=str,
)
def test_cells_of_any_type_can_be_read(reader, kind):
    assert len(reader.read(pa.chunked_array([pa.nulls(3, kind)]))) == 3
    assert len(reader.read(pa.chunked_array([], kind))) == 0
    assert len(WordReader().read(pa.chunked_array([pa.nulls(3, kind)]))) == 3
