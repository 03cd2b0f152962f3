"""Deep SVDD and Deep SAD: their risks by hand, and the effect of labels."""

import numpy as np
import pytest
import torch

from imboost.datasets import planted_outliers
from imboost_bench.baselines import make_detector
from imboost_bench.baselines.deep_sad import DeepSAD, deep_sad_risk
from imboost_bench.baselines.deep_svdd import (
    DeepSVDD,
    contrastive_risk,
    one_class_risk,
    soft_boundary_risk,
)
from imboost_bench.baselines.one_class import (
    Hypersphere,
    MLPEncoder,
    away_from_zero,
    split_batches,
)

DISTANCES = torch.tensor([[1.0, 2.0, 3.0, 10.0]])
QUICK = {
    "pretrain_epochs": 5,
    "train_epochs": 5,
    "round_epochs": 10,
    "learning_rate": 1e-3,
    "random_state": 0,
}


def test_the_one_class_risk_is_the_mean_distance():
    assert one_class_risk(DISTANCES).tolist() == [4.0]


def test_the_soft_boundary_counts_only_what_lies_beyond_the_radius():
    # A quarter outside: the squared radius is 3, the row at 10 lies 7 beyond it.
    assert soft_boundary_risk(DISTANCES, 0.25).tolist() == [3.0 + (7.0 / 4) / 0.25]


def test_the_radius_is_not_trained():
    distances = DISTANCES.clone().requires_grad_()
    soft_boundary_risk(distances, 0.25).sum().backward()
    assert distances.grad.tolist() == [[0.0, 0.0, 0.0, 1.0]]


def test_the_contrastive_risk_is_the_logistic_loss_of_each_class():
    is_outlier = torch.tensor([False, False, False, True])
    bias = torch.tensor([4.0])
    log_odds = 4.0 - DISTANCES[0].numpy()
    inliers = np.log1p(np.exp(-log_odds[:3])).mean()
    outliers = np.log1p(np.exp(log_odds[3]))
    found = contrastive_risk(DISTANCES, is_outlier, bias)
    assert found.item() == pytest.approx(inliers + outliers, rel=1e-5)


def test_labels_of_one_class_leave_the_other_term_out():
    found = contrastive_risk(DISTANCES, torch.zeros(4, dtype=torch.bool), torch.tensor([0.0]))
    assert found.item() == pytest.approx(np.log1p(np.exp(DISTANCES.numpy())).mean(), rel=1e-5)


def test_deep_sad_inverts_the_distance_of_a_labelled_outlier():
    labels = torch.tensor([-1, 0, -1, 1])
    expected = (1 + 2 * 2.0 + 3 + 2 / 10.0) / 4
    assert deep_sad_risk(DISTANCES, labels, 2.0).item() == pytest.approx(expected, rel=1e-5)


def test_distances_are_squared_and_from_the_centre():
    generator = torch.Generator().manual_seed(0)
    encoder = MLPEncoder(4, generator, n_members=2)
    centre = torch.randn(2, 32, generator=generator)
    x = torch.rand(4, 9, generator=generator)
    found = Hypersphere(encoder, centre).distances(x, batch_statistics=False)
    code = encoder(x, batch_statistics=False)
    expected = ((code - centre.unsqueeze(-1)) ** 2).sum(1)
    assert found.shape == (2, 9)
    torch.testing.assert_close(found, expected)


def test_a_centre_keeps_its_distance_from_zero():
    moved = away_from_zero(torch.tensor([[0.05, -0.05, 0.0, 2.0]]))
    torch.testing.assert_close(moved, torch.tensor([[0.1, -0.1, 0.1, 2.0]]))


def test_an_epoch_uses_every_row_once():
    batches = split_batches(np.arange(5, 55), 7, 100, np.random.default_rng(0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(5, 55))
    assert max(map(len, batches)) <= 7


def test_on_a_large_table_batches_grow():
    batches = split_batches(np.arange(1000), 10, 5, np.random.default_rng(0))
    assert [len(batch) for batch in batches] == [200] * 5


@pytest.fixture(scope="module")
def hard():
    """Outliers that no unsupervised detector finds: a dense cluster of their own."""
    rng = np.random.default_rng(3)
    y = np.r_[np.zeros(360), np.ones(40)].astype(np.int8)
    X = rng.normal(size=(400, 5))
    X[y == 1] = 0.3 * rng.normal(size=(40, 5)) + 0.8
    return X, y


def auc(y, scores):
    from sklearn.metrics import roc_auc_score

    return roc_auc_score(y, scores)


@pytest.mark.parametrize("name", ["oc-nce", "sb-nce", "dsad"])
def test_labels_separate_the_classes(hard, name):
    X, y = hard
    labels = np.where(np.arange(len(y)) % 4 == 0, y, -1)
    detector = make_detector(name, **QUICK).fit(X)
    before = auc(y, detector.decision_scores_)
    for _ in range(5):
        detector.refine(X, labels)
    unseen = labels == -1
    assert auc(y[unseen], detector.decision_scores_[unseen]) > max(before, 0.5) + 0.2


def test_without_contrast_labelled_outliers_are_only_excluded(hard):
    X, y = hard
    labels = np.where(y == 1, 1, -1)
    plain = DeepSVDD(objective="oc", **QUICK).fit(X)
    contrastive = DeepSVDD(objective="oc-nce", **QUICK).fit(X)
    np.testing.assert_array_equal(plain.decision_scores_, contrastive.decision_scores_)
    plain.refine(X, labels)
    contrastive.refine(X, labels)
    mean_scores = [d.decision_scores_[y == 1].mean() for d in (plain, contrastive)]
    assert mean_scores[1] > mean_scores[0]


def test_a_contrastive_weight_of_zero_is_plain_deep_svdd(hard):
    X, y = hard
    weightless = DeepSVDD(objective="sb-nce", contrastive_weight=0.0, **QUICK).fit(X, y)
    plain = DeepSVDD(objective="sb", **QUICK).fit(X, y)
    np.testing.assert_array_equal(weightless.decision_scores_, plain.decision_scores_)


def test_the_soft_boundary_starts_after_its_epochs_of_one_class_training(hard):
    X, _ = hard
    settings = {**QUICK, "train_epochs": 3}
    late = DeepSVDD(objective="sb", boundary_epochs=3, **settings).fit(X)
    never = DeepSVDD(objective="oc", **settings).fit(X)
    at_once = DeepSVDD(objective="sb", boundary_epochs=0, **settings).fit(X)
    np.testing.assert_array_equal(late.decision_scores_, never.decision_scores_)
    assert not np.array_equal(late.decision_scores_, at_once.decision_scores_)


@pytest.mark.parametrize("labels", [np.ones(40), np.zeros(40)], ids=["outliers", "inliers"])
@pytest.mark.parametrize("name", ["oc", "sb-nce", "dsad"])
def test_a_table_with_all_labels_of_one_class_can_be_trained_on(name, labels):
    X = planted_outliers(40, 3, 0.1).X
    scores = make_detector(name, **QUICK).fit(X).refine(X, labels).decision_scores_
    assert np.isfinite(scores).all()


def test_deep_sad_weighs_labels(hard):
    X, y = hard
    light, heavy = (
        DeepSAD(label_weight=weight, **QUICK).fit(X).refine(X, y).decision_scores_
        for weight in (0.0, 10.0)
    )
    ratio = [s[y == 1].mean() / s[y == 0].mean() for s in (light, heavy)]
    assert ratio[1] > 2 * ratio[0]
