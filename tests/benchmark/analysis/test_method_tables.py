import math

import pytest

from imboost.benchmark.analysis.method_tables import is_tabular, method_tables
from result_lines import run_lines, trouble_line

LINES = [
    *run_lines("wine", 1, 0.5, 0.99, seconds=2.0, test_ap=0.8),
    *run_lines("thyroid", 1, 0.6, 0.9, seconds=1.0, test_ap=0.5),
    *run_lines("thyroid", 2, 0.7, 0.8, seconds=3.0, test_ap=0.3),
    *run_lines("MVTec-AD_bottle", 1, 0.4, 0.6, group="MVTec-AD"),
    *run_lines("MVTec-AD_pill", 1, 0.4, 0.8, group="MVTec-AD"),
    *run_lines("MVTec-AD_bottle", 2, 0.6, 0.8, group="MVTec-AD"),
    *run_lines("MVTec-AD_pill", 2, 0.6, 1.0, group="MVTec-AD"),
]
ALL = ["thyroid", "wine", "MVTec-AD"]


@pytest.fixture
def table():
    [method] = method_tables(LINES)
    return method


def test_tables_stand_before_embeddings_each_by_name(table):
    assert list(table.sets) == ALL
    assert [is_tabular(group) for group in ALL] == [True, True, False]


def test_embeddings_the_paper_did_not_use_are_no_tables_and_have_no_paper_figure():
    group = "CV_by_ResNet18/MVTec-AD"
    [method] = method_tables(run_lines(f"{group}_bottle", 1, 0.6, group=group))
    assert not is_tabular(group)
    assert method.sets[group].cells["test_auc"].paper is None


def test_a_cell_is_mean_and_deviation_over_seeds_beside_the_paper(table):
    own = table.sets["thyroid"]
    cell = own.cells["test_auc"]
    assert cell.mean == pytest.approx(0.85)
    assert cell.deviation == pytest.approx(0.1 / math.sqrt(2))  # of a sample of two
    assert (cell.paper, cell.n_seeds) == (0.97, 2)
    assert cell.difference == pytest.approx(-0.12)
    assert own.cells["test_ap"].mean == pytest.approx(0.4)
    assert own.seconds == pytest.approx(2.0)


def test_one_seed_has_no_deviation(table):
    assert math.isnan(table.sets["wine"].cells["test_auc"].deviation)


def test_parts_are_averaged_before_seeds(table):
    own = table.sets["MVTec-AD"]
    assert own.parts == {"MVTec-AD_bottle", "MVTec-AD_pill"}
    # Seed 1: (0.6 + 0.8) / 2 = 0.7; seed 2: (0.8 + 1.0) / 2 = 0.9.
    assert own.cells["test_auc"].mean == pytest.approx(0.8)
    assert own.cells["test_auc"].deviation == pytest.approx(0.2 / math.sqrt(2))
    assert {number: cell.mean for number, cell in own.curve.items()} == pytest.approx(
        {4: 0.5, 5: 0.8}
    )


def test_the_mean_of_a_method_gives_every_set_the_same_weight(table):
    assert table.mean("test_auc", ALL) == pytest.approx((0.85 + 0.99 + 0.8) / 3)
    assert table.mean("test_auc", ["thyroid", "wine"]) == pytest.approx((0.85 + 0.99) / 2)


def test_the_deviation_of_a_method_is_over_the_sets_with_several_seeds(table):
    assert table.deviation("test_auc", ALL) == pytest.approx((0.1 + 0.2) / math.sqrt(2) / 2)
    assert math.isnan(table.deviation("test_auc", ["wine"]))


def test_the_papers_mean_and_the_difference_are_over_the_sets_that_it_has():
    [own] = method_tables([*LINES, *run_lines("our-own", 1, 0.2)])
    groups = ["thyroid", "wine", "our-own"]
    assert own.paper_mean("test_auc", groups) == pytest.approx((0.97 + 0.994) / 2)
    assert own.mean_difference("test_auc", groups) == pytest.approx((-0.12 - 0.004) / 2)


def test_mean_curves_are_over_rounds_that_all_sets_have(table):
    curve = table.mean_curve(["thyroid", "wine"])
    assert curve[4].mean == pytest.approx((0.65 + 0.5) / 2)
    assert curve[5].mean == pytest.approx((0.85 + 0.99) / 2)
    assert table.mean_curve([]) == {}


def test_methods_come_in_the_order_of_their_first_line_without_failures():
    failed = trouble_line("wine", 1, "failed", "no", method="imboost/cp")
    lines = [failed, *run_lines("wine", 1, 0.6, method="imboost/rd"), *LINES]
    assert [method.name for method in method_tables(lines)] == ["imboost/rd", "imboost/mm"]


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ({"rounds": 2}, "imboost/mm · 2 rounds"),
        ({"budget": "20rows"}, "imboost/mm · budget 20rows"),
        ({"oracle_noise": 0.1}, "imboost/mm · noise 0.1"),
        ({"settings": "n_members=5"}, "imboost/mm · n_members=5"),
    ],
)
def test_runs_that_are_not_the_papers_are_methods_of_their_own_without_its_figures(other, name):
    plain, changed = method_tables([*LINES, *run_lines("wine", 1, 0.7, **other)])
    assert (plain.name, changed.name) == ("imboost/mm", name)
    assert plain.sets["wine"].cells["test_auc"].mean == pytest.approx(0.99)
    assert changed.sets["wine"].cells["test_auc"].paper is None
    assert math.isnan(changed.paper_mean("test_auc", ["wine"]))


def test_a_figure_that_is_not_a_number_spoils_no_mean():
    [table] = method_tables([*LINES, *run_lines("thyroid", 3, math.nan)])
    assert table.sets["thyroid"].cells["test_auc"].mean == pytest.approx(0.85)
    assert method_tables(run_lines("thyroid", 3, math.nan)) == []


def test_a_part_with_more_seeds_counts_no_more_than_the_others():
    [table] = method_tables(
        [
            *run_lines("MVTec-AD_a", 1, 0.5, group="MVTec-AD"),
            *run_lines("MVTec-AD_b", 1, 0.7, group="MVTec-AD"),
            *run_lines("MVTec-AD_b", 2, 0.9, group="MVTec-AD"),
        ]
    )
    cell = table.sets["MVTec-AD"].cells["test_auc"]
    assert cell.mean == pytest.approx((0.5 + 0.8) / 2)
    assert math.isnan(cell.deviation)  # one seed alone has both parts
