"""A body is parsed as Python's own parser would, but row by row and within limits."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_quick
from imboost import TableDetector
from imboost.serving import body as reading
from imboost.serving.body import MAX_ROW_LENGTH, RequestError, read_rows
from imboost.serving.schemas import RowModel
from imboost.web.workers import Deadline
from program_running import orders

ANYTHING = SimpleNamespace(n_columns=100, validate=lambda cells: cells)
"""A row model that takes any row as it is."""

cells = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
rows_of_json = st.lists(st.dictionaries(st.text(), cells, max_size=4), min_size=1, max_size=6)


def read(content, model=ANYTHING, n_rows=10, seconds=60):
    content = content.encode() if isinstance(content, str) else content
    return read_rows(model, n_rows, content, Deadline(seconds))


@given(
    rows=rows_of_json,
    indent=st.sampled_from([None, 1, "\t\r\n"]),
    is_ascii=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32-be"]),
    window=st.sampled_from([1, 2, 3, 7, 1000]),
)
def test_the_rows_are_those_of_pythons_parser(rows, indent, is_ascii, encoding, window):
    text = json.dumps({"rows": rows}, indent=indent, ensure_ascii=is_ascii)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "WINDOW_BYTES", window)
        assert read(text.encode(encoding, "surrogatepass")) == rows


@given(rows=rows_of_json, data=st.data())
def test_a_body_that_is_cut_off_is_never_read(rows, data):
    text = json.dumps({"rows": rows})
    end = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(RequestError):
        read(text[:end])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[]", "object with the field 'rows'"),
        ("{}", "rows: Field required"),
        ('{"rows": []}', "at least 1 item"),
        ('{"rows": {}}', "valid list"),
        ('{"rows": [1]}', "Each row should be an object"),
        ('{"rows": ["a"]}', "row 0: Input should be an object"),
        ('{"rows": [{}, []]}', "Each row should be an object"),
        ('{"rows": [{}]} {}', "not JSON"),
        ('{"rows": [{}],}', "Extra inputs are not permitted"),
        ('{"rows": [{}], "rows": [{}]}', "Extra inputs are not permitted"),
        ('{"x": 1, "rows": [{}]}', "body x: Extra inputs are not permitted"),
        ('{"rows": [{},]}', "Each row should be an object"),
        ('{"rows": [{} {}]}', "not JSON"),
        ('{"rows": [{"a": ' + "[" * 100_000, "not JSON"),
        ('{"rows": [{"a": ' + "9" * 5000 + "}]}", "too many digits"),
        (b'{"rows": [{"a": "\xff"}]}', "not JSON"),
    ],
    ids=range(17),
)
def test_other_bodies_are_rejected(text, message):
    with pytest.raises(RequestError, match=message):
        read(text)


def test_rows_beyond_the_limit_are_not_parsed():
    with pytest.raises(RequestError, match="at most 10 items"):
        read('{"rows": [' + "{}, " * 10 + "{}, this is not even JSON")


def test_a_row_has_a_maximum_length_and_number_of_columns():
    def row_of(n_characters):
        return json.dumps({"rows": [{"a": "x" * n_characters}]})

    assert read(row_of(MAX_ROW_LENGTH // 2))
    with pytest.raises(RequestError, match="more than 1,048,576 characters"):
        read(row_of(3 * MAX_ROW_LENGTH))
    many = {f"c{at}": 1 for at in range(111)}
    with pytest.raises(RequestError, match="row 1 has 111 columns; the training table had 100"):
        read(json.dumps({"rows": [{}, many]}))


def test_the_deadline_is_checked_between_rows():
    with pytest.raises(TimeoutError):
        read('{"rows": [{}]}', seconds=-1)


def test_only_the_first_errors_are_listed():
    model = RowModel(TableDetector(make_quick("trees")).fit(orders()))
    with pytest.raises(RequestError) as raised:
        read('{"rows": [{}, {}]}', model)
    listed = str(raised.value).split("; ")
    assert [text.startswith("row 0 lacks the column") for text in listed] == [True] * 3 + [False]
    assert listed[-1] == "and more errors"
