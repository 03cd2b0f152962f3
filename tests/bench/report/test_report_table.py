import csv
import io

import pandas as pd
import pytest

from imboost_bench.report.tables import Table, format_value
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
MATRIX = Table(
    pd.DataFrame(
        [["wine", 0.75, 1.0], ["musk", None, 0.5], ["mean", 0.75, 0.75], ["wins", 0.0, 2.0]],
        columns=["data set", "x", "y"],
    ),
    summary={"mean": "figure", "wins": "number"},
    scale=(0.5, 1.0),
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


def test_a_matrix_marks_the_best_of_a_row_and_shades_by_size():
    low, high = MATRIX.styles.iloc[0]
    assert low == "background:rgba(0,114,178,0.25);"
    assert high == "background:rgba(0,114,178,0.50);font-weight:700"


def test_a_row_with_one_figure_has_no_best_and_chance_no_shade():
    assert MATRIX.styles.iloc[1].tolist() == ["", ""]
    assert MATRIX.texts[1] == ["musk", DASH, "0.500"]


def test_summary_rows_have_neither_a_best_nor_a_shade():
    assert (MATRIX.styles.iloc[2:] == "").all(axis=None)


def test_signs_of_differences_have_shades_of_their_own():
    frame = pd.DataFrame(
        [["wine", 0.3, -0.3], ["mean", 0.3, -0.3]], columns=["data set", "x", "y"]
    )
    styles = Table(frame, summary={"mean": "signed"}, scale=(0.0, 0.3)).styles.iloc[0]
    assert styles.tolist() == [
        f"background:rgba({rgb},0.50);" for rgb in ("0,114,178", "213,94,0")
    ]


def test_columns_follow_from_their_types_unless_their_name_or_the_table_says_otherwise():
    values = {"method": ["a"], "runs": [2], "AUC": [0.5], "seconds": [1.0], "own": [0.5]}
    kinds = dict(Table(pd.DataFrame(values), {"own": "margin"}).columns)
    assert list(kinds.values()) == ["text", "count", "figure", "number", "margin"]
