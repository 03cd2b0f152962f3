"""What every backbone promises, and what each one is."""

import math

import pytest
import torch
from sklearn.metrics import roc_auc_score

from imboost import IMBoost
from imboost.datasets import planted_outliers
from imboost.labels import UNLABELLED, unlabelled
from imboost.models import BACKBONES, MLPVAE, NormalisingFlow, Widths, concatenate_members, iwae


def build(name, n_features=4, **settings):
    options = {"n_members": 3, "n_samples": 2, "logvar_weight": 0.5, **settings}
    return BACKBONES[name](n_features, torch.Generator().manual_seed(0), **options)


@pytest.fixture(params=sorted(BACKBONES))
def name(request):
    return request.param


def losses_of(model, x, noise):
    return -iwae(model.log_weights(x, noise, batch_statistics=False))


def test_log_weights_have_members_samples_and_rows(name):
    model = build(name)
    x = torch.rand(4, 11)
    noise = model.draw_noise(11, torch.Generator().manual_seed(1))
    log_w = model.log_weights(x, noise, batch_statistics=True)
    assert log_w.shape[0] == 3
    assert log_w.shape[2] == 11
    assert log_w.isfinite().all()


def test_every_entry_of_the_state_has_the_members_first(name):
    assert all(value.shape[0] == 3 for value in build(name).state_dict().values())


def test_members_start_differently(name):
    model = build(name)
    noise = model.draw_noise(1, torch.Generator().manual_seed(1))[:1]
    losses = losses_of(model, torch.rand(4, 5), noise)
    assert not torch.allclose(losses[0], losses[1])


def test_equal_generators_build_equal_models(name):
    first, second = build(name).state_dict(), build(name).state_dict()
    assert all(torch.equal(first[key], second[key]) for key in first)


def test_building_a_model_leaves_the_global_random_state_alone(name):
    before = torch.get_rng_state()
    build(name)
    assert torch.equal(before, torch.get_rng_state())


def test_an_ensemble_of_snapshots_scores_like_its_members(name):
    model = build(name)
    joined = build(name, n_members=6)
    joined.load_state_dict(concatenate_members([model.state_dict(), model.state_dict()]))
    x = torch.rand(4, 9)
    noise = model.draw_noise(1, torch.Generator().manual_seed(1))[:1]
    torch.testing.assert_close(losses_of(joined, x, noise)[3:], losses_of(model, x, noise))


def test_members_do_not_share_gradients(name):
    model = build(name)
    noise = model.draw_noise(9, torch.Generator().manual_seed(1))
    model.log_weights(torch.rand(4, 9), noise, batch_statistics=True)[1].sum().backward()
    for parameter in model.parameters():
        assert parameter.grad is not None
        assert not parameter.grad[0].any()
        assert not parameter.grad[2].any()


def test_it_trains_and_ranks_planted_outliers(name):
    data = planted_outliers(400, 5, outlier_share=0.08, seed=3)
    labels = unlabelled(len(data.y))
    labels[:80] = data.y[:80]
    detector = IMBoost(backbone=name, random_state=0).fit(data.X)
    before = detector.decision_scores_
    detector.fit(data.X, labels)
    unknown = labels == UNLABELLED
    assert roc_auc_score(data.y, before) > 0.7
    assert roc_auc_score(data.y[unknown], detector.decision_scores_[unknown]) > 0.85


@pytest.mark.parametrize(
    ("n_features", "expected"),
    [
        (1, Widths(32, 16, 2)),
        (3, Widths(32, 16, 2)),
        (6, Widths(32, 16, 4)),
        (8, Widths(32, 16, 6)),
        (9, Widths(32, 16, 8)),
        (99, Widths(32, 16, 8)),
        (100, Widths(128, 64, 32)),
        (400, Widths(256, 128, 64)),
        (768, Widths(512, 256, 128)),
    ],
)
def test_widths_follow_the_number_of_features(n_features, expected):
    assert Widths.for_features(n_features) == expected


def reference_log_weights(model, x, noise, member):
    """The paper's autoencoder for one member, written with torch's own layers."""

    def block(layer, hidden):
        linear = torch.nn.functional.linear(hidden, layer.weight[member])
        normal = torch.nn.functional.batch_norm(linear, None, None, training=True, eps=1e-4)
        return torch.nn.functional.leaky_relu(normal)

    def head(layer, hidden):
        mean, logvar = torch.nn.functional.linear(hidden, layer.weight[member]).chunk(2, 1)
        return mean, (logvar + layer.bias[member].T).clamp(-6, 2)

    hidden = x.T
    for layer in model.encoder:
        hidden = block(layer, hidden)
    mean, logvar = head(model.latent_head, hidden)
    posterior = torch.distributions.Normal(mean, (0.5 * logvar).exp())
    z = mean + posterior.stddev * noise[member].permute(1, 2, 0)  # (samples, rows, latent)
    hidden = z.flatten(0, 1)
    for layer in model.decoder:
        hidden = block(layer, hidden)
    out_mean, out_logvar = head(model.output_head, hidden)
    density = torch.distributions.Normal(torch.sigmoid(out_mean), (0.5 * out_logvar).exp())
    likelihood = density.log_prob(x.T.repeat(z.shape[0], 1)).sum(1).view(z.shape[:2])
    prior = torch.distributions.Normal(0.0, 1.0).log_prob(z).sum(-1)
    return likelihood + prior - posterior.log_prob(z).sum(-1)


def test_the_batched_autoencoder_agrees_with_a_plain_one():
    model = MLPVAE(4, torch.Generator().manual_seed(0), n_members=3, logvar_weight=0.5)
    x, noise = torch.rand(4, 50), model.draw_noise(50, torch.Generator().manual_seed(1))
    stacked = model.log_weights(x, noise, batch_statistics=True)
    for member in range(3):
        plain = reference_log_weights(model, x, noise, member)
        torch.testing.assert_close(stacked[member], plain, rtol=1e-4, atol=1e-4)


def test_running_averages_follow_torchs_batch_norm():
    model = MLPVAE(4, torch.Generator().manual_seed(0))
    layer = model.encoder[0]
    norm = torch.nn.BatchNorm1d(32, eps=1e-4, affine=False)
    x = torch.rand(4, 60)
    noise = model.draw_noise(60, torch.Generator().manual_seed(1))
    for _ in range(3):
        model.log_weights(x, noise, batch_statistics=True)
        norm((layer.weight[0] @ x).T)
    torch.testing.assert_close(layer.running_mean[0, :, 0], norm.running_mean)
    torch.testing.assert_close(layer.running_var[0, :, 0], norm.running_var)
    expected = torch.nn.functional.leaky_relu(norm.eval()((layer.weight[0] @ x).T)).T
    torch.testing.assert_close(layer(x, False)[0], expected, rtol=1e-4, atol=1e-5)


def test_the_flow_is_a_density():
    model = NormalisingFlow(1, torch.Generator().manual_seed(0))
    grid = torch.linspace(-12, 13, 20_001)[None]
    noise = model.draw_noise(1, torch.Generator())
    density = model.log_weights(grid, noise, batch_statistics=False)[0, 0].exp()
    assert torch.trapezoid(density, grid[0]).item() == pytest.approx(1.0, abs=1e-3)


def test_the_flow_bounds_the_loss_of_any_row():
    model = NormalisingFlow(2, torch.Generator().manual_seed(0))
    for parameter in model.parameters():
        parameter.data.mul_(30)
    noise = model.draw_noise(1, torch.Generator())
    log_w = model.log_weights(torch.rand(2, 200), noise, batch_statistics=False)
    assert log_w.min() >= math.log(1e-3) - 0.25 - math.log(2 * math.pi) - 1e-4
