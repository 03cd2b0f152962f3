import math

import pytest

from imboost_bench.analysis.method_key import IMBOOST, MethodKey
from imboost_bench.analysis.result_set import ResultSet, changed_value
from imboost_bench.run.query_protocol import QueryProtocol
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


def values_of(lines):
    [table] = ResultSet(lines).ablations.values()
    return table.values


def test_the_default_value_is_the_plain_runs_on_the_data_sets_that_all_values_share():
    values = values_of([*PLAIN, *ZERO])
    assert values.loc[2, "mean"] == pytest.approx((0.9 + 0.7) / 2)
    assert values.loc[0, "mean"] == pytest.approx(0.5)
    assert (values.loc[0, "n"], values.loc[0, "difference"]) == (2, pytest.approx(-0.3))
    assert math.isnan(values.loc[2, "difference"])


def test_all_of_the_papers_values_are_listed_with_or_without_runs():
    values = values_of([*PLAIN, *ZERO])
    assert list(values.index) == [0, 1, 2, 3, 5, 7, 10]
    assert values.loc[3, "paper"] == 0.829
    assert math.isnan(values.loc[3, "mean"])
    assert values.loc[0, "paper"] == 0.685


def test_a_value_that_the_paper_lacks_has_a_row_without_the_papers_figure():
    values = values_of([*PLAIN, *run_lines("a", 1, 0.6, settings="inlier_weight=4")])
    assert math.isnan(values.loc[4, "paper"])
    assert values.loc[4, "mean"] == pytest.approx(0.6)


def test_seeds_that_a_value_lacks_do_not_count():
    lines = [*PLAIN, *ZERO, *run_lines("a", 2, 0.3, settings="inlier_weight=0")]
    assert values_of(lines).loc[0, "mean"] == pytest.approx(0.5)


def test_without_plain_runs_there_is_no_default_to_compare_with():
    values = values_of(ZERO)
    assert math.isnan(values.loc[2, "mean"])
    assert math.isnan(values.loc[0, "difference"])


def test_values_that_share_no_run_have_an_empty_table():
    lines = [
        *run_lines("a", 1, 0.6, settings="inlier_weight=0"),
        *run_lines("b", 1, 0.6, settings="inlier_weight=1"),
    ]
    assert values_of(lines)["mean"].isna().all()


def test_an_ablation_without_runs_has_no_table():
    assert ResultSet(PLAIN).ablations == {}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (MethodKey("imboost", "mm", settings="query__alpha=0.3"), ("C.11", 0.3)),
        (MethodKey("imboost", "mm", settings="trimmed_epochs=10"), ("C.12", 10)),
        (MethodKey("imboost", "mm", settings="n_members=5"), None),
        (MethodKey("imboost", "mm", settings="inlier_weight=0;outlier_weight=0"), None),
        (MethodKey("imboost", "rd", settings="inlier_weight=0"), None),
        (MethodKey("imboost", "mm", QueryProtocol(rounds=3), "inlier_weight=0"), None),
        (IMBOOST, None),
    ],
    ids=str,
)
def test_an_ablation_changes_one_setting_of_the_plain_method(key, value):
    found = changed_value(key)
    assert (found and (found[0].table, found[1])) == value
