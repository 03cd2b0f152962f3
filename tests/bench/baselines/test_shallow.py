"""XGBOD and AAD."""

import numpy as np

from imboost_bench.baselines.coniferest_forests import AAD
from imboost_bench.baselines.xgbod import XGBOD, _make_pool


def test_xgbods_pool_is_pyods():
    from pyod.models import xgbod as pyods_module

    pyods, _ = pyods_module.XGBOD()._init_detectors(np.zeros((100, 2)))
    ours = _make_pool(100, 0)

    def described(pool):
        return sorted((type(d).__name__, str(_settings(d))) for d in pool)

    def _settings(detector):
        kept = ("n_neighbors", "n_bins", "nu", "n_estimators")
        return {k: v for k, v in detector.get_params().items() if k in kept}

    assert described(ours) == described(pyods)


def test_a_row_seen_in_training_keeps_the_scores_it_had_there(planted):
    X = planted.X
    detector = XGBOD(n_trees=5, max_reference_rows=60, random_state=0).fit(X)
    nearest = detector._unsupervised_scores(detector._scaling.transform(X))[
        :, 0
    ]  # distance to the nearest row
    assert (nearest > 0).all()


def test_a_table_smaller_than_the_subsamples_is_accepted():
    rows = np.random.default_rng(0).normal(size=(20, 2))
    assert np.isfinite(AAD(n_subsamples=256, random_state=0).fit(rows).decision_scores_).all()
