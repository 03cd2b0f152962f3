import csv
import io

import pandas as pd
import pytest

from imboost_bench.report.formatting import format_value
from imboost_bench.report.report_table import Matrix, Table
from page_reading import markdown_tables

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (0.12345, "figure", "0.123"),
        (1, "figure", "1.000"),
        (0.05, "signed", "+0.050"),
        (-0.05, "signed", f"{MINUS}0.050"),
        (-0.0001, "signed", "0.000"),
        (0.05, "margin", "± 0.050"),
        (1234.56, "number", "1,234.6"),
        (1.539, "ratio", "1.54 ×"),
        (12, "count", "12"),
        ("1 to 3", "count", "1 to 3"),
        (None, "figure", DASH),
        (float("nan"), "signed", DASH),
        ("", "text", DASH),
    ],
)
def test_a_value_has_the_format_of_its_column_and_a_missing_one_is_a_dash(value, kind, text):
    assert format_value(value, kind) == text


TABLE = Table(
    pd.DataFrame(
        [["a|b <i>", 0.5, -0.25], ["c, d", float("nan"), None]],
        columns=["method", "AUC", "change"],
    ),
    {"AUC": "figure", "change": "signed"},
)
MATRIX = Matrix(
    pd.DataFrame(
        [[0.75, 1.0], [None, 0.5]],
        index=pd.Index(["wine", "musk"], name="data set"),
        columns=["x", "y"],
    ),
    summary={"mean": ("figure", [0.75, 0.75]), "wins": ("number", [0.0, 2.0])},
)


def test_markdown_keeps_texts_from_ending_their_cells():
    assert TABLE.markdown().splitlines()[2] == rf"| a\|b &lt;i> | 0.500 | {MINUS}0.250 |"
    [[header, _, *rows]] = markdown_tables(MATRIX.markdown())
    assert header == ["data set", "x", "y"]
    assert rows == [
        ["wine", "0.750", "1.000"],
        ["musk", DASH, "0.500"],
        ["**mean**", "0.750", "0.750"],
        ["**wins**", "0.0", "2.0"],
    ]


def test_sheets_read_back_as_they_were():
    assert list(csv.reader(io.StringIO(TABLE.csv()))) == [
        ["method", "AUC", "change"],
        ["a|b <i>", "0.5", "-0.25"],
        ["c, d", "", ""],
    ]
    assert list(csv.reader(io.StringIO(MATRIX.csv())))[2:] == [
        ["musk", "", "0.5"],
        ["mean", "0.75", "0.75"],
        ["wins", "0", "2"],
    ]
