"""Groups of rows with the same strongest reason."""

import pytest

from imboost.explain import Explanation, Reason
from imboost.scoring.report_rows import ReportRow
from imboost.scoring.row_groups import group_rows

ABOVE, BELOW = "above all reference rows", "below all reference rows"


def row(number, *reasons):
    explanation = Explanation(1.0, 0.1, 0.0, is_exact=False, reasons=list(reasons))
    return ReportRow(str(number), number, 1.0, 0.9, number % 2 == 0, [], explanation)


def reason(column, value, position="in no reference row", fraction=0.0, contribution=0.5):
    return Reason(column, value, contribution, 0.0, "x", fraction, position)


def groups(*reasons):
    """Return the title and the row numbers of every group of rows with one reason each."""
    rows = [row(number, *([one] if one else [])) for number, one in enumerate(reasons)]
    return [(one.reason, [row.number for row in one.rows]) for one in group_rows(rows)]


def test_rows_with_the_same_value_in_the_same_column_are_a_group():
    found = groups(
        reason("taxa", "Reptile"), reason("age", "9", ABOVE, 1.0), *[reason("taxa", "Reptile")] * 2
    )
    assert found == [("taxa Reptile", [0, 2, 3]), ("age 9", [1])]


def test_the_strongest_reason_decides():
    both = [reason("age", "999", ABOVE, 1.0), reason("taxa", "Reptile", contribution=0.4)]
    found = group_rows([row(0, *both), row(1, reason("taxa", "Reptile"))])
    assert [one.reason for one in found] == ["age 999", "taxa Reptile"]


def test_lone_numbers_are_grouped_by_column_and_side():
    high = [reason("age", str(value), ABOVE, 1.0) for value in (200, 300)]
    low = [reason("age", str(value), BELOW, 0.0) for value in (-2, -3)]
    middle = [reason("age", str(value), "above 60% of reference rows", 0.6) for value in (40, 41)]
    assert groups(*high, *low, *middle) == [
        ("age high, with different values", [0, 1]),
        ("age low, with different values", [2, 3]),
        ("age unusual, with different values", [4, 5]),
    ]


@pytest.mark.parametrize(
    ("positions", "title"),
    [
        (
            ["total should be net + tax = 12.50", "total should be net + tax = 7"],
            "total should be net + tax",
        ),
        (
            ["total (9) should be at most limit (7)", "total (8) should be at most limit (3)"],
            "total should be at most limit",
        ),
        (
            ["total should look like A-9, but is x", "total should look like A-9, but is y"],
            "total should look like A-9",
        ),
    ],
)
def test_rows_that_break_the_same_rule_are_a_group(positions, title):
    reasons = [reason("total", str(at), text) for at, text in enumerate(positions)]
    assert groups(*reasons) == [(title, [0, 1])]


def test_new_categories_are_named_and_known_ones_that_contradict_are_gathered():
    texts = [f"state should be {to}, as in other rows with city {to}" for to in "ABCD"]
    values = [("Atlantis", 0.0), ("Atlantis", 0.0), ("NY", 0.2), ("CA", 0.3)]
    reasons = [
        reason("state", value, text, part)
        for (value, part), text in zip(values, texts, strict=True)
    ]
    assert groups(*reasons) == [
        ("state Atlantis", [0, 1]),
        ("state does not fit other columns", [2, 3]),
    ]


def test_repeated_rows_missing_cells_and_rows_without_reason_have_their_groups():
    repeated = reason("(row)", None, "another row is the same, or differs in one cell")
    assert groups(repeated, None, reason("age", None), repeated) == [
        ("repeats another row", [0, 3]),
        ("unusual as a whole, not in a single column", [1]),
        ("age missing", [2]),
    ]


def test_a_group_counts_its_outliers():
    [group] = group_rows([row(number, reason("taxa", "Reptile")) for number in range(5)])
    assert group.n_outliers == 3
