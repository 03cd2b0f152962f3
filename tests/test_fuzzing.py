"""Random files end in a table or one clear line: no other error, no crash, no lost row.

`IMBOOST_FUZZ_CASES` sets the number of cases of each test; for models it is a fifth.
"""

import csv
import hashlib
import io
import json
import os
from copy import deepcopy

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imboost import TableDetector, persistence
from imboost.detectors import Stack
from imboost.errors import IMBoostError
from imboost.tables.files import TableFiles
from imboost.tables.schema import Schema
from program_running import orders

N_CASES = int(os.environ.get("IMBOOST_FUZZ_CASES", "100"))
fuzz, fuzz_models = (
    settings(
        max_examples=n,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    for n in (N_CASES, max(N_CASES // 5, 1))  # a model takes half a second
)

CELLS = st.one_of(
    st.text(max_size=12),
    st.text(alphabet='ab1,;\t|"\n\r =-\x1b\x00é', max_size=12),
    st.sampled_from(["", "NA", "1,5", "1.5", "-0", "2024-02-30", "2024-01-01", "true", "=1+1"]),
    st.floats().map(str),
    st.integers().map(str),
)
TYPES = st.sampled_from(
    [
        *(pa.int8(), pa.uint64(), pa.float16(), pa.float64(), pa.bool_(), pa.null(), pa.date32()),
        *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary_view()),
        *(pa.timestamp("s"), pa.timestamp("us", "UTC"), pa.timestamp("ms", "Mars/Olympus")),
        *(pa.duration("ns"), pa.time64("us"), pa.decimal128(20, 3), pa.decimal256(50, 2)),
        *(pa.list_(pa.string()), pa.struct([("a", pa.int8())]), pa.list_(pa.string_view())),
    ]
)


def check_line(error):
    assert "\n" not in str(error)


def read(path):
    """Return the rows of a table and of its batches, or None if it is refused in one line."""
    try:
        files = TableFiles.find(path)
        table = files.read()
        n_rows = sum(batch.num_rows for batch in files.batches(7))
        if files.n_rows is not None:
            assert files.n_rows == n_rows
        assert table.num_rows == n_rows
        Schema.fit_parse(table)
    except IMBoostError as error:
        check_line(error)
        return None if "table" not in locals() else table
    return table


@fuzz
@given(content=st.binary(max_size=200), start=st.sampled_from([b"", b"a,b\n", b"a;b\n1;2\n"]))
def test_any_bytes_are_a_csv_file_or_refused(tmp_path_factory, content, start):
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_bytes(start + content)
    read(path)


@fuzz
@given(
    rows=st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=12)
    ),
    delimiter=st.sampled_from(",;\t|"),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_every_row_of_a_csv_file_is_read_or_the_file_is_refused(
    tmp_path_factory, rows, delimiter, line_end
):
    path = tmp_path_factory.getbasetemp() / "rows.csv"
    names = [f"column {number}" for number in range(len(rows[0]))]
    buffer = io.StringIO(newline="")
    writer = csv.writer(
        buffer, delimiter=delimiter, lineterminator=line_end, quoting=csv.QUOTE_ALL
    )
    writer.writerows([names, *rows])
    path.write_bytes(buffer.getvalue().encode("utf-8", errors="replace"))
    table = read(path)
    if table is not None:
        assert table.num_rows == len(rows)
        expected = [[cell.encode("utf-8", "replace").decode() for cell in row] for row in rows]
        found = [list(row.values()) for row in table.to_pylist()]
        assert [[cell or "" for cell in row] for row in found] == expected


def column(kind, seeds):
    """Return an array of a type from whole numbers."""
    values = [None if seed % 5 == 0 else seed for seed in seeds]
    if pa.types.is_nested(kind):
        inner = {"a": 1} if pa.types.is_struct(kind) else ["x"]
        return pa.array([None if value is None else inner for value in values], kind)
    if any(word in str(kind) for word in ("string", "binary")):
        texts = [None if value is None else f"v{value}" for value in values]
        return pa.array(texts, pa.string()).cast(pa.binary()).cast(kind)
    if pa.types.is_null(kind):
        return pa.nulls(len(seeds))
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return pa.array(values, pa.int64()).cast(pa.float64()).cast(kind)
    width = pa.int32() if kind.bit_width == 32 else pa.int64()
    return pa.array(values, width).cast(kind)


@fuzz
@given(
    kinds=st.lists(TYPES, min_size=1, max_size=4),
    names=st.lists(st.text(max_size=8), min_size=4, max_size=4, unique=True),
    seeds=st.lists(st.integers(0, 100), max_size=30),
    damage=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=3),
)
def test_every_row_of_a_parquet_file_is_read_or_the_file_is_refused(
    tmp_path_factory, kinds, names, seeds, damage
):
    path = tmp_path_factory.getbasetemp() / "fuzz.parquet"
    names = [name.encode("utf-8", "replace").decode() for name in names]
    table = pa.table([column(kind, seeds) for kind in kinds], names=names[: len(kinds)])
    pq.write_table(table, path)
    content = bytearray(path.read_bytes())
    for position, value in damage:
        content[position % len(content)] = value
    path.write_bytes(content)
    found = read(path)
    if found is not None and not damage:
        assert found.num_rows == len(seeds)


class Saved:
    """The files of a model by name, and rows to score."""

    def __init__(self, contents, rows):
        self.contents, self.rows = contents, rows


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model with forests."""
    table = orders(80, labelled=True).select(["order_id", "amount", "region", "is_wrong"])
    labels = np.array(
        [{"yes": 1, "no": 0}.get(text, -1) for text in table["is_wrong"].to_pylist()]
    )
    rows = table.drop_columns(["is_wrong"])
    stack = Stack(n_trees=2, n_isolation_trees=2, random_state=0)
    folder = tmp_path_factory.mktemp("models") / "model"
    persistence.save(TableDetector(stack, random_state=0).fit(rows, labels), folder)
    return Saved({path.name: path.read_bytes() for path in folder.iterdir()}, rows)


def numbers_in(part, found):
    """Collect the places of numbers, names and lists in JSON."""
    inner = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in inner:
        found.append((part, key))
        if isinstance(value, dict | list):
            numbers_in(value, found)
    return found


VALUES = st.sampled_from(
    [0, -1, 1, 2**31, 2**63, -(2**40), 1e300, "nan", "", None, [], {}, True, {"float": "nan"}]
)


@pytest.mark.filterwarnings("ignore")  # of numpy about wrong numbers, which are no errors
@fuzz_models
@given(
    which=st.sampled_from(["model.json", "arrays.safetensors", "bytes"]),
    places=st.lists(st.tuples(st.integers(0, 10**6), VALUES), min_size=1, max_size=3),
    seed=st.integers(0, 2**31),
)
def test_a_sealed_model_loads_and_scores_or_is_refused(
    tmp_path_factory, saved, which, places, seed
):
    contents, rows = dict(saved.contents), saved.rows
    rng = np.random.default_rng(seed)
    if which == "model.json":
        structure = json.loads(contents[which])
        for place, value in places:
            spots = numbers_in(structure, [])
            part, key = spots[place % len(spots)]
            part[key] = deepcopy(value)
        contents[which] = json.dumps(structure).encode()
    elif which == "arrays.safetensors":
        arrays = safetensors.numpy.load(contents[which])
        for place, _ in places:
            name = sorted(arrays)[place % len(arrays)]
            arrays[name] = _changed(arrays[name], rng)
        contents[which] = safetensors.numpy.save(arrays)
    else:
        name = ["model.json", "arrays.safetensors"][places[0][0] % 2]
        content = bytearray(contents[name])
        for place, _ in places:
            content[place % len(content)] = int(rng.integers(256))
        contents[name] = bytes(content)
    folder = tmp_path_factory.getbasetemp() / "fuzzed-model"
    folder.mkdir(exist_ok=True)
    del contents["checksums.txt"]
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in contents.items()]
    for name, data in [*contents.items(), ("checksums.txt", "".join(lines).encode())]:
        (folder / name).write_bytes(data)
    try:
        scores = persistence.load(folder).decision_function(rows)
    except IMBoostError as error:
        check_line(error)
    else:
        assert len(scores) == rows.num_rows


def _changed(array, rng):
    """Return an array with other values, another length or another type."""
    way = rng.integers(4)
    if way == 0:
        return np.ascontiguousarray(array[: len(array) // 2] if array.ndim else array)
    if way == 1:
        return array.astype(rng.choice(["float32", "int64", "uint8"]))
    if way == 2 and array.size:
        changed = array.copy()
        changed.flat[rng.integers(array.size)] = rng.choice([-1, 0, 1, 127])
        return changed
    return np.concatenate([array, array]) if array.ndim else array
