"""Every detector against the package's contract, which has PyOD's interface."""

import numpy as np
import pandas
import pytest
import torch
from pyod.models.hbos import HBOS
from sklearn.base import BaseEstimator, clone

from conftest import make_quick
from imboost import ODIM, IMBoost
from imboost.checks import check_detector
from imboost.detectors.registry import DETECTORS as PRODUCT_DETECTORS
from imboost.errors import UnknownNameError
from imboost_bench.baselines import make_detector


def test_it_keeps_the_contract(quick_detector):
    check_detector(quick_detector)


def test_a_detector_of_pyod_keeps_the_contract():
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
        return X.sum(axis=1) + 100 * np.random.default_rng().normal(size=len(X))

    def predict(self, X):
        return (self.decision_function(X) > self.threshold_).astype(int)


def test_the_checks_reject_a_detector_whose_scores_change():
    with pytest.raises(AssertionError, match="predict must be 1"):
        check_detector(Noisy())


def test_feature_names_are_kept(quick_detector):
    table = pandas.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "b"])
    assert quick_detector.fit(table).feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        quick_detector.decision_function(table.rename(columns={"a": "c"}))


def test_a_clone_is_untrained_and_equal_in_settings(quick_detector, planted):
    quick_detector.fit(planted.X)
    copy = clone(quick_detector)
    assert copy.get_params() == quick_detector.get_params()
    assert not hasattr(copy, "decision_scores_")


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


@pytest.mark.parametrize("n_labelled", [300, 120], ids=["full", "partial"])
def test_labels_given_to_fit_separate_the_scores(planted, n_labelled):
    labels = np.where(np.arange(len(planted.y)) < n_labelled, planted.y, -1)
    without = IMBoost(random_state=0).fit(planted.X).decision_scores_
    scores = IMBoost(random_state=0).fit(planted.X, labels).decision_scores_

    def separation(values):
        return values[planted.y == 1].mean() - values[planted.y == 0].mean()

    assert separation(scores) > separation(without) + 5


def test_with_no_labels_imboost_is_its_warm_up(planted):
    unlabelled = np.full(len(planted.y), -1)
    first = make_quick("imboost").fit(planted.X)
    second = make_quick("imboost").fit(planted.X, unlabelled)
    np.testing.assert_array_equal(first.decision_scores_, second.decision_scores_)


def test_eq_6_averages_the_loss_over_the_last_epochs_of_a_round(planted, monkeypatch):
    calls = []

    def numbered(model, rows, noise):
        calls.append(rows)
        return torch.full((len(rows),), len(calls) - 1.0)

    # The final scores, which are no part of the mean, are computed elsewhere.
    monkeypatch.setattr("imboost.training.scoring.mean_losses", numbered)
    detector = make_quick("imboost", plain_epochs=2, trimmed_epochs=4, round_epochs=3)
    detector.fit(planted.X)
    assert len(calls) == 3
    assert detector.query_scores_ == pytest.approx(np.full(300, 1.0))
    detector.refine(planted.X, planted.y)
    assert len(calls) == 6
    assert detector.query_scores_ == pytest.approx(np.full(300, 4.0))


def test_altbi_averages_the_losses_of_its_last_epochs(planted):
    def scores(trimmed_epochs, averaged_epochs):
        settings = {"trimmed_epochs": trimmed_epochs, "averaged_epochs": averaged_epochs}
        return make_quick("altbi", **settings).fit(planted.X).decision_scores_

    # The first epochs of a longer training are those of a shorter one.
    singles = [scores(trimmed_epochs, 1) for trimmed_epochs in (2, 3, 4)]
    assert scores(4, 3) == pytest.approx(np.mean(singles, axis=0), rel=1e-5)


def test_odim_keeps_each_members_best_moment_and_stops_when_all_wait(planted, monkeypatch):
    # In turn of the first and the second member.
    distances = iter([1, 5, 2, 4, 0, 9, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    monkeypatch.setattr(
        "imboost.detectors.deep.odim._separation", lambda losses, rng: float(next(distances))
    )
    kept = []
    detector = ODIM(n_members=2, check_every=5, patience=10, max_updates=500, random_state=0)
    monkeypatch.setattr(detector, "_report", kept.append)
    detector.fit(planted.X)
    # The first member waits from update 10; its 7 at update 25 comes too late.
    assert kept == ["kept updates [10, 15]"]
    assert len(list(distances)) == 6


def test_refine_refuses_the_rows_in_another_order(quick_detector, planted):
    quick_detector.fit(planted.X)
    with pytest.raises(ValueError, match="in the same order"):
        quick_detector.refine(planted.X[::-1], planted.y[::-1])


def test_an_unknown_detector_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'imboost'"):
        make_detector("imbost")


@pytest.mark.parametrize("name", sorted(PRODUCT_DETECTORS))  # the reference has the baselines'
def test_every_setting_is_documented(name):
    detector = make_detector(name)
    text = type(detector).__doc__
    for setting in detector.get_params():
        assert setting in text, f"{name}: {setting} is missing from the docstring"
