"""The paper's equations on losses computed by hand."""

import numpy as np
import pytest
import torch

from imboost.detectors import IMBoost
from imboost.labels import INLIER, OUTLIER, unlabelled
from imboost.models import MLPVAE
from imboost.stats.scaling import MinMaxScaling
from imboost.training.loop import Schedule, make_optimiser, train
from imboost.training.polarization import (
    adaptive_threshold,
    labelled_losses,
    loss_bounds,
    polarization_steps,
    polarized_risk,
    weight_factor,
)
from imboost.training.scaled_rows import ScaledRows
from imboost.training.scoring import mean_losses
from imboost.training.warmup import (
    iwae_losses,
    loss_quantile,
    plain_risk,
    trimmed_risk,
    warmup_steps,
)


def test_eq_1_is_the_mean_of_the_batch():
    losses = torch.tensor([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0]])
    torch.testing.assert_close(plain_risk(losses), torch.tensor([3.0, 1.0]))


def test_eq_2_averages_what_is_not_above_the_threshold():
    losses = torch.tensor([[1.0, 2.0, 6.0], [5.0, 5.0, 5.0]])
    risk = trimmed_risk(losses, torch.tensor([2.0, 1.0]))
    torch.testing.assert_close(risk, torch.tensor([1.5, 0.0]))


def test_trimmed_rows_get_no_gradient():
    losses = torch.tensor([[1.0, 2.0, 6.0]], requires_grad=True)
    trimmed_risk(losses, torch.tensor([2.0])).sum().backward()
    torch.testing.assert_close(losses.grad, torch.tensor([[0.5, 0.5, 0.0]]))


@pytest.mark.parametrize(("quantile", "expected"), [(0.92, 92.0), (1.0, 100.0), (0.001, 1.0)])
def test_the_quantile_keeps_that_fraction_of_the_batch(quantile, expected):
    losses = torch.arange(1.0, 101.0).flip(0)[None]
    assert loss_quantile(losses, quantile).item() == expected


def test_eq_5_mixes_quantile_and_inlier_risk():
    assert adaptive_threshold(torch.tensor(10.0), torch.tensor(5.0), 0.4).item() == pytest.approx(
        8
    )


def test_eq_3_adds_inlier_risk_and_subtracts_outlier_risk():
    one, two, three = torch.tensor(1.0), torch.tensor(2.0), torch.tensor(3.0)
    assert polarized_risk(one, two, three, 2.0, 0.5).item() == pytest.approx(1 + 4 - 1.5)


def test_weights_decay_by_gamma_per_epoch_of_polarization():
    assert weight_factor(50, Schedule()) == 1.0
    assert weight_factor(60, Schedule()) == pytest.approx(1.03**-10)


@pytest.mark.parametrize(("decay", "factor"), [(False, 1.0), (True, 1.03**-10)])
def test_both_weights_decay_only_if_asked(world, decay, factor, monkeypatch):
    rows, model = world
    labels = unlabelled(200)
    labels[:10], labels[100:130] = OUTLIER, INLIER
    seen = []

    def spy(unlabelled_risk, inlier_risk, outlier_risk, *weights):
        seen.append(weights)
        return polarized_risk(unlabelled_risk, inlier_risk, outlier_risk, *weights)

    monkeypatch.setattr("imboost.training.polarization.polarized_risk", spy)
    rng, generator = np.random.default_rng(0), torch.Generator()
    steps = polarization_steps(Schedule(), range(60, 61), rows, labels, rng, decay=decay)
    for _ in train(model, make_optimiser(model, 1e-3, 0.0), rows, steps, generator):
        pass
    assert seen == [pytest.approx((2.0 * factor, 1.0 * factor))] * 5


def test_plain_epochs_come_before_trimmed_ones():
    schedule = Schedule(plain_epochs=2, trimmed_epochs=3, updates_per_epoch=4)
    steps = list(warmup_steps(schedule, 1000, np.random.default_rng(0), trim_quantile=0.5))
    assert len(steps) == 20
    assert [step.epoch for step in steps if step.ends_epoch] == [0, 1, 2, 3, 4]
    objectives = [step.objective for step in steps]
    assert len({objectives[i] for i in range(8)}) == 1
    assert len({objectives[i] for i in range(8, 20)}) == 1
    assert objectives[0] is not objectives[8]


@pytest.fixture
def world():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(200, 4))
    table[:20] = rng.normal(3.0, 0.3, size=(20, 4))
    rows = ScaledRows(table, MinMaxScaling.fit(table), torch.device("cpu"))
    model = MLPVAE(4, torch.Generator().manual_seed(0), n_members=2)
    return rows, model


def polarize(world, labels, n_epochs=30, **weights):
    """Return every row's loss before and after some epochs of polarization."""
    rows, model = world
    generator = torch.Generator().manual_seed(1)
    noise = model.draw_noise(1, generator, 2)
    schedule = Schedule()
    optimiser = make_optimiser(model, 1e-3, 0.0)
    rng = np.random.default_rng(2)
    for _ in train(
        model, optimiser, rows, warmup_steps(schedule, 200, rng, trim_quantile=0.92), generator
    ):
        pass
    before = mean_losses(model, rows, noise).numpy()
    steps = polarization_steps(schedule, range(50, 50 + n_epochs), rows, labels, rng, **weights)
    for _ in train(model, optimiser, rows, steps, generator):
        pass
    return before, mean_losses(model, rows, noise).numpy()


def test_polarization_separates_the_labelled_rows(world):
    labels = unlabelled(200)
    labels[:10], labels[100:130] = OUTLIER, INLIER
    before, after = polarize(world, labels)
    difference_before = before[:10].mean() - before[100:130].mean()
    difference_after = after[:10].mean() - after[100:130].mean()
    assert difference_after > difference_before + 5
    # The loss of similar unlabelled rows increases too.
    assert after[10:20].mean() > before[10:20].mean()


def test_labelled_inliers_alone_lower_their_own_loss(world):
    labels = unlabelled(200)
    labels[100:130] = INLIER
    before, after = polarize(world, labels)
    assert after[100:130].mean() < before[100:130].mean() - 1


@pytest.mark.parametrize(
    "labels",
    [
        np.where(np.arange(200) < 10, OUTLIER, -1),
        np.where(np.arange(200) > 150, INLIER, -1),
        np.full(200, -1),
        np.where(np.arange(200) < 20, OUTLIER, INLIER),
        np.where(np.arange(200) < 199, INLIER, -1),
        np.full(200, OUTLIER),
    ],
    ids=["outliers only", "inliers only", "none", "all rows", "all but one", "all outliers"],
)
def test_a_round_trains_with_any_set_of_labels(world, labels):
    _, after = polarize(world, labels.astype(np.int8), n_epochs=3)
    assert np.isfinite(after).all()


def test_labelled_rows_leave_the_pool(world):
    rows, _ = world
    labels = unlabelled(200)
    labels[:150] = INLIER
    steps = polarization_steps(Schedule(), range(50, 53), rows, labels, np.random.default_rng(0))
    assert all((step.rows >= 150).all() for step in steps)


def test_labelled_losses_leave_running_averages_alone(world):
    rows, model = world
    state = {name: value.clone() for name, value in model.state_dict().items()}
    noise = model.draw_noise(5, torch.Generator())
    inlier, outlier = labelled_losses(model, rows.take(np.arange(5)), 5, noise)
    assert inlier.shape == (2, 5)
    assert outlier.shape == (2, 0)
    assert all(torch.equal(state[name], value) for name, value in model.state_dict().items())


def risks_seen(world, monkeypatch, labels, **settings):
    """Return the risks of inliers and outliers in every update of an epoch of polarization."""
    rows, model = world
    seen = []

    def spy(unlabelled_risk, inlier_risk, outlier_risk, *weights):
        seen.append((inlier_risk.detach(), outlier_risk.detach()))
        return polarized_risk(unlabelled_risk, inlier_risk, outlier_risk, *weights)

    monkeypatch.setattr("imboost.training.polarization.polarized_risk", spy)
    rng, generator = np.random.default_rng(0), torch.Generator().manual_seed(0)
    steps = polarization_steps(Schedule(), range(60, 61), rows, labels, rng, **settings)
    for _ in train(model, make_optimiser(model, 1e-3, 0.0), rows, steps, generator):
        pass
    return seen


def test_the_risk_of_a_class_without_labels_is_zero(world, monkeypatch):
    labels = unlabelled(200)
    labels[:5] = INLIER
    for inlier_risk, outlier_risk in risks_seen(world, monkeypatch, labels):
        assert inlier_risk.all()
        assert not outlier_risk.any()


def test_the_hinge_bounds_lie_at_the_median_and_above_the_quantile():
    losses = torch.stack([torch.arange(1.0, 11.0), torch.arange(10.0, 110.0, 10.0)])
    low, high = loss_bounds(losses, 0.9, 2.0)
    assert (low.tolist(), high.tolist()) == ([[5.0], [50.0]], [[17.0], [170.0]])


def test_the_bounds_are_computed_from_the_unlabelled_rows(world, monkeypatch):
    losses, bounds = [], []

    def spy_losses(*arguments):
        losses.append(iwae_losses(*arguments))
        return losses[-1]

    def spy_bounds(*arguments):
        bounds.append(arguments)
        return loss_bounds(*arguments)

    monkeypatch.setattr("imboost.training.polarization.iwae_losses", spy_losses)
    monkeypatch.setattr("imboost.training.polarization.loss_bounds", spy_bounds)
    labels = unlabelled(200)
    labels[:10], labels[100:130] = OUTLIER, INLIER
    risks_seen(world, monkeypatch, labels, hinge_margin=2.0)
    assert bounds
    for found, (of_rows, quantile, margin) in zip(losses, bounds, strict=True):
        assert of_rows is found
        assert (quantile, margin) == (0.92, 2.0)


def test_labelled_rows_beyond_their_bounds_are_not_trained(world, monkeypatch):
    labels = unlabelled(200)
    labels[:10], labels[100:130] = OUTLIER, INLIER
    low, high = torch.tensor([[-1e6], [1e6]]), torch.tensor([[-1e6], [1e6]])
    monkeypatch.setattr("imboost.training.polarization.loss_bounds", lambda *_: (low, high))
    for inlier_risk, outlier_risk in risks_seen(world, monkeypatch, labels, hinge_margin=1.0):
        # Inliers of the first member and outliers of the second are within the bounds.
        assert inlier_risk[0] > low[0]
        assert inlier_risk[1] == high[1]
        assert outlier_risk[0] == low[0]
        assert outlier_risk[1] < high[1]


def test_a_bounded_loss_of_outliers_does_not_grow_without_limit():
    table, labels = planted_table_and_labels()
    scores = {}
    for margin in (None, 1.0):
        detector = IMBoost(hinge_margin=margin, label_rounds=20, random_state=0)
        scores[margin] = detector.fit(table, labels).decision_scores_[:5].mean()
    assert scores[1.0] < 0.5 * scores[None]


def test_outliers_are_bounded_by_the_inliers_if_all_rows_are_labelled():
    table, _ = planted_table_and_labels()
    labels = np.where(np.arange(150) < 15, OUTLIER, INLIER)
    scores = {}
    for margin in (None, 1.0):
        detector = IMBoost(hinge_margin=margin, label_rounds=20, random_state=0)
        scores[margin] = detector.fit(table, labels).decision_scores_
    assert scores[1.0].max() < 0.01 * scores[None].max()
    assert scores[1.0][:15].min() > np.median(scores[1.0][15:])


def planted_table_and_labels():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(150, 40))
    table[:15] += 2.0
    labels = unlabelled(150)
    labels[:5], labels[20:25] = OUTLIER, INLIER
    return table, labels


class TwoWeights:
    """A backbone whose two latent samples of every row have the weights 1 and 3."""

    n_members = 1

    def draw_noise(self, n_rows, generator, n_samples=None):
        return torch.zeros(1, 1, 2, n_rows)

    def log_weights(self, x, noise, *, batch_statistics):
        return torch.tensor([1.0, 3.0]).log().reshape(1, 2, 1).expand(1, 2, x.shape[-1])


def test_labelled_inliers_have_the_iwae_bound_and_labelled_outliers_the_cubo_bound(world):
    rows, _ = world
    labelled, noise = rows.take(np.arange(12)), torch.zeros(1, 1, 2, 12)
    inliers, outliers = labelled_losses(TwoWeights(), labelled, 5, noise)
    assert inliers.ravel().tolist() == pytest.approx([-np.log((1 + 3) / 2)] * 5)
    assert outliers.ravel().tolist() == pytest.approx([-np.log((1 + 9) / 2) / 2] * 7)


@pytest.mark.parametrize(("n_labelled", "expected"), [(100, 100), (417, 417), (900, 417)])
def test_more_labelled_rows_than_a_batch_are_sampled(n_labelled, expected, monkeypatch):
    table = np.random.default_rng(0).normal(size=(2000, 2))
    rows = ScaledRows(table, MinMaxScaling.fit(table), torch.device("cpu"))
    labels = unlabelled(2000)
    labels[:n_labelled] = INLIER
    seen = []

    def spy(model, x, n_inliers, noise):
        seen.append((x[0].tolist(), n_inliers))
        return labelled_losses(model, x, n_inliers, noise)

    monkeypatch.setattr("imboost.training.polarization.labelled_losses", spy)
    model = MLPVAE(2, torch.Generator().manual_seed(0))
    steps = polarization_steps(Schedule(), range(50, 51), rows, labels, np.random.default_rng(0))
    generator = torch.Generator()
    for _ in train(model, make_optimiser(model, 1e-3, 0.0), rows, steps, generator):
        pass
    assert [n_inliers for _, n_inliers in seen] == [expected] * 5
    assert all(len(values) == len(set(values)) == expected for values, _ in seen)


def test_epochs_with_the_same_batch_size_and_weights_share_an_objective(world):
    rows, _ = world  # 200 rows limit the batch size
    labels, rng = unlabelled(200), np.random.default_rng(0)
    epochs = range(90, 95)
    constant = list(polarization_steps(Schedule(), epochs, rows, labels, rng))
    decaying = list(polarization_steps(Schedule(), epochs, rows, labels, rng, decay=True))
    assert len({step.objective for step in constant}) == 1
    assert len({step.objective for step in decaying}) == len(epochs)
