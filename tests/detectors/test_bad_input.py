"""Invalid input raises a clear error; unusual but valid input works."""

import numpy as np
import pytest

from conftest import make_quick
from imboost.detectors import Stack
from imboost.detectors.shallow import ShallowDetector
from imboost_bench.baselines import DETECTORS
from imboost_bench.baselines.coniferest_forests import AAD

GOOD = np.random.default_rng(0).normal(size=(40, 3))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.where(GOOD > 2, np.inf, GOOD), "infinity"),
        ([["a", "b"], ["c", "d"], ["e", "f"]], "could not convert string to float"),
        (np.empty((0, 3)), "0 sample"),
        (np.empty((5, 0)), "0 feature"),
        (GOOD[:1], "1 sample|minimum of 2"),
        (GOOD[0], "Expected 2D array"),
        (GOOD[None], "expected <= 2|dim 3"),
    ],
    ids=["infinity", "strings", "no rows", "no columns", "one row", "1-D", "3-D"],
)
def test_a_bad_table_is_refused(quick_detector, table, message):
    with pytest.raises(ValueError, match=message):
        quick_detector.fit(table)


def test_missing_numbers_are_part_of_the_data_or_refused(quick_detector):
    table = GOOD.copy()
    table[::7, 0] = table[3, 1] = np.nan
    if not quick_detector.allow_nan:
        with pytest.raises(ValueError, match="NaN"):
            quick_detector.fit(table)
        return
    labels = np.where(np.arange(len(table)) < 5, np.arange(len(table)) % 2, -1)
    quick_detector.fit(table).refine(table, labels)
    assert np.isfinite(quick_detector.decision_scores_).all()
    np.testing.assert_allclose(
        quick_detector.decision_function(table), quick_detector.decision_scores_, rtol=1e-6
    )
    assert np.isfinite(quick_detector.decision_function(np.full((1, 3), np.nan))).all()


@pytest.mark.parametrize(
    "table",
    [
        GOOD[:, :1],
        GOOD[:2],
        GOOD[:7],
        np.column_stack([GOOD, np.full(40, 3.0), np.zeros(40)]),
        np.ones((40, 3)),
        np.tile(GOOD[:1], (40, 1)),
        GOOD * 1e300,
        (GOOD * 1e30).astype(np.float32),
        GOOD * 1e-300,
        (GOOD * 1e-39).astype(np.float32),
        np.where(GOOD > 1.5, 1e12, GOOD),
        GOOD.astype(int),
        np.asfortranarray(GOOD),
        GOOD.tolist(),
    ],
    ids=[
        "one column",
        "two rows",
        "fewer rows than the batch",
        "constant columns",
        "all cells equal",
        "all rows equal",
        "huge",
        "huge float32",
        "tiny",
        "tiny float32",
        "heavy tail",
        "integers",
        "column-major",
        "lists",
    ],
)
def test_an_unusual_table_works(quick_detector, table):
    scores = quick_detector.fit(table).decision_function(table)
    assert scores.shape == (len(table),)
    assert np.isfinite(scores).all()
    assert set(np.unique(quick_detector.predict(table))) <= {0, 1}


def test_equal_rows_score_equal(quick_detector):
    quick_detector.fit(np.tile(GOOD[:1], (40, 1)))
    assert len(np.unique(quick_detector.decision_scores_)) == 1
    assert quick_detector.labels_.sum() == 0


def test_a_new_value_in_a_constant_column_scores_higher(quick_detector):
    table = np.column_stack([GOOD, np.full(40, 3.0)])
    quick_detector.fit(table)
    changed = table.copy()
    changed[:, 3] = 7.0
    before, after = (
        quick_detector.decision_function(table),
        quick_detector.decision_function(changed),
    )
    if isinstance(quick_detector, AAD):
        # Isolation trees never cut a column that was constant, and so see no change.
        np.testing.assert_array_equal(after, before)
    else:
        assert np.median(after) > np.median(before)


@pytest.mark.parametrize("value", [1e6, -1e6, 1e300, -1e300])
def test_a_value_far_outside_the_training_range_scores_high_and_finite(quick_detector, value):
    quick_detector.fit(GOOD)
    row = GOOD[:1].copy()
    row[0, 1] = value
    score = quick_detector.decision_function(row)
    assert np.isfinite(score).all()
    if isinstance(quick_detector, (ShallowDetector, Stack)):  # ranks and isolation saturate
        assert score[0] > np.median(quick_detector.decision_scores_)
    else:
        assert score[0] > quick_detector.decision_scores_.max()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full(40, 2), "only 0 .inlier., 1 .outlier. and -1"),
        (np.array(["inlier"] * 40), "only 0 .inlier., 1 .outlier. and -1"),
        (np.full(40, 0.5), "got 0.5"),
        (np.zeros(39), r"expected shape \(40,\), got \(39,\)"),
        (np.zeros((40, 2)), "one label per row"),
    ],
    ids=["two", "strings", "fractions", "other length", "two columns"],
)
def test_bad_labels_are_refused(quick_detector, labels, message):
    with pytest.raises(ValueError, match=message):
        quick_detector.fit(GOOD, labels)
    quick_detector.fit(GOOD)
    with pytest.raises(ValueError, match=message):
        quick_detector.refine(GOOD, labels)


def test_new_columns_at_scoring_are_refused(quick_detector):
    quick_detector.fit(GOOD)
    with pytest.raises(ValueError, match=r"4 features, but .* is expecting 3"):
        quick_detector.decision_function(np.column_stack([GOOD, GOOD[:, 0]]))


def test_other_rows_in_refine_are_refused(quick_detector):
    quick_detector.fit(GOOD)
    with pytest.raises(ValueError, match="expected 40, got 30"):
        quick_detector.refine(GOOD[:30], np.zeros(30))


def test_scoring_before_training_is_refused(quick_detector):
    with pytest.raises(ValueError, match="not fitted yet"):
        quick_detector.decision_function(GOOD)


BAD_SETTINGS = [
    ("contamination", 0.0, "contamination must be above 0 and at most 0.5"),
    ("contamination", 0.7, "got 0.7"),
    ("contamination", "ten", "contamination must be a number or 'auto', got 'ten'"),
    ("n_members", 0, "n_members must be at least 1"),
    ("n_members", 1.5, "n_members must be an integer"),
    ("batch_size", 1, "batch_size must be at least 2"),
    ("learning_rate", 0, "learning_rate must be above 0"),
    ("learning_rate", float("nan"), "learning_rate must be above 0"),
    ("learning_rate", float("inf"), "got inf"),
    ("device", "meta", "device must be 'auto', 'cpu'"),
    ("device", None, "got None"),
    ("backbone", "vea", "Did you mean 'vae'"),
    ("device", "toaster", "device must be 'auto', 'cpu'"),
    ("objective", "oc-ncee", "Did you mean 'oc-nce'"),
    ("outside", 0.0, "outside must be above 0"),
    ("pretrain_epochs", -1, "pretrain_epochs must be at least 0"),
    ("pretrain_learning_rate", 0.0, "pretrain_learning_rate must be above 0"),
    ("max_batches", 0, "max_batches must be at least 1"),
    ("label_weight", -1.0, "label_weight must be at least 0"),
    ("n_trees", 0, "n_trees must be at least 1"),
    ("n_subsamples", 1, "n_subsamples must be at least 2"),
    ("n_spare_trees", -1, "n_spare_trees must be at least 0"),
    ("inlier_cost", -1.0, "inlier_cost must be at least 0"),
    ("n_neighbors", (5, 0), "n_neighbors must be at least 1"),
    ("max_reference_rows", 1, "max_reference_rows must be at least 2"),
    ("max_depth", 0, "max_depth must be at least 1"),
]


@pytest.mark.parametrize(
    ("name", "setting", "value", "error"),
    [
        (name, *bad)
        for name in sorted(DETECTORS)
        for bad in BAD_SETTINGS
        if bad[0] in make_quick(name).get_params()
    ],
)
def test_a_bad_setting_is_named_when_training_starts(name, setting, value, error):
    detector = make_quick(name, **{setting: value})
    with pytest.raises((ValueError, TypeError), match=error):
        detector.fit(GOOD)


def test_an_unknown_setting_is_an_error(quick_detector):
    with pytest.raises(TypeError):
        type(quick_detector)(no_such_setting=1)


def test_a_narrow_column_scores_finite_in_single_precision_too(quick_detector):
    table = np.column_stack([GOOD, GOOD[:, 0] * 1e-300])
    quick_detector.fit(table)
    assert np.isfinite(quick_detector.decision_function(table.astype(np.float32))).all()
