import pytest

from imboost.benchmark.analysis.ablation_tables import ablation_tables, changed_value
from imboost.benchmark.analysis.method_key import IMBOOST, MethodKey, Protocol
from result_lines import run_lines

PLAIN = [
    *run_lines("a", 1, 0.9),
    *run_lines("b", 1, 0.7),
    *run_lines("c", 1, 0.1),  # no other value has it
]
ZERO = [
    *run_lines("a", 1, 0.5, settings="inlier_weight=0"),
    *run_lines("b", 1, 0.5, settings="inlier_weight=0"),
]


def rows_of(lines):
    [table] = ablation_tables(lines)
    return {row.value: row for row in table.rows}


def test_the_default_value_is_the_plain_runs_on_the_sets_that_all_values_share():
    rows = rows_of([*PLAIN, *ZERO])
    assert rows[2].cell.mean == pytest.approx((0.9 + 0.7) / 2)
    assert rows[0].cell.mean == pytest.approx(0.5)
    assert (rows[0].gain.n, rows[0].gain.mean) == (2, pytest.approx(-0.3))
    assert rows[2].gain is None


def test_all_of_the_papers_values_are_shown_measured_or_not():
    rows = rows_of([*PLAIN, *ZERO])
    assert list(rows) == [0, 1, 2, 3, 5, 7, 10]
    assert (rows[3].paper, rows[3].cell) == (0.829, None)
    assert (rows[0].paper, rows[0].cell.paper) == (0.685, 0.685)


def test_a_value_the_paper_did_not_try_has_a_row_without_its_figure():
    rows = rows_of([*PLAIN, *run_lines("a", 1, 0.6, settings="inlier_weight=4")])
    assert rows[4].paper is None
    assert rows[4].cell.mean == pytest.approx(0.6)


def test_seeds_that_a_value_lacks_count_for_none():
    lines = [*PLAIN, *ZERO, *run_lines("a", 2, 0.3, settings="inlier_weight=0")]
    assert rows_of(lines)[0].cell.mean == pytest.approx(0.5)


def test_without_plain_runs_there_is_no_default_to_compare_with():
    rows = rows_of(ZERO)
    assert rows[2].cell is None
    assert rows[0].gain is None


def test_an_ablation_without_runs_has_no_table():
    assert ablation_tables(PLAIN) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (MethodKey("imboost", "mm", settings="query__alpha=0.3"), ("C.11", 0.3)),
        (MethodKey("imboost", "mm", settings="trimmed_epochs=10"), ("C.12", 10)),
        (MethodKey("imboost", "mm", settings="n_members=5"), None),
        (MethodKey("imboost", "mm", settings="inlier_weight=0;outlier_weight=0"), None),
        (MethodKey("imboost", "rd", settings="inlier_weight=0"), None),
        (MethodKey("imboost", "mm", Protocol(rounds=3), "inlier_weight=0"), None),
        (IMBOOST, None),
    ],
    ids=str,
)
def test_an_ablation_changes_one_setting_of_the_plain_method(key, value):
    found = changed_value(key)
    assert (found and (found[0].table, found[1])) == value
