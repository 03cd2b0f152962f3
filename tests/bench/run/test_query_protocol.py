from dataclasses import replace

import numpy as np
import pytest

from adbench_folder import write_set
from imboost.datasets import planted_outliers
from imboost.datasets.dataset import Dataset
from imboost.errors import SettingError, UnknownNameError
from imboost_bench.paper import OUTLIER_SHARES, paper_datasets
from imboost_bench.run.plan import Method, make_plan
from imboost_bench.run.protocol import RoundResult, RunSpec, run, split_for
from imboost_bench.run.query_protocol import largest_share, parse_outlier_share
from imboost_bench.run.results import ResultFile
from imboost_bench.run.runner import run_all
from imboost_bench.run.suites import find_suite

SPEC = RunSpec("trees", "rd", "small", seed=100, rounds=1)
DATA = planted_outliers(200, 3, 0.2)

PAPER_OUTLIERS = {"thyroid": 75, "satimage-2": 57, "annthyroid": 501, "cover": 2572}


def n_outliers(split):
    return int(split.train_y.sum() + split.test_y.sum())


@pytest.mark.parametrize("name", PAPER_OUTLIERS)
def test_shares_of_the_paper_give_its_numbers_of_outliers(name):
    facts = paper_datasets().loc[name]
    n_inliers, share = facts.rows - facts.outliers, OUTLIER_SHARES[name]
    assert int(share * n_inliers / (1 - share)) == PAPER_OUTLIERS[name]


def test_the_papers_share_is_that_of_the_row_of_its_tables():
    bottle = Dataset("MVTec-AD_bottle", "MVTec-AD", DATA.X, DATA.y)
    split = split_for(replace(SPEC, outlier_share="paper"), bottle)
    assert n_outliers(split) == 8  # 5% of 168
    assert n_outliers(split_for(replace(SPEC, outlier_share="paper"), DATA)) == 40


def test_a_share_limits_the_outliers_of_every_data_set():
    assert n_outliers(split_for(replace(SPEC, outlier_share="0.1"), DATA)) == 17
    assert largest_share("0.1", "MVTec-AD") == 0.1


def test_methods_are_compared_on_the_same_outliers():
    specs = [replace(SPEC, outlier_share="0.1", detector=name) for name in ("trees", "oc")]
    first, second = (split_for(spec, DATA) for spec in specs)
    assert np.array_equal(first.train_X, second.train_X)
    other = split_for(replace(specs[0], seed=200), DATA)
    assert not np.array_equal(np.sort(first.train_X[:, 0]), np.sort(other.train_X[:, 0]))


def test_every_seed_and_data_set_keeps_its_own_outliers():
    def kept(spec):
        split = split_for(replace(spec, outlier_share="0.1"), DATA)
        rows = np.concatenate([split.train_X[split.train_y == 1], split.test_X[split.test_y == 1]])
        return {tuple(row) for row in rows.tolist()}

    assert kept(SPEC) == kept(replace(SPEC, query="mm"))
    assert kept(SPEC) != kept(replace(SPEC, seed=200))
    assert kept(SPEC) != kept(replace(SPEC, dataset="other"))


@pytest.mark.parametrize("text", ["1", "1.0", "all"])
def test_a_share_of_one_keeps_all_outliers(text):
    assert parse_outlier_share(text) == "all"


@pytest.mark.parametrize(
    ("text", "message"),
    [("half", "or a fraction of the rows"), ("0", "above 0"), ("1.5", "at most 1")],
)
def test_a_wrong_share_is_refused(text, message):
    with pytest.raises(SettingError, match=message):
        parse_outlier_share(text)


def test_options_are_part_of_the_specification_and_read_back(tmp_path):
    spec = replace(SPEC, outlier_share="0.1", split="random")
    assert str(spec) == ("trees/rd on small, seed 100, rounds 1, outlier share 0.1, random split")
    file = ResultFile(tmp_path / "results.csv", RoundResult)
    file.append(list(run(spec, DATA)))
    assert file.finished() == {spec}
    assert SPEC not in file.finished()


def test_a_suite_sets_the_papers_protocol():
    suite = find_suite("paper-protocol")
    assert (suite.outlier_share, suite.split) == ("paper", "random")
    assert suite.methods == find_suite("paper").methods


@pytest.fixture
def rare(tmp_path):
    """A data set with two outliers, which many random splits leave on one side."""
    y = np.repeat([0, 1], [38, 2]).astype(np.int8)
    X = np.random.default_rng(0).normal(size=(40, 2))
    write_set(tmp_path / "data", "Classical/1_rare.npz", X=X, y=y)
    return tmp_path / "data"


def test_a_run_without_a_test_outlier_is_skipped_with_its_reason_and_not_repeated(rare, tmp_path):
    plan = make_plan(
        rare, methods=[Method.named("trees", "rd")], seeds=range(6), rounds=0, split="random"
    )
    file = ResultFile(tmp_path / "out" / "results.csv", RoundResult)
    run_all(run, plan, file, lambda spec, last: None)
    by_status = {
        status: [n for n in file.read() if n.status == status] for status in ("ok", "skipped")
    }
    assert len(by_status["ok"]) + len(by_status["skipped"]) == 6
    assert all(
        "so AUC and AP are undefined" in line.reason and "rows" in line.reason
        for line in by_status["skipped"]
    )
    assert by_status["ok"]
    assert by_status["skipped"]
    assert file.finished() == file.finished(time_limit=600.0) == set(plan.specs)


def test_an_unknown_split_is_refused_before_anything_runs(rare):
    with pytest.raises(UnknownNameError, match="Did you mean 'random'"):
        make_plan(rare, methods=[Method.named("trees")], split="randon")
