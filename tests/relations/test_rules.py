"""Rules of a table as flags, and the rows that occur more than once."""

import numpy as np
import pyarrow as pa
import pytest

from imboost.facts import WHOLE_ROW
from imboost.relations import Rules
from imboost.relations.repeated_rows import RepeatedRows
from imboost.tables.layout import Kind
from imboost.tables.schema import Schema

N = 600


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    net = rng.integers(100, 90_000, N) / 100
    tax = rng.integers(10, 9_000, N) / 100
    city = np.array(["Rome", "Oslo", "Bonn", "Lyon"])[rng.integers(4, size=N)]
    return {"net": net, "tax": tax, "total": net + tax, "city": city, "size": rng.normal(size=N)}


def fit(cells):
    schema, parsed = Schema.fit_parse(pa.table(cells))
    return Rules.fit(schema, parsed), parsed


def flags_of(rules, parsed, name):
    return np.flatnonzero(rules.transform(parsed)[:, rules.columns.index(name)]).tolist()


def test_a_broken_sum_flags_the_cell_that_is_to_blame(table):
    table["total"][7] += 5000
    rules, parsed = fit(table)
    assert flags_of(rules, parsed, "total") == [7]
    assert flags_of(rules, parsed, "net") == flags_of(rules, parsed, "tax") == []
    broken = rules.violations(parsed, "total")
    assert list(broken) == [7]
    assert (broken[7].columns, broken[7].formula) == (("total", "net", "tax"), "net + tax")
    assert broken[7].expected == pytest.approx(parsed["net"][7] + parsed["tax"][7])
    assert broken[7].cells[0] == parsed["total"][7]


def test_new_rows_can_break_a_rule_that_all_training_rows_obey(table):
    rules, parsed = fit(table)
    assert not rules.transform(parsed).any()
    new = {name: values[:3] for name, values in parsed.items()}
    new["total"] = new["total"] + np.array([0.0, 9000.0, 0.0])
    assert flags_of(rules, new, "total") == [1]


def test_a_misspelt_category_is_flagged_with_its_right_spelling(table):
    table["city"] = [*["Rmoe"], *table["city"][1:]]
    table["city"][5] = "LYON"
    rules, parsed = fit(table)
    assert flags_of(rules, parsed, "city") == [0, 5]
    broken = rules.violations(parsed, "city")[0]
    assert (broken.cells, broken.expected) == (("Rmoe",), "Rome")


def test_a_rule_that_many_rows_break_is_not_used(table):
    table["total"][:9] += 500
    assert "total" not in fit(table)[0].columns


@pytest.mark.parametrize("changed", [None, "size"])
def test_exact_and_near_duplicates_flag_the_whole_row(table, changed):
    for name, cells in table.items():
        if name != changed:
            cells[11] = cells[3]
    rules, parsed = fit(table)
    assert flags_of(rules, parsed, WHOLE_ROW) == [3, 11]
    assert np.flatnonzero(rules.repeats(parsed)).tolist() == [3, 11]


def test_rounding_errors_do_not_hide_a_duplicate(table):
    for cells in table.values():
        cells[11] = cells[3]
    rules, parsed = fit(table)
    noisy = {
        name: values * (1 + 1e-9) if isinstance(values, np.ndarray) else values
        for name, values in parsed.items()
    }
    assert flags_of(rules, noisy, WHOLE_ROW) == [3, 11]


def test_rows_that_repeat_by_nature_are_not_flagged():
    rng = np.random.default_rng(0)
    cells = {name: rng.integers(3, size=N).astype(float) for name in "abcd"}
    assert RepeatedRows.fit(cells) is None


def test_exchanged_cells_are_no_duplicate():
    rng = np.random.default_rng(0)
    cells = {name: rng.normal(size=N) for name in "abcd"}
    cells["a"][1], cells["b"][1] = cells["b"][0], cells["a"][0]
    cells["c"][1], cells["d"][1] = cells["c"][0], cells["d"][0]
    assert RepeatedRows.fit(cells) is None


def test_the_features_of_the_flags_follow_other_features(table):
    rules, _ = fit(table)
    features = rules.features(10)
    assert [feature.start for feature in features] == list(range(10, 10 + len(rules.columns)))
    assert {feature.kind for feature in features} == {Kind.RULE}


def test_times_a_few_minutes_apart_are_not_the_same():
    rng = np.random.default_rng(0)
    cells = {name: rng.integers(40, size=N).astype(float) for name in "abcd"}
    cells["time"] = 1_700_000_000 + 37.0 * np.arange(N)
    cells["size"] = rng.normal(size=N)
    for name in "abcd":
        cells[name][9] = cells[name][3]
    assert RepeatedRows.fit(cells) is None  # two cells differ
    cells["size"][9] = cells["size"][3]
    assert RepeatedRows.fit(cells).is_repeated(cells).nonzero()[0].tolist() == [3, 9]


def test_one_broken_row_of_a_small_table_keeps_its_rule(table):
    small = {name: cells[:120].copy() for name, cells in table.items()}
    small["total"][7] += 5000
    rules, parsed = fit(small)
    assert flags_of(rules, parsed, "total") == [7]


def test_every_one_of_many_typos_is_flagged(table):
    cities = list(table["city"])
    rows = [row for row, city in enumerate(cities) if city == "Rome"][:8]
    for row in rows:
        cities[row] = "Rmoe"
    rules, parsed = fit({**table, "city": cities})
    assert flags_of(rules, parsed, "city") == rows
