import math

import pytest

from imboost_bench.analysis.comparison import is_tabular
from imboost_bench.analysis.result_set import ResultSet
from result_lines import failed_line, run_lines

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


def figure(lines, group, metric="test_auc", method="imboost/mm"):
    return ResultSet(lines).figures.loc[(method, group, metric)]


def mean_of(lines, groups, column="mean", method="imboost/mm"):
    return ResultSet(lines).means("test_auc", groups).loc[method, column]


def test_tables_come_before_embeddings_each_by_name():
    assert ResultSet(LINES).groups == ALL
    assert [is_tabular(group) for group in ALL] == [True, True, False]


def test_embeddings_the_paper_did_not_use_are_no_tables_and_have_no_paper_figure():
    group = "CV_by_ResNet18/MVTec-AD"
    assert not is_tabular(group)
    lines = run_lines(f"{group}_bottle", 1, 0.6, group=group)
    assert math.isnan(figure(lines, group)["paper"])


def test_a_figure_is_mean_and_std_over_seeds_with_the_papers_value():
    auc = figure(LINES, "thyroid")
    assert auc["mean"] == pytest.approx(0.85)
    assert auc["std"] == pytest.approx(0.1 / math.sqrt(2))  # of a sample of two
    assert (auc["paper"], auc["n_seeds"]) == (0.97, 2)
    assert auc["difference"] == pytest.approx(-0.12)
    assert auc["seconds"] == pytest.approx(2.0)
    assert figure(LINES, "thyroid", "test_ap")["mean"] == pytest.approx(0.4)


def test_one_seed_has_no_std():
    assert math.isnan(figure(LINES, "wine")["std"])


def test_parts_are_averaged_before_seeds():
    auc = figure(LINES, "MVTec-AD")
    assert auc["n_parts"] == 2
    # Seed 1: (0.6 + 0.8) / 2 = 0.7; seed 2: (0.8 + 1.0) / 2 = 0.9.
    assert auc["mean"] == pytest.approx(0.8)
    assert auc["std"] == pytest.approx(0.2 / math.sqrt(2))
    curve = ResultSet(LINES).curves(["imboost/mm"], ["MVTec-AD"])["mean"]
    assert curve["imboost/mm"].to_dict() == pytest.approx({4: 0.5, 5: 0.8})


def test_the_mean_of_a_method_gives_every_data_set_the_same_weight():
    assert mean_of(LINES, ALL) == pytest.approx((0.85 + 0.99 + 0.8) / 3)
    assert mean_of(LINES, ["thyroid", "wine"]) == pytest.approx((0.85 + 0.99) / 2)


def test_the_std_of_a_method_is_over_the_data_sets_with_several_seeds():
    assert mean_of(LINES, ALL, "std") == pytest.approx((0.1 + 0.2) / math.sqrt(2) / 2)
    assert math.isnan(mean_of(LINES, ["wine"], "std"))


def test_the_papers_mean_and_the_difference_are_over_the_data_sets_that_it_uses():
    lines = [*LINES, *run_lines("our-own", 1, 0.2)]
    groups = ["thyroid", "wine", "our-own"]
    assert mean_of(lines, groups, "paper") == pytest.approx((0.97 + 0.994) / 2)
    assert mean_of(lines, groups, "difference") == pytest.approx((-0.12 - 0.004) / 2)


def test_mean_curves_are_over_rounds_that_all_data_sets_have():
    lines = [*LINES, *run_lines("thyroid", 3, 0.1, 0.2, 0.85)]
    curve = ResultSet(lines).curves(["imboost/mm"], ["thyroid", "wine"])["mean"]["imboost/mm"]
    assert list(curve.index) == [4, 5]
    assert curve[4] == pytest.approx(((0.6 + 0.7 + 0.2) / 3 + 0.5) / 2)
    assert curve[5] == pytest.approx((0.85 + 0.99) / 2)


def test_methods_come_in_the_order_of_their_first_line_without_failures():
    failed = failed_line("wine", 1, "failed", "no", method="imboost/cp")
    lines = [failed, *run_lines("wine", 1, 0.6, method="imboost/rd"), *LINES]
    assert list(ResultSet(lines).keys) == ["imboost/rd", "imboost/mm"]


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ({"rounds": 2}, "imboost/mm · rounds 2"),
        ({"budget": "20rows"}, "imboost/mm · budget 20rows"),
        ({"oracle_noise": 0.1}, "imboost/mm · noise 0.1"),
        ({"settings": "n_members=5"}, "imboost/mm · n_members=5"),
    ],
)
def test_other_protocols_and_settings_are_methods_of_their_own_without_paper_figures(other, name):
    lines = [*LINES, *run_lines("wine", 1, 0.7, **other)]
    assert list(ResultSet(lines).keys) == ["imboost/mm", name]
    assert figure(lines, "wine")["mean"] == pytest.approx(0.99)
    assert math.isnan(figure(lines, "wine", method=name)["paper"])
    assert math.isnan(mean_of(lines, ["wine"], "paper", method=name))


def test_a_missing_metric_does_not_affect_the_means():
    lines = [*LINES, *run_lines("thyroid", 3, math.nan)]
    assert figure(lines, "thyroid")["mean"] == pytest.approx(0.85)
    assert ResultSet(run_lines("thyroid", 3, math.nan)).runs.empty


def test_a_part_with_more_seeds_counts_no_more_than_the_others():
    lines = [
        *run_lines("MVTec-AD_a", 1, 0.5, group="MVTec-AD"),
        *run_lines("MVTec-AD_b", 1, 0.7, group="MVTec-AD"),
        *run_lines("MVTec-AD_b", 2, 0.9, group="MVTec-AD"),
    ]
    auc = figure(lines, "MVTec-AD")
    assert auc["mean"] == pytest.approx((0.5 + 0.8) / 2)
    assert math.isnan(auc["std"])  # one seed alone has both parts
