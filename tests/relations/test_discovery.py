"""Relations between columns are found although some rows break them, and only if they are real."""

import dataclasses
import re

import numpy as np
import pyarrow as pa
import pytest

from imboost.persistence.class_registry import CLASSES
from imboost.persistence.codec import Decoder, Encoder
from imboost.present import wording
from imboost.relations import discover, with_text_columns
from imboost.relations.linear import LinearRelation
from imboost.tables.schema import Schema

N = 1000
BROKEN = np.arange(N) % 200 == 7  # half a per cent of the rows
DAY_ZERO = np.datetime64("2019-01-01")


def columns():
    """Return columns without a relation between them."""
    rng = np.random.default_rng(0)
    return {
        "principal": np.round(rng.lognormal(7, 1, N), 2),
        "interest": np.round(rng.lognormal(4, 1, N), 2),
        "late_fee": np.where(rng.random(N) < 0.03, np.round(rng.random(N) * 50, 2), 0.0),
        "quantity": rng.integers(1, 20, N).astype(float),
        "price": np.round(rng.lognormal(3, 1, N), 2),
        "weight": np.round(rng.normal(75, 12, N), 1),
        "height": np.round(rng.normal(1.75, 0.1, N), 2),
        "low": np.round(rng.normal(10, 8, N), 1),
        "first": rng.integers(0, 900, N),
        "length": rng.integers(0, 30, N),
        "city": rng.integers(0, 60, N),
    }


def sum_of_three(c):
    total = np.round(c["principal"] + c["interest"] + c["late_fee"], 2)
    parts = {name: c[name] for name in ("principal", "interest", "late_fee")}
    return parts | {"paid": np.where(BROKEN, 10 * total, total)}


def sum_of_two(c):
    total = np.round(c["principal"] + c["interest"], 2)
    return {
        "principal": c["principal"],
        "interest": c["interest"],
        "paid": np.where(BROKEN, total + 7, total),
    }


def joined_digits(c):
    rng = np.random.default_rng(4)
    hour, minute = rng.integers(0, 24, N), rng.integers(0, 60, N)
    clock = 100 * hour + minute
    return {"hour": hour, "minute": minute, "clock": np.where(BROKEN, clock + 300, clock)}


def long_sum(c):
    rng = np.random.default_rng(1)
    months = {f"month{number}": rng.integers(0, 1000, N).astype(float) for number in range(12)}
    total = np.sum(list(months.values()), axis=0)
    return months | {"year": np.where(BROKEN, -total, total)}


def shares(c):
    parts = np.random.default_rng(1).dirichlet([3, 2, 1], N).round(3) * 100
    parts[:, 2] = np.round(100 - parts[:, 0] - parts[:, 1], 1)
    return {"a": parts[:, 0], "b": parts[:, 1], "c": np.where(BROKEN, 77.7, parts[:, 2])}


def product(c):
    amount = np.round(c["quantity"] * c["price"], 2)
    return {
        "quantity": c["quantity"],
        "price": c["price"],
        "amount": np.where(BROKEN, amount * 12, amount),
    }


def ratio(c):
    bmi = np.round(c["weight"] / c["height"] ** 2, 1)
    return {
        "weight": c["weight"],
        "height": c["height"],
        "bmi": np.where(BROKEN, bmi + 20, bmi),
    }


def multiple(c):
    inches = np.round(c["weight"] / 2.54, 1)
    return {"cm": c["weight"], "inches": np.where(BROKEN, c["weight"], inches)}


def order(c):
    high = np.round(c["low"] + np.random.default_rng(1).gamma(2, 3, N), 1)
    swapped = np.where(BROKEN, high, c["low"]), np.where(BROKEN, c["low"], high)
    return {"low": swapped[0], "high": swapped[1]}


def order_of_dates(c):
    start = np.where(BROKEN, c["first"] + 400, c["first"])
    return {"start": DAY_ZERO + start, "end": DAY_ZERO + c["first"] + c["length"]}


def duration(c):
    return {
        "start": DAY_ZERO + c["first"],
        "end": DAY_ZERO + c["first"] + c["length"],
        "days": np.where(BROKEN, 99, c["length"]).astype(float),
    }


def dependency(c):
    state = np.where(BROKEN, (c["city"] + 1) % 9, c["city"] % 9)
    return {"city": [f"City {n}" for n in c["city"]], "state": [f"State {n}" for n in state]}


def dependency_on_two(c):
    rng = np.random.default_rng(3)
    name, size = rng.integers(0, 12, N), rng.integers(0, 3, N)
    price = np.round(5 + 1.25 * (name * 7 % 11) + size * (2 + name % 3), 2)
    return {
        "name": [f"pizza {'abcdefghijkl'[n]}" for n in name],
        "size": [["small", "medium", "large"][n] for n in size],
        "price": np.where(BROKEN, price + 1.25, price),
    }


def code_format(c):
    codes = [f"{'AB'[row % 2]}X-{row:04d}" for row in range(N)]
    return {"code": [code[1:] if BROKEN[row] else code for row, code in enumerate(codes)]}


PLANTED = {
    sum_of_three: ("paid", "principal", "interest", "late_fee"),
    sum_of_two: ("paid", "principal", "interest"),
    joined_digits: ("clock", "hour", "minute"),
    long_sum: ("year", *(f"month{number}" for number in range(12))),
    shares: ("a", "b", "c"),
    product: ("amount", "quantity", "price"),
    ratio: ("bmi", "weight", "height"),
    multiple: ("inches", "cm"),
    order: ("low", "high"),
    order_of_dates: ("start", "end"),
    duration: ("end", "start", "days"),
    dependency: ("state", "city"),
    dependency_on_two: ("price", "name", "size"),
    code_format: ("code",),
}


def discovered(cells):
    table = pa.table({**cells, "noise": np.random.default_rng(5).normal(size=N)})
    schema, parsed = Schema.fit_parse(table)
    parsed = with_text_columns(schema, table, parsed)
    return discover(schema, parsed), parsed


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_relation_is_found_and_broken_in_the_planted_rows(plant):
    relations, parsed = discovered(plant(columns()))
    [relation] = [one for one in relations if set(one.columns) == set(PLANTED[plant])]
    assert relation.support == pytest.approx(0.995, abs=0.001)
    np.testing.assert_array_equal(~relation.holds(parsed), BROKEN)
    assert relation.columns[0] == PLANTED[plant][0] or plant is shares


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_saved_relation_is_applied_to_new_rows(plant):
    relations, parsed = discovered(plant(columns()))
    encoder = Encoder(CLASSES)
    coded = encoder.encode(relations, "relations")
    loaded = Decoder(CLASSES, encoder.arrays).decode(coded)
    assert loaded == relations
    rows = {name: values[100:300] for name, values in parsed.items()}
    for relation in loaded:
        np.testing.assert_array_equal(relation.holds(rows), relation.holds(parsed)[100:300])


@pytest.mark.parametrize(
    ("plant", "text"),
    [
        (sum_of_two, r"paid should be principal \+ interest = [\d,]+\.\d\d$"),
        (joined_digits, r"clock should be 100 × hour \+ minute = [\d,]+$"),
        (product, r"amount should be quantity × price = [\d,]+\.\d\d$"),
        (ratio, r"bmi should be weight / height\^2 = \d\d\.\d$"),
        (order_of_dates, r"end \(20..-..-..\) should not be before start \(20..-..-..\)$"),
        (order, r"low \(-?[\d.]+\) should be at most high \(-?[\d.]+\)$"),
        (duration, r"end should be start \+ days \(days\) = 20..-..-..$"),
        (dependency, r"state should be State \d, as in other rows with city City \d+$"),
        (
            dependency_on_two,
            r"price should be [\d.]+, as in other rows with name pizza . and size [a-z]+$",
        ),
        (code_format, r"code should look like 'AA-9999', but is 'X-0...'$"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_broken_relation_is_described(plant, text):
    relations, parsed = discovered(plant(columns()))
    [relation] = [one for one in relations if set(one.columns) == set(PLANTED[plant])]
    row = int(np.flatnonzero(BROKEN)[0])
    assert re.search(text, wording.rule(relation.violations(parsed)[row]))


def test_a_sum_may_differ_by_half_a_unit_of_each_rounded_column():
    parts = {name: np.array([1.01, 2.02, 3.07]) for name in "abc"}
    cells = {"total": np.array([3.03, 6.08, 9.24]), **parts}
    sum_of_three = LinearRelation.from_columns(
        ("total", *parts), cells, coefficients=(1.0, 1.0, 1.0)
    )
    assert sum_of_three.holds(cells).tolist() == [True, True, False]
    exact = dataclasses.replace(sum_of_three, has_exact_inputs=True)
    assert exact.holds(cells).tolist() == [True, False, False]


def test_the_wrong_addend_is_blamed():
    cells = sum_of_two(columns())
    paid = np.round(cells["principal"] + cells["interest"], 2)
    cells["paid"], cells["interest"] = paid, np.where(BROKEN, 99999.0, cells["interest"])
    relations, parsed = discovered(cells)
    [relation] = [
        one for one in relations if set(one.columns) == {"paid", "principal", "interest"}
    ]
    blamed = relation.blame(parsed)[BROKEN]
    assert {relation.columns[at] for at in blamed} == {"interest"}


def test_the_expected_value_is_the_right_one():
    cells = sum_of_two(columns())
    relations, parsed = discovered(cells)
    [relation] = [one for one in relations if one.target == "paid"]
    right = cells["principal"] + cells["interest"]
    np.testing.assert_allclose(relation.expected(parsed), right)


def test_missing_cells_break_nothing():
    relations, parsed = discovered(sum_of_two(columns()))
    [relation] = relations
    missing = {**parsed, "interest": np.full(N, np.nan)}
    assert relation.holds(missing).all()
    assert np.isnan(relation.expected(missing)).all()


def test_columns_without_relations_have_none():
    c = columns()
    c["city"] = [f"City {n}" for n in c["city"]]
    c["colour"] = np.random.default_rng(9).choice(["red", "blue", "green"], N)
    c["sparse"] = np.where(np.arange(N) % 50 == 0, 1.0, 0.0)
    relations, _ = discovered({name: cells for name, cells in c.items() if name != "first"})
    assert [one for one in relations if one.kind != "format"] == []


def test_an_order_that_correlated_columns_have_by_chance_is_not_broken_by_small_differences():
    rng = np.random.default_rng(2)
    size = rng.lognormal(5, 1.5, N)
    cells = {"small": np.round(size * rng.normal(1, 0.1, N)), "large": np.round(3 * size)}
    cells["small"][3] = cells["large"][3] + 1
    relations, parsed = discovered(cells)
    assert all(one.holds(parsed)[3] for one in relations if one.kind == "order")


def test_a_common_exception_is_no_dependency():
    c = columns()
    has_one = np.arange(N) % 130 == 0
    asked = np.where(c["city"] % 2 == 0, "no", "unknown")
    cells = {"asked": asked, "ill": np.where(has_one, "yes", asked)}
    relations, _ = discovered(cells)
    assert [one for one in relations if one.columns == ("ill", "asked")] == []


def test_relations_that_follow_from_others_are_left_out():
    c = columns()
    cells = sum_of_two(c)
    cells |= {"again": cells["paid"], "gain": np.round(cells["paid"] - c["interest"], 2)}
    relations, _ = discovered(cells)
    assert len([one for one in relations if one.kind == "sum"]) == 3


def test_a_column_of_many_values_decides_another():
    rng = np.random.default_rng(6)
    n = 20_000
    city = rng.integers(0, 3000, n)
    wrong = rng.random(n) < 0.004
    state = np.where(wrong, (city + 1) % 40, city % 40)
    table = pa.table(
        {"city": [f"City {one}" for one in city], "state": [f"State {one}" for one in state]}
    )
    schema, parsed = Schema.fit_parse(table)
    [relation] = [one for one in discover(schema, parsed) if one.kind == "dependency"]
    assert relation.columns == ("state", "city")
    assert (~relation.holds(parsed))[wrong].mean() > 0.9


def test_one_row_of_a_small_table_may_break_a_relation():
    cells = {name: values[:60] for name, values in sum_of_two(columns()).items()}
    schema, parsed = Schema.fit_parse(pa.table(cells))
    [relation] = [one for one in discover(schema, parsed) if one.kind == "sum"]
    assert np.flatnonzero(~relation.holds(parsed)).tolist() == [7]


def test_a_sum_is_found_although_several_columns_have_wrong_cells():
    c = columns()
    parts = [c[name] for name in ("principal", "interest", "late_fee")]
    cells = {"paid": np.round(np.sum(parts, axis=0), 2), "principal": parts[0]}
    cells |= {"interest": parts[1], "late_fee": parts[2]}
    rng = np.random.default_rng(8)
    for name, values in cells.items():
        cells[name] = np.where(rng.random(N) < 0.006, values * 10 + 1, values)
    relations, _ = discovered(cells)
    [relation] = [one for one in relations if one.kind == "sum"]
    assert relation.columns == ("paid", "principal", "interest", "late_fee")
    assert relation.coefficients == (1.0, 1.0, 1.0)
