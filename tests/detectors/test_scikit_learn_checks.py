"""Every detector against scikit-learn's own estimator checks."""

import warnings
from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import check_estimator

from conftest import make_quick
from imboost import TableDetector
from imboost_bench.baselines import DETECTORS

CLASS_LABELS = (
    "the check hands over class labels such as 2 as y; detectors refuse labels outside "
    "{-1, 0, 1}. Without y it passes, see the test below."
)
EXPECTED_FAILURES = {
    "check_estimators_dtypes": CLASS_LABELS,
    "check_fit2d_1feature": CLASS_LABELS,
}


@pytest.fixture(autouse=True)
def _few_forests(monkeypatch):
    """Give XGBOD one isolation forest, which takes most of its time, in place of seven."""
    monkeypatch.setattr("imboost_bench.baselines.xgbod.TREE_COUNTS", (10,))


def failures_of(estimator, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            estimator, expected_failed_checks=expected, on_fail=None, on_skip=None
        )
    ran = [r["check_name"] for r in results if r["status"] in ("passed", "xfail")]
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    # A listed failure that now passes must be removed from the list.
    passed = {r["check_name"] for r in results if r["status"] == "passed"}
    return ran, failed, passed & set(expected)


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_scikit_learns_checks_pass_but_for_the_listed_ones(name):
    ran, failed, stale = failures_of(make_quick(name, random_state=None), EXPECTED_FAILURES)
    assert len(ran) >= 35
    assert failed == {}
    assert stale == set()


def test_scikit_learns_checks_pass_for_tables_but_for_the_listed_one():
    detector = TableDetector(make_quick("stack", random_state=None))
    expected = {"check_estimators_dtypes": CLASS_LABELS}
    ran, failed, stale = failures_of(detector, expected)
    assert failed == {}
    assert stale == set()
    text = Path("docs/reference.md").read_text(encoding="utf-8")
    assert f"{len(ran) - 1} of {len(ran)} checks" in text
    assert all(f"`{name}`" in text for name in EXPECTED_FAILURES)


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_without_labels_scikit_learns_checks_all_pass(name):
    kind = type(make_quick(name))

    class WithoutLabels(kind):
        def __init__(self, random_state=None):
            super().__init__(**{**make_quick(name).get_params(), "random_state": random_state})

        def fit(self, X, y=None, **settings):
            return super().fit(X, **settings)

    local_class = {"check_estimators_pickle": "pickle cannot import a local class"}
    ran, failed, _ = failures_of(WithoutLabels(), local_class)
    assert len(ran) >= 35
    assert failed == {}
