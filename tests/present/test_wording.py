"""Sentences about facts."""

import datetime

import numpy as np
import pytest

from imboost.facts import BrokenRule, Fact, FactKind, Position, RareCategories, RuleKind
from imboost.present import wording


def value(position, share, **more):
    return Fact(kind=FactKind.VALUE, columns=("size",), position=position, share=share, **more)


def broken(kind, columns, cells, **more):
    settings = {"expected": None, **more}
    return BrokenRule(kind=kind, columns=columns, column=columns[0], cells=cells, **settings)


@pytest.mark.parametrize(
    ("position", "share", "text", "short"),
    [
        (Position.ABOVE, 1.0, "above all reference rows", "above all"),
        (Position.BELOW, 0.84, "below 84% of reference rows", "below 84%"),
        (Position.LATER, 1.0, "later in the day than all reference rows", None),
        (Position.SAME, 1.0, "as in all reference rows", "as in all"),
        (Position.AMONG, 0.0005, "in 1 of 2,000 reference rows", "in 1 of 2,000"),
        (Position.AMONG, 0.0, "in no reference row", "in none"),
        (Position.MISSING, 0.25, "missing in 25% of reference rows", "missing in 25%"),
        (Position.NO_VALUES, 0.0, "no reference row has a value", "no reference row has a value"),
    ],
)
def test_positions_are_written_in_full_and_for_a_column_about_reference_rows(
    position, share, text, short
):
    assert wording.position(value(position, share)) == text
    if short:
        assert wording.position(value(position, share), short=True) == short


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        ("north", "north"),
        (123456.0, "123500"),
        (np.datetime64("2024-01-02T10:30"), "2024-01-02 10:30"),
        (datetime.time(9, 5), "09:05"),
        (RareCategories(15), "(a category seen at most 15 times)"),
    ],
)
def test_cells_are_written_by_their_type(cell, text):
    assert wording.cell(cell) == text


DAYS = np.datetime64("2024-03-02"), np.datetime64("2024-03-01")
RULES = [
    (
        broken(
            RuleKind.SUM,
            ("total", "net", "tax"),
            (21.0, 10.0, 2.5),
            expected=12.5,
            formula="net + tax",
            unit=0.01,
        ),
        "total should be net + tax = 12.50",
        "total should be net + tax",
    ),
    (
        broken(RuleKind.ORDER, ("low", "high"), (9.0, 7.0), unit=1.0),
        "low (9) should be at most high (7)",
        "low should be at most high",
    ),
    (
        broken(RuleKind.ORDER, ("start", "end"), DAYS),
        "end (2024-03-01) should not be before start (2024-03-02)",
        "end should not be before start",
    ),
    (
        broken(RuleKind.FORMAT, ("code",), ("X1",), formula="AA-99"),
        "code should look like 'AA-99', but is 'X1'",
        "code should look like 'AA-99'",
    ),
    (
        broken(RuleKind.DEPENDENCY, ("state", "zip"), ("CA", 12345.0), expected="NY"),
        "state should be NY, as in other rows with zip 12345",
        "state does not fit other columns",
    ),
    (
        broken(RuleKind.SPELLING, ("city",), ("Bonnn",), expected="Bonn"),
        "city Bonnn is probably Bonn",
        "city Bonnn is probably Bonn",
    ),
]


@pytest.mark.parametrize(("rule", "text", "title"), RULES)
def test_rules_are_written_with_and_without_the_values_of_a_row(rule, text, title):
    assert wording.rule(rule) == text
    assert wording.rule(rule, is_title=True) == title


def test_reasons_are_one_sentence():
    size = value(Position.ABOVE, 0.9, text="7.0", expected=2.1)
    assert wording.reasons([size]) == "size is 7.0, above 90% of reference rows (expected 2.1)."
    total = Fact(kind=FactKind.RULE, columns=("total",), text="21", rule=RULES[0][0])
    repeated = Fact(kind=FactKind.NEAR_DUPLICATE)
    assert wording.reasons([total, repeated]) == (
        "total is 21: total should be net + tax = 12.50; The whole row: another row is the same, "
        "or differs in one cell."
    )
    assert wording.reasons([]) == wording.AS_A_WHOLE


def test_a_rule_whose_text_ends_like_a_position_stays_whole():
    rule = broken(RuleKind.FORMAT, ("code",), ("x",), formula="9 of reference rows")
    fact = Fact(kind=FactKind.RULE, columns=("code",), rule=rule)
    assert wording.position(fact, short=True) == wording.position(fact)


def test_a_finding_about_many_rows_gives_an_example():
    facts = [
        Fact(kind=FactKind.RULE, columns=("total",), row=row, rule=RULES[0][0]) for row in (3, 8)
    ]
    assert wording.finding(facts) == (
        "2 rows break a rule of the other rows, the first one: total should be net + tax = 12.50."
    )
    assert wording.finding(facts[:1]) == (
        "1 row breaks a rule of the other rows: total should be net + tax = 12.50."
    )


def test_a_change_of_missing_cells_names_both_shares():
    fact = Fact(kind=FactKind.MISSING_CELLS, columns=("size",), share=0.4, reference_share=0.021)
    assert wording.finding([fact]) == "size: 40% of cells are missing, 2.1% in training."
