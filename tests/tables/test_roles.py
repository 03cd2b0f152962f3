"""Roles of columns: found by values and names, or given."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from imboost.errors import IMBoostError
from imboost.tables.roles import Role
from imboost.tables.schema import Schema

N = 60
ROWS = range(N)
RNG = np.random.default_rng(0)

COLUMNS = {
    "numeric": [
        ("floats", RNG.normal(size=N)),
        ("counts", [row % 7 for row in ROWS]),
        ("numbers as text", [str(row / 3) for row in ROWS]),
        ("decimal commas", [f"{row},5" for row in ROWS]),
        ("a few words among numbers", ["?" if row == 5 else str(row % 9) for row in ROWS]),
        ("different but no row numbers", [3 * row for row in ROWS]),
        ("house_number", [row % 40 for row in ROWS]),
        ("prices", [f"${1000 * row:,.2f}" for row in ROWS]),
        ("percents", [f"{row / 2} %" for row in ROWS]),
        ("some without a number", ["-" if row % 9 == 0 else str(row / 3) for row in ROWS]),
        ("some below a limit", ["<0.5" if row % 9 == 0 else f"{row / 3}" for row in ROWS]),
        ("Umsatz", [f"{200 * row:,}".replace(",", ".") for row in ROWS]),
        ("durations", pa.array([datetime.timedelta(hours=row % 9) for row in ROWS])),
        ("year", list(range(1960, 2020))),
        ("any years", list(range(1960, 2020))),
        ("builtYear", [2000 + row for row in ROWS]),
        ("latitude", list(range(-30, 30))),
        ("zip_distance", [3 * row for row in ROWS]),
        ("decimals", pa.array([row / 8 for row in ROWS]).cast(pa.decimal128(10, 3))),
    ],
    "boolean": [
        ("truths", [row % 3 == 0 for row in ROWS]),
        ("yes and no", [["Yes", "no", None][row % 3] for row in ROWS]),
        ("zeros and ones", [row % 2 for row in ROWS]),
        ("in upper and lower case", [["Yes", "no", "yes", "NO"][row % 4] for row in ROWS]),
        ("as pandas writes some", [["1", "0", "1.0", "0.0"][row % 4] for row in ROWS]),
    ],
    "categorical": [
        ("words", [["red", "blue", "green"][row % 3] for row in ROWS]),
        ("codes with zeros", [f"0{row % 9 + 10}" for row in ROWS]),
        ("two words", [["red", "blue"][row % 2] for row in ROWS]),
        ("one value or none", [None if row % 4 else "x" for row in ROWS]),
        ("dictionary", pa.array(["a", "b", "c"] * 20).dictionary_encode()),
        ("a pandas category", pa.array([row % 4 for row in ROWS]).dictionary_encode()),
        ("merchant_id", [1000 + 7 * (row // 3) for row in ROWS]),
        ("words and numbers", [["red", "1", "2"][row % 3] for row in ROWS]),
        ("zip", [10000 + 7 * row for row in ROWS]),
        ("shipping_postal_code", [10000 + row % 9 for row in ROWS]),
        ("customerZip", [str(10000 + row // 2) for row in ROWS]),
        ("PLZ", [f"{row + 1000:05d}" if row else "01001" for row in ROWS]),
    ],
    "datetime": [
        ("dates", [datetime.date(2024, 1, 1 + row % 28) for row in ROWS]),
        ("times with zone", [f"2024-01-01T10:{row:02d}:00+02:00" for row in ROWS]),
        ("days first", [f"{1 + row % 28:02d}.02.2024" for row in ROWS]),
        ("times with strokes", [f"{1 + row % 28:02d}/02/2024 10:{row:02d}" for row in ROWS]),
        ("time of day", pa.array([datetime.time(row % 24) for row in ROWS])),
        ("clocks as text", [f"{row % 24}:{row:02d}" for row in ROWS]),
        (
            "some without a time",
            ["-" if row % 9 == 0 else f"2024-01-{1 + row % 28}" for row in ROWS],
        ),
        ("months named", [f"{['Jan', 'Mar', 'May'][row % 3]}-{2010 + row // 9}" for row in ROWS]),
        ("long months", [f"{['January', 'march'][row % 2]} {2010 + row}" for row in ROWS]),
        ("months", [f"{2010 + row // 12}-{row % 12 + 1:02d}" for row in ROWS]),
        ("months first", [f"{row % 12 + 1}/{2010 + row // 12}" for row in ROWS]),
        ("halves of the day", [f"02/{1 + row % 28}/2024 3:{row:02d} PM" for row in ROWS]),
        ("days first with strokes", [f"{1 + row % 28:02d}/02/2024" for row in ROWS]),
    ],
    "identifier": [
        ("customer_id", [1000 + 7 * row for row in ROWS]),
        ("USER ID", [1000 + 7 * row for row in ROWS]),
        ("any name", list(ROWS)),
        ("one number lacks", [None if row == 9 else row for row in ROWS]),
        ("EmployeeNumber", [1000.0 + 7 * row for row in ROWS]),
        ("id_kunde", [None if row == 9 else 7.0 * row for row in ROWS]),
        ("codes", [f"X{row}-{row * 7}" for row in ROWS]),
        ("nearly all differ", [f"X{max(row, 3)}" for row in ROWS]),
        ("orderId", [f"A{row // 2 * 2 if row < 9 else row}" for row in ROWS]),
    ],
    "constant": [("same", [1] * N), ("nothing", [None] * N), ("nan", [float("nan")] * N)],
    "text": [("remarks", [f"the customer said {row} words to us" for row in ROWS])],
    "ignored": [("lists", [[row] for row in ROWS])],
}
CASES = [(role, name, cells) for role, columns in COLUMNS.items() for name, cells in columns]


@pytest.mark.parametrize(("role", "name", "cells"), CASES, ids=[case[1] for case in CASES])
def test_the_role_of_a_column_is_found(role, name, cells):
    table = pa.table({name: cells, "other": RNG.normal(size=N)})
    assert Schema.fit(table).columns[0].role == role


def test_another_column_may_decide_whether_commas_are_decimal():
    cells = {"weight": ["1,234", "2,345"] * 20, "size": ["1,5", "2,25"] * 20}
    schema = Schema.fit(pa.table(cells))
    assert [column.note for column in schema] == 2 * ["2,5 is read as 2.5"]
    assert schema.parsers["weight"].parse(pa.chunked_array([["1,234"]])) == [1.234]
    [column, _] = Schema.fit(pa.table({"weight": cells["weight"], "size": ["1", "2"] * 20}))
    assert column.note == "1,234 is read as 1234"


def test_decimal_commas_of_another_column_keep_numbers_from_being_identifiers():
    table = pa.table(
        {
            "price": [f"{row},{10 + row % 80}" for row in ROWS],
            "weight": [f"1,{200 + row}" for row in ROWS],
        }
    )
    schema, parsed = Schema.fit_parse(table)
    assert [column.role for column in schema] == ["numeric", "numeric"]
    assert parsed["weight"].tolist() == pytest.approx([1.2 + row / 1000 for row in ROWS])


def test_cells_that_cannot_be_parsed_are_counted_in_the_note():
    cells = ["?" if row < 2 else str(3 * row) for row in ROWS]
    [column] = Schema.fit(pa.table({"a": cells}))
    assert column.role == Role.NUMERIC
    assert (column.note, column.n_unparsed) == ("2 cells hold no number and count as missing", 2)


def repeated(n_distinct, n_rows):
    """Return text with some distinct values, the first of them in all further rows."""
    return [f"X{row if row < n_distinct else 0}" for row in range(n_rows)]


LIMITS = [
    ("19 distinct integers", "n", list(range(19)), "numeric"),
    ("20 distinct integers", "n", list(range(20)), "identifier"),
    ("integers in a range as wide as the rows", "n", [*range(59), 60], "numeric"),
    ("integers in a narrower range", "n", list(range(60)), "identifier"),
    ("19 distinct texts", "x", repeated(19, 19), "categorical"),
    ("20 distinct texts", "x", repeated(20, 20), "identifier"),
    ("48 of 49 texts are distinct", "x", repeated(48, 49), "identifier"),
    ("47 of 49 texts are distinct", "x", repeated(47, 49), "categorical"),
    ("49 of 50 texts are distinct", "x", repeated(49, 50), "identifier"),
    ("90 of 100 texts are distinct", "x", repeated(90, 100), "categorical"),
    ("91 of 100 texts are distinct", "x", repeated(91, 100), "identifier"),
    ("half of 20 texts are distinct", "user_id", repeated(10, 20), "categorical"),
    ("more than half are distinct", "user_id", repeated(11, 20), "identifier"),
    ("numbers of rows, 1 of 100 repeated", "n", [*range(99), 98], "identifier"),
    ("numbers of rows, 2 of 100 repeated", "n", [*range(98), 97, 97], "numeric"),
    (
        "numbers, 1 of 100 repeated, in any order",
        "n",
        [98, *range(0, 99, 2), *range(97, 0, -2)],
        "numeric",
    ),
    ("91 of 100 keys are distinct", "order_id", [*range(0, 455, 5)] + [0] * 9, "identifier"),
    ("90 of 100 keys are distinct", "order_id", [*range(0, 450, 5)] + [0] * 10, "categorical"),
    ("numbers, 1 of 100 repeated", "number", [*range(0, 495, 5), 0], "identifier"),
    ("numbers, 2 of 100 repeated", "number", [*range(0, 490, 5), 0, 0], "numeric"),
    ("more than half of 19 are distinct", "user_id", repeated(18, 19), "categorical"),
    ("less than 4 words on average", "x", [f"a b c{row}" for row in range(20)], "identifier"),
    ("4 words on average", "x", [f"a b c d{row}" for row in range(20)], "text"),
    ("95 of 100 cells are numbers", "x", ["1", "2", "3", "4", "5"] * 19 + 5 * ["x"], "numeric"),
    ("94 of 100 cells are numbers", "x", ["1", "2"] * 47 + 6 * ["x"], "categorical"),
    (
        "5 of 100 numbers begin with zero",
        "x",
        ["1", "2", "3", "4", "5"] * 19 + 5 * ["07"],
        "numeric",
    ),
    ("6 of 100 begin with zero", "x", ["1", "2"] * 47 + 6 * ["07"], "categorical"),
]


@pytest.mark.parametrize(
    ("name", "cells", "role"), [case[1:] for case in LIMITS], ids=[case[0] for case in LIMITS]
)
def test_limits_of_roles(name, cells, role):
    table = pa.table({name: cells, "other": RNG.normal(size=len(cells))})
    assert Schema.fit(table).columns[0].role == role


@pytest.mark.parametrize(
    ("name", "cells", "note"),
    [
        ("key", [7 * row for row in ROWS], "identifier by its name; not used for scoring"),
        ("any", list(ROWS), "numbers the rows; not used for scoring"),
        ("any", [f"X{row}" for row in ROWS], "all values differ; not used for scoring"),
        (
            "any",
            [f"X{max(row, 3)}" for row in ROWS],
            "95% distinct values; not used for scoring",
        ),
        ("day", ["03/04/2024", "05/06/2024"], "day and month are ambiguous; read as DD/MM/YYYY"),
        ("sum", ["1,234", "5,678", "1"], "1,234 is read as 1234"),
        ("land", ["DE", "FR"] * 9 + ["NA"], "1 cell is 'NA', which counts as missing"),
        ("who_id", [row // 2 for row in ROWS], "codes by its name"),
        (
            "sum",
            ["1,234"] * 30 + ["5,678"] * 29 + ["?"],
            "1,234 is read as 1234; 1 cell holds no number and counts as missing",
        ),
    ],
)
def test_a_note_gives_the_reason_for_a_role(name, cells, note):
    table = pa.table({name: cells, "other": RNG.normal(size=len(cells))})
    assert Schema.fit(table).columns[0].note == note


def test_given_roles_are_kept():
    table = pa.table(
        {"code": [row % 5 for row in ROWS], "id": list(ROWS), "x": RNG.normal(size=N)}
    )
    schema = Schema.fit(table, {"code": "categorical", "id": "numeric", "x": "ignored"})
    assert [column.role for column in schema] == ["categorical", "numeric", "ignored"]


@pytest.mark.parametrize(
    ("columns", "given", "error"),
    [
        ({"a": [1, 2]}, {"b": "numeric"}, "Unknown column 'b'"),
        ({"a": [1, 2]}, {"a": "numerical"}, "Did you mean 'numeric'"),
        ({"a": pa.array([], pa.int64())}, {}, "header but no rows"),
        (
            {"a": [1, 1], "b": [None, None]},
            {},
            "No column can be used.*a .constant., b .constant.",
        ),
        (
            {"a": ["x", "y"]},
            {"a": "numeric"},
            "^Column 'a' cannot be numeric: no cell holds a number.$",
        ),
        (
            {"a": ["x", "y"]},
            {"a": "datetime"},
            "^Column 'a' cannot be datetime: no cell holds a date or time.$",
        ),
        (
            {"a": ["x", "z"]},
            {"a": "boolean"},
            "^Column 'a' cannot be boolean: no cell holds a boolean.$",
        ),
        (
            {"a": [None, None]},
            {"a": "numeric"},
            "^Column 'a' cannot be numeric: no cell holds a number.$",
        ),
        (
            {"a": [1.5, 2.5]},
            {"a": "datetime"},
            "^Column 'a' cannot be datetime: no cell holds a date or time.$",
        ),
        (
            {"a": [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]},
            {"a": "numeric"},
            "^Column 'a' cannot be numeric: no cell holds a number.$",
        ),
        ({"a": [[1], [2]]}, {"a": "numeric"}, "'a' holds list.* cannot be numeric"),
    ],
)
def test_impossible_roles_and_tables_are_refused(columns, given, error):
    with pytest.raises(IMBoostError, match=error):
        Schema.fit(pa.table(columns), given)


@pytest.mark.parametrize("kind", ["string_view", "dictionary"])
def test_missing_strings_are_noted_for_every_kind_of_text(kind):
    text = pa.array(["red", "blue", "N/A"] * 20)
    types = {"string_view": pa.string_view(), "dictionary": pa.dictionary(pa.int32(), pa.string())}
    [column] = Schema.fit(pa.table({"colour": text.cast(types[kind])})).columns
    assert "20 cells are 'N/A'" in column.note
