"""Parsers of cells: fitted to all cells of a column, then the same for each cell alone."""

from datetime import datetime, time, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from imboost import TableDetector, persistence
from imboost.tables.cells import MISSING_STRINGS, mask_missing, to_text
from imboost.tables.datetime_parser import (
    CLOCK,
    FORMATS,
    MONTHS,
    DatetimeParser,
)
from imboost.tables.encoder import DatetimeEncoder, TableEncoder
from imboost.tables.frames import to_arrow
from imboost.tables.parsers import (
    BooleanParser,
    CategoryParser,
    NumberParser,
    parse_booleans,
    to_categories,
)
from imboost.tables.schema import Schema

N = 60
SECONDS_OF_A_DAY = 86_400.0


def column(*cells, kind=None):
    return pa.chunked_array([pa.array(cells, kind)])


def one_by_one(parser, cells):
    return [
        found for at in range(len(cells)) for found in listed(parser.parse(cells.slice(at, 1)))
    ]


def listed(found):
    return found.to_pylist() if isinstance(found, pa.ChunkedArray) else found.tolist()


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        (NumberParser, ["1,234", "5", "1,234,567.5", "2,5", "-inf", None, "many"]),
        (NumberParser, ["1,234", "2,5", "-0,25", "+7", "1e3", " 4 ", None]),
        (NumberParser, [1.5, float("inf"), None]),
        (DatetimeParser, ["03/04/2024", "04/13/2024", "2024-04-13", "soon", None]),
        (DatetimeParser, ["03/04/2024", "13/04/2024", "03/04/24 10:30", "31/02/2024"]),
        (
            DatetimeParser,
            ["2024-01-02T03:04:05.678Z", "2024-02-30", "0000-00-00", "2024-01-01 25:00"],
        ),
        (DatetimeParser, ["20240102", "20241301", None]),
        (BooleanParser, ["Y", "N", "y", "yes", "1", "TRUE", "maybe", None]),
        (BooleanParser, [True, False, None]),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value[0]),
)
def test_cells_are_parsed_alone_as_among_all_cells_and_in_training(kind, cells):
    cells = column(*cells)
    parser, values = kind.fit_parse(cells)
    assert str(one_by_one(parser, cells)) == str(listed(parser.parse(cells)))
    assert str(listed(values)) == str(listed(parser.parse(cells)))


def test_categories_are_parsed_alone_as_among_all_cells():
    cells = column("1.0", "01", "2", "2.5", " x ", None)
    parser = CategoryParser()
    assert one_by_one(parser, cells) == parser.parse(cells).to_pylist()
    assert parser.parse(cells).to_pylist() == ["1", "01", "2", "2.5", "x", None]


@pytest.mark.parametrize(
    ("cells", "read", "note"),
    [
        (["1,234", "56"], [1234, 56], "1,234 is read as 1234"),
        (["1,234.5", "1,234,567"], [1234.5, 1234567], "1,234 is read as 1234"),
        (["1,234", "2,50"], [1.234, 2.5], "2,5 is read as 2.5"),
        (["0,512", "1,234"], [0.512, 1.234], "2,5 is read as 2.5"),
        (["1.5", "2"], [1.5, 2], ""),
        ([1.5, 2.0], [1.5, 2], ""),
        (["1.069", "739"], [1069, 739], "1.234 is read as 1234"),
        (["42.346,87", "9,5"], [42346.87, 9.5], "1.234 is read as 1234"),
        (["1.234.567", "1.000"], [1234567, 1000], "1.234 is read as 1234"),
        (["1.069", "12739"], [1.069, 12739], "1.234 is read as 1.234, not as 1234"),
        (["1.069", "2.739"], [1.069, 2.739], "1.234 is read as 1.234, not as 1234"),
        (["0.069", "2.739"], [0.069, 2.739], ""),
        (["1.069", "2.7"], [1.069, 2.7], ""),
    ],
)
def test_all_cells_decide_about_the_thousands_separator(cells, read, note):
    cells = column(*cells)
    parser, values = NumberParser.fit_parse(cells)
    assert (values.tolist(), parser.note) == (read, note)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1'234.50", 1234.5),
        ("1 234,50", 1234.5),
        ("1\N{NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567", 1234567.0),
        ("(12.50)", -12.5),
        ("($12.50)", -12.5),
        ("\N{MINUS SIGN}12.50", -12.5),
        ("USD 12.50", 12.5),
        ("-12.50 EUR", -12.5),
        ("₹12", 12.0),
        ("1 2", np.nan),
        ("12.5kg", np.nan),
        ("(draft)", np.nan),
    ],
)
def test_numbers_are_read_as_people_write_them(text, number):
    np.testing.assert_array_equal(NumberParser().parse(column(text)), [number])


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-17 14:05:06+01",
        "2024-01-17 14:05:06 UTC",
        "2024-01-17 14:05:06,000",
        "2024-1-17 14:05:06",
        "17-01-2024 14:05:06",
        "17-Jan-2024 14:05:06",
        "17 January 2024 2:05:06 PM",
    ],
)
def test_times_are_read_as_programs_write_them(text):
    cells = column(text)
    found = DatetimeParser.fit_parse(cells)[1].astype("datetime64[s]")
    assert found.tolist() == [np.datetime64("2024-01-17T14:05:06").item()]


@pytest.mark.parametrize(
    ("cell", "clock"),
    [
        ("12:00 AM", "00:00"),
        ("12:30 am", "00:30"),
        ("1:00 a.m.", "01:00"),
        ("11:59 AM", "11:59"),
        ("12:00 PM", "12:00"),
        ("12:30 p.m.", "12:30"),
        ("1:00 PM", "13:00"),
        ("11:59 PM", "23:59"),
    ],
)
def test_hours_of_a_12_hour_clock_begin_at_twelve(cell, clock):
    for date in ("", "17/01/2024 "):
        _, [found] = DatetimeParser.fit_parse(column(date + cell))
        assert str(np.datetime64(int(found), "s"))[11:16] == clock


def test_two_digit_years_from_69_on_belong_to_the_1900s():
    cells = column("31/12/68", "31/01/69", "31/01/00", "31/01/99")
    _, values = DatetimeParser.fit_parse(cells)
    assert [moment.year for moment in values.astype("datetime64[s]").tolist()] == [
        2068,
        1969,
        2000,
        1999,
    ]


def test_a_clock_is_read_from_text_as_from_a_stored_time():
    text, stored = column("09:05", "21:30:15"), column(time(9, 5), time(21, 30, 15))
    parsers = [DatetimeParser.fit_parse(cells)[0] for cells in (text, stored)]
    assert parsers[0] == parsers[1]
    assert parsers[0].parse(text).tolist() == parsers[0].parse(stored).tolist() == [32_700, 77_415]
    for unit in ("us", "ns"):
        assert DatetimeParser(CLOCK).parse(stored.cast(pa.time64(unit))).tolist() == [
            32_700,
            77_415,
        ]
    values = parsers[0].parse(text)
    encoder = DatetimeEncoder.fit(values, "robust")
    assert encoder.decode(encoder.transform(values)[0]) == [time(9, 5), time(21, 30)]
    assert encoder.cells(values) == [time(9, 5), time(21, 30, 15)]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_are_seconds_whatever_they_are_stored_as(unit):
    cells = column(timedelta(seconds=90), None).cast(pa.duration(unit))
    np.testing.assert_array_equal(NumberParser().parse(cells), [90.0, np.nan])
    assert to_text(cells).to_pylist() == ["90", None]
    assert NumberParser.fit_parse(cells)[0].note == "in seconds"


def test_parts_of_seconds_stay_where_they_are():
    moments = column(datetime(2024, 4, 10, 3, 12, 0, 34_000), datetime(2024, 4, 10, 3, 12))
    assert to_text(moments).to_pylist() == ["2024-04-10 03:12:00.034000", "2024-04-10 03:12:00"]


@pytest.mark.parametrize("text", [word for word in MISSING_STRINGS if word] + ["", "  ", " NA "])
def test_missing_strings_count_in_tables_of_any_kind(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(f'a,b\nx,1\n"{text}",2\n')
    for table in (to_arrow(path), pa.table({"a": ["x", text]})):
        assert to_text(table.column("a")).to_pylist() == ["x", None]


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
def test_all_cells_decide_about_the_format_of_datetimes(cells, form, is_noted):
    cells = column(*cells)
    parser, _ = DatetimeParser.fit_parse(cells)
    assert (parser.format, bool(parser.note)) == (form, is_noted)


@pytest.mark.parametrize("form", [form for form in FORMATS if "DD" in form])
def test_a_day_that_no_calendar_has_is_missing(form):
    def written(year, month, day):
        name = MONTHS[int(month) - 1] if 0 < int(month) <= len(MONTHS) else "Foo"
        written = form.replace("YYYY", year).replace("MM", month).replace("DD", day)
        return written.replace("Mon", name)

    cells = column(
        written("1970", "01", "02"),
        written("1972", "02", "29"),
        written("1970", "02", "29"),
        written("1970", "13", "01"),
        written("0000", "00", "00"),
    )
    np.testing.assert_array_equal(
        DatetimeParser(form).parse(cells) / SECONDS_OF_A_DAY, [1.0, 789.0, np.nan, np.nan, np.nan]
    )


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("YYYY-MM", ["1970-02", "1970/13", "0970-01"]),
        ("Mon-YYYY", ["Feb-1970", "Foo-1970", "Mar-70"]),
        ("MM/YYYY", ["2/1970", "13/1970", "1/3970"]),
    ],
)
def test_a_month_is_read_as_its_first_day(form, written):
    days = DatetimeParser(form).parse(column(*written)) / SECONDS_OF_A_DAY
    np.testing.assert_array_equal(days, [31.0, np.nan, np.nan])


def test_parts_of_a_second_are_those_of_a_stored_time():
    text = column("2024-05-06T07:08:09.123456789", "2024-05-06 07:08:09.5+02:00", "2024-05-06")
    stored = np.array(["2024-05-06T07:08:09.123456", "2024-05-06T07:08:09.5", "2024-05-06"])
    stored = stored.astype("datetime64[us]")
    np.testing.assert_array_equal(
        DatetimeParser().parse(text), DatetimeParser().parse(pa.chunked_array([stored]))
    )


def test_infinity_is_a_number_in_text_too():
    text = NumberParser().parse(column("inf", "-Infinity", "+INF", "1e400", "infinite"))
    stored = NumberParser().parse(column(np.inf, -np.inf, np.inf, np.inf, None))
    np.testing.assert_array_equal(text, stored)


def test_integers_are_categories_of_one_spelling():
    assert to_categories(column(1.0, 2.5, 1e15)).to_pylist() == ["1", "2.5", "1000000000000000"]
    assert to_categories(column("1.0", "1.", "01", "1.05")).to_pylist() == ["1", "1", "01", "1.05"]
    assert (
        to_categories(column(True)).to_pylist()
        == to_categories(column("True")).to_pylist()
        == ["true"]
    )


@pytest.mark.parametrize("later", ["y", "yes", "1", "1.0", "TRUE", 1, 1.0, True])
def test_booleans_are_spelled_as_in_training(later):
    parser, _ = BooleanParser.fit_parse(column("Y", "N", "Y"))
    assert parser.parse(column(later)).to_pylist() == ["Y"]
    assert parse_booleans(column(later)).tolist() == [1.0]


def test_a_table_is_encoded_alike_from_csv_and_from_parquet(tmp_path):
    rng = np.random.default_rng(0)
    missing_row = np.arange(N) == 7
    day = np.datetime64("2024-01-01T00:00:00") + 25_000 * np.arange(N).astype("timedelta64[s]")
    table = pa.table(
        {
            "amount": pa.array(
                np.where(np.arange(N) == 3, np.inf, rng.normal(size=N)), mask=missing_row
            ),
            "paid": pa.array(rng.integers(0, 2, N).astype(bool), mask=missing_row),
            "flag": pa.array(rng.integers(0, 2, N).astype(float), mask=missing_row),
            "code": pa.array(rng.integers(1, 4, N).astype(float), mask=missing_row),
            "word": rng.choice(["red", "blue", "green"], N),
            "day": pa.array(day, mask=missing_row),
        }
    )
    pa.parquet.write_table(table, tmp_path / "table.parquet")
    pa.csv.write_csv(table, tmp_path / "table.csv")
    table.to_pandas().to_csv(tmp_path / "pandas.csv", index=False)
    roles = {"code": "categorical"}
    tables = [to_arrow(tmp_path / name) for name in ("table.parquet", "table.csv", "pandas.csv")]
    fitted = [Schema.fit_parse(table, roles) for table in tables]
    assert [[one.role for one in schema] for schema, _ in fitted[:-1]] == 2 * [
        [one.role for one in fitted[-1][0]]
    ]
    for schema, parsed in fitted:
        encoder = TableEncoder.fit(schema, parsed)
        expected = encoder.transform(parsed)
        for other in tables:
            np.testing.assert_array_equal(encoder.transform(schema.parse(other)), expected)


@pytest.mark.parametrize(
    "parser",
    [NumberParser(","), DatetimeParser("DD/MM/YYYY"), BooleanParser("n", "y"), CategoryParser()],
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
def test_cells_of_any_type_can_be_read(parser, kind):
    assert len(parser.parse(mask_missing(pa.chunked_array([pa.nulls(3, kind)])))) == 3
    assert len(parser.parse(mask_missing(pa.chunked_array([], kind)))) == 0


def test_the_text_that_stands_for_a_missing_value_can_be_chosen():
    table = pa.table({"alley": ["None", "paved", "?", "", None] * 10})
    assert Schema.fit_parse(table)[1]["alley"].null_count == 30
    schema, parsed = Schema.fit_parse(table, missing_values=["?"])
    assert parsed["alley"].to_pylist()[:5] == ["None", "paved", None, None, None]
    assert schema.parse(table)["alley"].equals(parsed["alley"])
    [column] = schema
    assert (column.n_missing, column.note) == (30, "10 cells are '?', which counts as missing")
    assert Schema.fit_parse(table, missing_values=[])[1]["alley"].null_count == 20


def test_a_model_keeps_the_text_that_stands_for_a_missing_value(tmp_path):
    kinds = ["None", "paved", "gravel", "None"] * 25
    table = pa.table({"alley": kinds, "size": np.arange(100) % 7 / 2})
    fitted = TableDetector("trees", missing_values=["?"], random_state=0).fit(table)
    persistence.save(fitted, tmp_path / "a.model")
    loaded = persistence.load(tmp_path / "a.model")
    assert loaded.schema_.parse(table)["alley"].to_pylist() == kinds
    np.testing.assert_array_equal(loaded.decision_function(table), fitted.decision_scores_)
