"""Every detector against the package's contract, PyOD's way of use."""

import numpy as np
import pytest
from pyod.models.hbos import HBOS
from sklearn.base import BaseEstimator, clone

from conftest import make_quick
from imboost import IMBoost
from imboost.checks import check_detector
from imboost.detectors import DETECTORS, find_detector
from imboost.errors import UnknownNameError


def test_it_keeps_the_contract(quick_detector):
    check_detector(quick_detector)


def test_the_contract_is_pyods_own():
    check_detector(HBOS(), exact=False)


class Noisy(BaseEstimator):
    """Breaks the contract: scores change from call to call."""

    def __init__(self, contamination=0.1):
        self.contamination = contamination

    def fit(self, X, y=None):
        self.decision_scores_ = X.sum(axis=1)
        self.threshold_ = float(np.quantile(self.decision_scores_, 1 - self.contamination))
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(int)
        return self

    def decision_function(self, X):
        return X.sum(axis=1) + np.random.default_rng().normal(size=len(X))


def test_the_contract_suite_tells_a_detector_whose_scores_change():
    with pytest.raises(AssertionError, match="predict must be 1"):
        check_detector(
            type(
                "NoisyPredictor",
                (Noisy,),
                {
                    "predict": lambda self, X: (
                        self.decision_function(X) > self.threshold_
                    ).astype(int)
                },
            )()
        )


def test_feature_names_are_kept(quick_detector):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "b"])
    assert quick_detector.fit(table).feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        quick_detector.decision_function(table.rename(columns={"a": "c"}))


def test_a_clone_is_untrained_and_equal_in_settings(quick_detector, planted):
    quick_detector.fit(planted.X)
    copy = clone(quick_detector)
    assert copy.get_params() == quick_detector.get_params()
    assert not hasattr(copy, "decision_scores_")


def test_several_members_average_their_scores(planted):
    kind = "imboost"
    one = make_quick(kind).fit(planted.X)
    five = make_quick(kind, n_members=5).fit(planted.X)
    assert five.decision_scores_.shape == one.decision_scores_.shape
    assert not np.array_equal(five.decision_scores_, one.decision_scores_)


def test_members_vary_less_than_single_models(planted):
    def spread(n_members):
        scores = [
            make_quick("imboost", n_members=n_members, random_state=seed)
            .fit(planted.X)
            .decision_scores_
            for seed in range(6)
        ]
        return np.std(scores, axis=0).mean()

    assert spread(8) < 0.7 * spread(1)


def test_full_labels_and_partial_labels_are_both_taken(planted):
    full = IMBoost(random_state=0).fit(planted.X, planted.y)
    scores = full.decision_scores_
    assert scores[planted.y == 1].mean() > scores[planted.y == 0].mean() + 5


def test_with_no_labels_imboost_is_its_warm_up(planted):
    unlabelled = np.full(len(planted.y), -1)
    first = make_quick("imboost").fit(planted.X)
    second = make_quick("imboost").fit(planted.X, unlabelled)
    np.testing.assert_array_equal(first.decision_scores_, second.decision_scores_)


def test_query_scores_average_the_last_epochs(planted):
    detector = make_quick("imboost", round_epochs=3).fit(planted.X)
    assert not np.array_equal(detector.query_scores_, detector.decision_scores_)
    correlation = np.corrcoef(detector.query_scores_, detector.decision_scores_)[0, 1]
    assert correlation > 0.5


def test_verbose_tells_the_stages(planted, capsys):
    make_quick("imboost", verbose=True).fit(planted.X)
    assert "warm-up" in capsys.readouterr().out


def test_an_unknown_detector_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'imboost'"):
        find_detector("imbost")


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_every_setting_is_documented(name):
    text = DETECTORS[name].__doc__
    for setting in DETECTORS[name]().get_params():
        assert setting in text, f"{name}: {setting} is missing from the docstring"
