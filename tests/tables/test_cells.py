"""Arrow tables from outside: every type is used, left out or refused in one line."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imboost.errors import DataError
from imboost.tables.encoder import CategoryEncoder
from imboost.tables.files import TableFiles
from imboost.tables.frames import to_arrow
from imboost.tables.schema import Schema
from program_running import refused, run_well, write

N = 30


def with_column(values):
    return pa.table({"size": np.arange(N) / 7, "x": values})


@pytest.mark.parametrize(
    "values",
    [
        pa.array([f"v{row % 3}" for row in range(N)], pa.string_view()),
        pa.array([row % 3 for row in range(N)], pa.int64()).cast(pa.float64()).cast(pa.float16()),
        pa.array([row % 7 for row in range(N)], pa.decimal32(5, 2)),
        pa.DictionaryArray.from_arrays(
            pa.array([row % 2 for row in range(N)], pa.int8()), pa.array(["a", "b"], "string_view")
        ),
        pa.RunEndEncodedArray.from_arrays(pa.array([10, N], pa.int32()), pa.array(["a", "b"])),
    ],
    ids=lambda values: str(values.type),
)
def test_unusual_types_are_features(values):
    schema = Schema.fit(to_arrow(with_column(values)))
    assert schema.columns[1].role.is_feature


@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"\xff"] * N, pa.binary_view()),
        pa.array([(1, 2, 3)] * N, pa.month_day_nano_interval()),
        pa.array([[1]] * N),
    ],
    ids=lambda values: str(values.type),
)
def test_types_without_single_cells_are_left_out(values):
    schema = Schema.fit(to_arrow(with_column(values)))
    assert str(schema.columns[1].role) == "ignored"


def test_a_parquet_file_of_string_views_is_scored(tmp_path):
    table = with_column(pa.array([f"v{row % 3}" for row in range(N)], pa.string_view()))
    pq.write_table(table, tmp_path / "t.parquet")
    assert TableFiles.find(tmp_path / "t.parquet").read().column("x").type == pa.string()
    run_well("fit", tmp_path / "t.parquet", "--detector", "trees")
    run_well("score", tmp_path / "t.model", tmp_path / "t.parquet")


def test_text_that_is_not_utf8_is_refused(tmp_path):
    binary = pa.array([b"ok"] * (N - 1) + [b"\xff\xfe"])
    text = pa.Array.from_buffers(pa.string(), N, binary.buffers())
    pq.write_table(with_column(text), tmp_path / "t.parquet")
    assert "column 'x': it holds text that is not UTF-8" in refused("fit", tmp_path / "t.parquet")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "[/red]", "\x1b[31m"])
def test_an_unknown_time_zone_is_refused(tmp_path, zone):
    table = with_column(pa.array(range(N), pa.timestamp("us", zone)))
    line = refused("fit", write(table, tmp_path / "t.parquet"))
    assert "has a time zone that is not known; write the times in UTC" in line
    assert "\x1b" not in line


def test_offsets_that_go_back_are_refused():
    offsets = pa.py_buffer(np.array([0, 3] * (N // 2) + [3], np.int32).tobytes())
    text = pa.Array.from_buffers(pa.string(), N, [None, offsets, pa.py_buffer(b"abc")])
    with pytest.raises(DataError, match="column 'x': its cells are damaged"):
        to_arrow(with_column(text))


@pytest.mark.parametrize(
    "name", ["[bold red]x[/]", "[/nothing]", "\x1b[31mred", "<b>x</b>", "a\nb"]
)
def test_names_with_markup_or_escape_codes_are_shown_as_text(tmp_path, name):
    rng = np.random.default_rng(0)
    kinds = [f"\x1b]0;{row % 3}\x07[red]" for row in range(60)]
    table = pa.table({name: rng.normal(size=60), f"kind {name}": kinds})
    path = write(table, tmp_path / "t.parquet")
    fitted = run_well("fit", path, "--detector", "imboost")
    model = tmp_path / "t.model"
    outputs = [
        fitted.text,
        run_well("score", model, path).text,
        run_well("explain", model, path).text,
        run_well("report", model, path).text,
    ]
    assert not any(code in text for text in outputs for code in ("\x1b", "\x07"))
    assert name.replace("\x1b", "").replace("\n", " ") in fitted.text


def test_file_names_with_escape_codes_do_not_reach_the_terminal(tmp_path):
    line = refused("fit", tmp_path / "\x1b[31mred.csv")
    assert line.endswith("[31mred.csv does not exist.")
    assert "\x1b" not in line


def test_the_columns_of_very_many_categories_are_computed_once():
    encoder = CategoryEncoder.fit(pa.chunked_array([[f"c{n}" for n in range(333_000)]]))
    assert encoder.column_of_category is encoder.column_of_category
    [matrix] = encoder.transform(pa.chunked_array([["c1", "c332999", "new"]]))
    assert matrix.shape == (3, 51)
