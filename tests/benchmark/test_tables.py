import math
from dataclasses import replace

import pytest

from imboost.benchmark import RoundResult
from imboost.benchmark.tables import failures, method_tables, shared_sets


def run_of(dataset, seed, first_auc, last_auc, group=None, query="mm", rounds=5, **figures):
    """Return the first and the last line of a run with these test AUCs."""
    start = RoundResult("imboost", query, dataset, group or dataset, seed, rounds, 0)
    return [
        replace(start, test_auc=first_auc, **figures),
        replace(start, round=rounds, test_auc=last_auc, **figures),
    ]


LINES = [
    *run_of("wine", 1, 0.5, 0.99, seconds=2.0, test_ap=0.8),
    *run_of("thyroid", 1, 0.6, 0.9, seconds=1.0, test_ap=0.5),
    *run_of("thyroid", 2, 0.7, 0.8, seconds=3.0, test_ap=0.3),
    *run_of("MVTec-AD_bottle", 1, 0.4, 0.6, group="MVTec-AD"),
    *run_of("MVTec-AD_pill", 1, 0.4, 0.8, group="MVTec-AD"),
    *run_of("MVTec-AD_bottle", 2, 0.6, 0.8, group="MVTec-AD"),
    *run_of("MVTec-AD_pill", 2, 0.6, 1.0, group="MVTec-AD"),
]


@pytest.fixture
def table():
    [method] = method_tables(LINES)
    return method


def test_tables_stand_before_embeddings_each_by_name(table):
    assert [group.group for group in table.groups] == ["thyroid", "wine", "MVTec-AD"]
    assert [group.is_tabular for group in table.groups] == [True, True, False]


def test_embeddings_the_paper_did_not_use_are_no_tables_and_have_no_paper_figure():
    group = "CV_by_ResNet18/MVTec-AD"
    [method] = method_tables(run_of(f"{group}_bottle", 1, 0.5, 0.6, group=group))
    assert not method.groups[0].is_tabular
    assert method.groups[0].cells["test_auc"].paper is None


def test_a_cell_is_mean_and_deviation_over_seeds_beside_the_paper(table):
    cell = table.groups[0].cells["test_auc"]
    assert cell.mean == pytest.approx(0.85)
    assert cell.deviation == pytest.approx(0.05)
    assert cell.paper == 0.97
    assert cell.difference == pytest.approx(-0.12)
    assert table.groups[0].cells["test_ap"].mean == pytest.approx(0.4)
    assert table.groups[0].seconds == pytest.approx(2.0)
    assert (table.groups[0].n_parts, table.groups[0].n_seeds) == (1, 2)


def test_parts_are_averaged_before_seeds(table):
    group = table.groups[2]
    assert (group.n_parts, group.n_seeds) == (2, 2)
    # Seed 1: (0.6 + 0.8) / 2 = 0.7; seed 2: (0.8 + 1.0) / 2 = 0.9.
    assert group.cells["test_auc"].mean == pytest.approx(0.8)
    assert group.cells["test_auc"].deviation == pytest.approx(0.1)
    assert group.curve == pytest.approx({0: 0.5, 5: 0.8})


def test_the_mean_of_a_method_gives_every_set_the_same_weight(table):
    assert table.mean("test_auc") == pytest.approx((0.85 + 0.99 + 0.8) / 3)
    assert table.mean("test_auc", tabular=True) == pytest.approx((0.85 + 0.99) / 2)
    assert table.mean("test_auc", tabular=False) == pytest.approx(0.8)
    assert (table.count(), table.count(tabular=True), table.count(tabular=False)) == (3, 2, 1)


def test_the_papers_mean_is_over_the_same_sets(table):
    assert table.paper_mean("test_auc", tabular=True) == pytest.approx((0.97 + 0.994) / 2)


def test_sets_near_the_paper_are_counted(table):
    # thyroid lies 0.12 below the paper, wine 0.004.
    assert table.n_near_paper(tabular=True) == 1
    assert table.n_near_paper(0.2, tabular=True) == 2


def test_curves_are_means_over_the_sets(table):
    assert table.curve(["thyroid", "wine"]) == pytest.approx(
        {0: (0.65 + 0.5) / 2, 5: (0.85 + 0.99) / 2}
    )
    assert table.curve() == pytest.approx({0: 1.65 / 3, 5: 2.64 / 3})


def test_means_beside_the_papers_are_over_sets_the_paper_has(table):
    own = method_tables([*LINES, *run_of("our-own", 1, 0.5, 0.2)])[0]
    assert math.isnan(own.paper_mean("test_auc", tabular=True))
    assert not math.isnan(table.paper_mean("test_auc", tabular=True))


def test_only_sets_that_all_methods_have_are_shared():
    methods = method_tables([*LINES, *run_of("wine", 1, 0.5, 0.6, query="rd")])
    assert shared_sets(methods) == ["wine"]


def test_methods_come_in_the_order_of_their_first_line_without_failures():
    failed = RoundResult("imboost", "cp", "wine", "wine", 1, 1, -1, status="failed", reason="no")
    lines = [failed, *run_of("wine", 1, 0.5, 0.6, query="rd"), *LINES]
    assert [method.name for method in method_tables(lines)] == ["imboost · rd", "imboost · mm"]
    assert failures(lines) == [failed]


def test_runs_of_other_lengths_are_methods_of_their_own_without_paper_figures():
    lines = [*LINES, *run_of("wine", 1, 0.5, 0.7, rounds=2)]
    long, short = method_tables(lines)
    assert (long.name, short.name) == ("imboost · mm", "imboost · mm · 2 rounds")
    assert long.groups[1].cells["test_auc"].mean == pytest.approx(0.99)
    assert short.groups[0].cells["test_auc"].paper is None


def test_a_method_the_paper_does_not_have_stands_alone():
    [method] = method_tables(run_of("thyroid", 1, 0.5, 0.6, query="rd"))
    assert method.groups[0].cells["test_auc"].difference is None
    assert math.isnan(method.paper_mean("test_auc"))
    assert method.n_near_paper() == 0
