"""Groups of rows with the same strongest reason."""

from dataclasses import replace

import pytest

from imboost.explain import Explanation
from imboost.facts import BrokenRule, Fact, FactKind, Position, RuleKind
from imboost.present.rows import CellView, RowView, group_rows


def row(number, *reasons):
    explanation = Explanation(1.0, 0.1, 0.0, is_exact=False, reasons=list(reasons))
    return RowView(
        row=number,
        score=1.0,
        probability=0.9,
        is_outlier=number % 2 == 0,
        name=str(number),
        explanation=explanation,
    )


def reason(column, text, position=Position.AMONG, fraction=0.0, contribution=0.5, rule=None):
    return Fact(
        kind=FactKind.RULE if rule else FactKind.VALUE,
        columns=(column,),
        text=text,
        position=position,
        reference_share=fraction,
        contribution=contribution,
        rule=rule,
    )


def broken(kind, columns, cells, expected=None, formula=""):
    return BrokenRule(
        kind=kind,
        columns=columns,
        column=columns[0],
        cells=cells,
        expected=expected,
        formula=formula,
    )


def groups(*reasons):
    """Return the title and the row numbers of every group of rows with one reason each."""
    rows = [row(number, *([one] if one else [])) for number, one in enumerate(reasons)]
    return [(one.reason, [row.row for row in one.rows]) for one in group_rows(rows)]


def test_rows_with_the_same_value_in_the_same_column_are_a_group():
    found = groups(
        reason("taxa", "Reptile"),
        reason("age", "9", Position.ABOVE, 1.0),
        *[reason("taxa", "Reptile")] * 2,
    )
    assert found == [("taxa Reptile", [0, 2, 3]), ("age 9", [1])]


def test_the_strongest_reason_decides():
    both = [reason("age", "999", Position.ABOVE, 1.0), reason("taxa", "Reptile", contribution=0.4)]
    found = group_rows([row(0, *both), row(1, reason("taxa", "Reptile"))])
    assert [one.reason for one in found] == ["age 999", "taxa Reptile"]


def test_lone_numbers_are_grouped_by_column_and_side():
    high = [reason("age", str(value), Position.ABOVE, 1.0) for value in (200, 300)]
    low = [reason("age", str(value), Position.BELOW, 0.0) for value in (-2, -3)]
    middle = [reason("age", str(value), Position.ABOVE, 0.6) for value in (40, 41)]
    assert groups(*high, *low, *middle) == [
        ("age high, with different values", [0, 1]),
        ("age low, with different values", [2, 3]),
        ("age unusual, with different values", [4, 5]),
    ]


SUM, ORDER, FORMAT = RuleKind.SUM, RuleKind.ORDER, RuleKind.FORMAT


@pytest.mark.parametrize(
    ("rules", "title"),
    [
        (
            [
                broken(SUM, ("total", "net", "tax"), (9.0, 2.0, x), 2.0 + x, "net + tax")
                for x in (10.5, 5.0)
            ],
            "total should be net + tax",
        ),
        (
            [
                broken(ORDER, ("total", "limit"), (9.0, 7.0)),
                broken(ORDER, ("total", "limit"), (8.0, 3.0)),
            ],
            "total should be at most limit",
        ),
        (
            [broken(FORMAT, ("total",), (x,), formula="A-9") for x in "xy"],
            "total should look like 'A-9'",
        ),
    ],
)
def test_rows_that_break_the_same_rule_are_a_group(rules, title):
    reasons = [reason("total", str(at), rule=rule) for at, rule in enumerate(rules)]
    assert groups(*reasons) == [(title, [0, 1])]


def test_rules_about_columns_whose_names_differ_in_brackets_are_not_one_group():
    rules = [
        broken(ORDER, (f"price ({unit})", "limit"), (9.0, 7.0)) for unit in ("EUR", "USD", "EUR")
    ]
    assert groups(*(reason(rule.column, "9", rule=rule) for rule in rules)) == [
        ("price (EUR) should be at most limit", [0, 2]),
        ("price (USD) should be at most limit", [1]),
    ]


def test_rows_with_different_misspellings_are_not_one_group():
    rules = [broken(RuleKind.SPELLING, ("city",), (x,), "Munich") for x in ("Munch", "Munixh")]
    found = groups(*(reason("city", rule.cells[0], rule=rule) for rule in rules))
    assert [rows for _, rows in found] == [[0], [1]]


def test_new_categories_are_named_and_known_ones_that_contradict_are_gathered():
    values = [("Atlantis", 0.0), ("Atlantis", 0.0), ("NY", 0.2), ("CA", 0.3)]
    reasons = [
        reason(
            "state",
            value,
            fraction=part,
            rule=broken(RuleKind.DEPENDENCY, ("state", "city"), (value, city), city),
        )
        for (value, part), city in zip(values, "ABCD", strict=True)
    ]
    assert groups(*reasons) == [
        ("state Atlantis", [0, 1]),
        ("state does not fit other columns", [2, 3]),
    ]


def test_repeated_rows_missing_cells_and_rows_without_reason_have_their_groups():
    repeated = Fact(kind=FactKind.NEAR_DUPLICATE, contribution=0.5)
    assert groups(repeated, None, reason("age", None), repeated) == [
        ("repeats another row", [0, 3]),
        ("unusual as a whole, not in a single column", [1]),
        ("age missing", [2]),
    ]


def test_a_group_counts_its_outliers():
    [group] = group_rows([row(number, reason("taxa", "Reptile")) for number in range(5)])
    assert group.n_outliers == 3


def test_an_unusual_cell_says_what_was_expected_and_how_much_it_contributes():
    fact = Fact(kind=FactKind.VALUE, columns=("age",), value=9.0, expected=4.0, contribution=0.5)
    helpful = CellView(column="age", text="9", reason=fact)
    harmless = CellView(column="size", text="1", reason=reason("size", "1", contribution=-0.2))
    view = row(0, fact, harmless.reason)
    assert helpful.expected == "4"
    assert [view.share(cell) for cell in (helpful, harmless)] == [1.0, 0.0]


@pytest.mark.parametrize(("number", "residual", "warns"), [(0, 0.8, 1), (1, 0.8, 0), (0, 0.3, 0)])
def test_only_an_outlier_that_its_reasons_explain_little_has_a_warning(number, residual, warns):
    explanation = Explanation(1.0, 0.1, residual, is_exact=False, reasons=[reason("age", "9")])
    assert bool(replace(row(number), explanation=explanation).warning) == warns
