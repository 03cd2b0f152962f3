"""Planted errors are found, with their rows; columns without errors have no findings."""

import datetime

import numpy as np
import pandas as pd
import pytest

from imboost.errors import UnknownNameError
from imboost.findings import check_table
from imboost.present import wording

N = 400
TODAY = datetime.date(2026, 6, 1)


def clean(seed=0):
    """Return a table without errors."""
    rng = np.random.default_rng(seed)
    net, tax = np.round(rng.lognormal(5, 1, N), 2), np.round(rng.lognormal(2, 1, N), 2)
    frame = pd.DataFrame(
        {
            "order_id": [f"A-{number:05d}" for number in range(N)],
            "age": rng.integers(18, 90, N),
            "region": rng.choice(["North", "South", "Centre"], N),
            "phase": rng.choice(["Phase 1", "Phase 2", "Phase 3"], N),
            "code": rng.choice(["A1", "A2", "B1", "B2"], N),
            "net": net,
            "tax": tax,
            "total": np.round(net + tax, 2),
            "height": np.round(rng.normal(175, 9, N), 1),
            "children": rng.poisson(1.2, N),
            "ordered": (np.datetime64("2021-01-01") + rng.integers(0, 800, N)).astype(str),
            "built_year": rng.integers(1930, 2015, N),
            "remark": [f"some words about {number} to read" for number in range(N)],
        }
    )
    return frame.astype(object)


def check(frame, kind):
    return check_table(frame.astype(str), only=[kind], today=TODAY)


def planted(column, rows, value):
    frame = clean()
    for row in rows:
        old = frame.loc[row, column]
        frame.loc[row, column] = value(old) if callable(value) else value
    return frame


def test_a_table_without_errors_has_no_findings():
    assert check_table(clean().astype(str), today=TODAY) == []


CELLS = [
    ("sentinels", "age", 999, "age is 999 in 2 rows"),
    ("sentinels", "age", -1, "age is -1 in 2 rows"),
    ("sentinels", "height", 0, "height is 0 in 2 rows"),
    ("sentinels", "children", 99, "children is 99 in 2 rows"),
    ("sentinels", "children", -1, "children is -1 in 2 rows"),
    ("sentinels", "net", 99999, "net is 99,999 in 2 rows"),
    ("sentinels", "ordered", "1900-01-01", "ordered is 1900-01-01 in 2 rows"),
    ("sentinels", "ordered", "9999-12-31", "ordered is 9999-12-31 in 2 rows"),
    ("dates", "ordered", "2207-03-04", "2 values of ordered are in the future: '2207-03-04'."),
    ("dates", "ordered", "1921-03-04", "2 values of ordered are far from all others"),
    ("dates", "ordered", "2021-02-30", "2 cells of ordered are no possible date"),
    ("dates", "ordered", "2021-13-01", "2 cells of ordered are no possible date"),
    ("dates", "built_year", 2207, "2 values of built_year are in the future: '2207'."),
    ("dates", "built_year", 1392, "2 values of built_year are far from all others"),
    ("spellings", "region", "Nroth", "'Nroth' (2 rows) for 'North'"),
    ("spellings", "region", "north", "'north' (2 rows) for 'North'"),
    ("spellings", "region", "Cen tre", "'Cen tre' (2 rows) for 'Centre'"),
    ("spellings", "region", "North ", "2 cells of region begin or end with a space."),
    ("spellings", "phase", "Phsae 1", "'Phsae 1' (2 rows) for 'Phase 1'"),
    ("relations", "total", 5.0, "total should be net + tax = "),
    ("unreadable", "age", "many", "2 cells of age hold no number: 'many'."),
    ("unreadable", "ordered", "soon", "2 cells of ordered hold no date or time: 'soon'."),
]


@pytest.mark.parametrize(("kind", "column", "value", "message"), CELLS)
def test_a_wrong_cell_is_found(kind, column, value, message):
    [finding] = check(planted(column, [7, 90], value), kind)
    assert message in wording.finding(finding.facts)
    assert (finding.kind, finding.rows) == (kind, (7, 90))
    assert column in finding.columns
    assert len(finding.facts) == 2
    assert all(fact.column in finding.columns for fact in finding.facts)


def test_only_the_kind_of_the_error_is_found():
    frame = planted("age", [7], 999)
    assert [finding.kind for finding in check_table(frame.astype(str), today=TODAY)] == [
        "sentinels"
    ]


RIGHT = [
    ("spellings", "code", "B3"),  # a rare code
    ("spellings", "phase", "Phase 4"),  # a rare number
    ("spellings", "region", "Western"),  # a rare word
    ("sentinels", "age", 90),
    ("sentinels", "age", 99),  # close to the other values
    ("sentinels", "children", 0),
    ("sentinels", "children", 9),
    ("dates", "built_year", 2025),
    ("units", "net", 4000.0),
]


@pytest.mark.parametrize(("kind", "column", "value"), RIGHT)
def test_a_rare_value_is_no_error(kind, column, value):
    assert check(planted(column, [7, 90, 91], value), kind) == []


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (1 / 2.54, "5 values of height are about 2.54 times smaller than the others"),
        (100, "5 values of height are about 100 times larger than the others"),
        (0.001, "about 1,000 times smaller"),
    ],
)
def test_numbers_in_another_unit_are_found(factor, message):
    frame = planted("height", range(20, 25), lambda value: round(value * factor, 3))
    [finding] = check(frame, "units")
    assert finding.rows == (20, 21, 22, 23, 24)
    assert message in wording.finding(finding.facts)


@pytest.mark.parametrize(
    ("heights", "is_found"),
    [
        ([16_500, 17_500, 18_500], True),
        ([16_500, 18_500, 18_500], False),  # fewer distinct values than MIN_CLUSTER
        ([17_500, 17_501, 17_502], False),  # far closer together than the others
        ([9_000, 17_500, 34_000], False),  # far wider apart than the others
    ],
)
def test_numbers_in_another_unit_vary_as_much_as_the_others(heights, is_found):
    frame = clean()
    frame.loc[[20, 21, 22], "height"] = heights
    assert len(check(frame, "units")) == is_found


def test_equal_rows_are_found():
    frame = clean()
    frame = pd.concat([frame, frame.iloc[[3, 3, 8]]], ignore_index=True)
    [finding] = check(frame, "duplicates")
    assert finding.rows == (N, N + 1, N + 2)
    assert [wording.in_row(fact) for fact in finding.facts] == [
        "equals row 3",
        "equals row 3",
        "equals row 8",
    ]
    assert wording.finding(finding.facts) == "3 rows repeat an earlier row in every column."
    assert check(frame, "near-duplicates") == []


@pytest.mark.parametrize(
    "changed",
    [
        {"age": 33},
        {"age": 33, "region": "Centre"},
        {"order_id": "A-90000"},
        {"order_id": "A-90000", "age": 33},
        {"order_id": "A-90000", "age": 33, "region": "Centre"},
    ],
    ids=", ".join,
)
def test_nearly_equal_rows_are_found(changed):
    frame = clean()
    frame.loc[5, ["age", "region"]] = [44, "North"]
    frame = pd.concat([frame, frame.iloc[[5]].assign(**changed)], ignore_index=True)
    [finding] = check(frame, "near-duplicates")
    assert finding.rows == (N,)
    [value] = map(wording.in_row, finding.facts)
    assert value.startswith("equals row 5 except for ")
    assert set(value.removeprefix("equals row 5 except for ").split(", ")) == set(changed)


def test_rows_of_few_values_are_not_nearly_equal():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(["x", "y", "z"], N) for name in "abcdefgh"})
    assert check(frame, "near-duplicates") == []


def test_repeated_identifiers_are_found():
    [finding] = check(planted("order_id", [7, 90], "A-00003"), "repeated-ids")
    assert finding.rows == (7, 90)
    assert [fact.value for fact in finding.facts] == ["A-00003", "A-00003"]
    assert wording.finding(finding.facts) == "2 rows repeat an earlier value of order_id."


def test_names_may_repeat():
    rng = np.random.default_rng(0)
    names = [f"{'abcdefgh'[n % 8]} {'ijklmnop'[n // 8 % 8]}{'qrs' * (n // 64)}" for n in range(N)]
    frame = pd.DataFrame({"name": [*names, names[0]], "x": rng.normal(size=N + 1)})
    assert check(frame, "repeated-ids") == []


def test_kinds_are_chosen():
    frame = planted("age", [7], 999).astype(str)
    assert check_table(frame, skip=["sentinels"], today=TODAY) == []
    with pytest.raises(UnknownNameError, match="Did you mean 'sentinels'"):
        check_table(frame, only=["sentinel"])


def test_a_table_without_features_is_checked():
    frame = pd.DataFrame({"key": [f"A-{max(row, 1)}" for row in range(60)]})
    assert [one.kind for one in check_table(frame)] == ["duplicates", "repeated-ids"]


def test_roles_decide_what_is_checked():
    frame = planted("age", [7], 999).astype(str)
    assert check_table(frame, roles={"age": "ignored"}, today=TODAY) == []
