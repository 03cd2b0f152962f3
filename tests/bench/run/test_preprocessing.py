"""Tables of the benchmark with cells missing, or scaled in another way."""

import numpy as np
import pytest

from imboost.datasets import planted_outliers
from imboost.detectors import Stack
from imboost.detectors.table_detector import TableDetector
from imboost.errors import IMBoostError
from imboost_bench.datasets.splits import split_dataset
from imboost_bench.run.plan import Method
from imboost_bench.run.preprocessing import Preprocessing
from imboost_bench.run.protocol import RunSpec, run


@pytest.fixture
def split():
    return split_dataset(planted_outliers(300), seed=0)


def test_without_a_setting_nothing_is_done(split):
    preprocessing, detector = Preprocessing(), Stack()
    assert preprocessing.remove_cells(split, 0) is split
    assert preprocessing.wrap(detector, 3) is detector


def test_a_share_of_the_cells_is_missing_and_the_same_for_all_methods(split):
    blanked = Preprocessing(missing=0.2).remove_cells(split, 7)
    for table, whole in ((blanked.train_X, split.train_X), (blanked.test_X, split.test_X)):
        is_missing = np.isnan(table)
        assert is_missing.mean() == pytest.approx(0.2, abs=0.05)
        np.testing.assert_array_equal(table[~is_missing], whole[~is_missing])
    again = Preprocessing(missing=0.2, scaling="minmax").remove_cells(split, 7)
    np.testing.assert_array_equal(again.train_X, blanked.train_X)


def test_means_of_the_training_rows_fill_both_tables(split):
    is_missing = np.isnan(Preprocessing(missing=0.3).remove_cells(split, 7).test_X)
    filled = Preprocessing(missing=0.3, imputation="mean").remove_cells(split, 7)
    known = Preprocessing(missing=0.3).remove_cells(split, 7).train_X
    means = np.broadcast_to(np.nanmean(known, axis=0), is_missing.shape)
    np.testing.assert_allclose(filled.test_X[is_missing], means[is_missing])


def test_a_scaling_wraps_the_detector():
    wrapped = Preprocessing(scaling="quantile").wrap(Stack(), 2)
    assert isinstance(wrapped, TableDetector)
    assert (wrapped.scaling, wrapped.roles) == ("quantile", {"0": "numeric", "1": "numeric"})


def test_a_run_with_missing_cells_goes_through():
    settings = "n_isolation_trees=10;n_trees=10;table__missing=0.2"
    spec = RunSpec("stack", "spread", "p", 1, 1, settings=settings)
    lines = list(run(spec, planted_outliers(1500)))
    assert lines[-1].test_auc > 0.6


def test_a_run_with_a_scaling_can_be_repeated():
    scaling = "table__scaling=robust"
    spec = RunSpec("stack", "spread", "planted", 100, rounds=1, settings=scaling)
    first, second = (
        [(line.test_auc, line.test_ap) for line in run(spec, planted_outliers(300))]
        for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize(
    "setting",
    ["table__scaling=linear", "table__missing=1", "table__imputation=x", "table__absent=1"],
)
def test_bad_settings_are_named_before_anything_runs(setting):
    name = setting.removeprefix("table__").split("=")[0]
    with pytest.raises(IMBoostError, match=name):
        Method.named("stack", settings=setting)
