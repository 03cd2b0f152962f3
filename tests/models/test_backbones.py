"""What every backbone promises, and what each one is."""

import math

import numpy as np
import pandas
import pytest
import torch
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from imboost import IMBoost, TableDetector
from imboost.datasets import planted_outliers
from imboost.errors import SettingError, UnknownNameError
from imboost.labels import UNLABELLED, unlabelled
from imboost.models import (
    BACKBONES,
    MLPVAE,
    DiffusionModel,
    NormalisingFlow,
    Widths,
    iwae,
)
from imboost.tables.layout import Feature, Kind, Layout


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
    twice = {key: torch.cat([value, value]) for key, value in model.state_dict().items()}
    joined.load_state_dict(twice)
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
    data = planted_outliers(400, 5, contamination=0.08, seed=3)
    labels = unlabelled(len(data.y))
    labels[:80] = data.y[:80]
    detector = IMBoost(backbone=name, random_state=0).fit(data.X)
    before = detector.decision_scores_
    detector.fit(data.X, labels)
    unknown = labels == UNLABELLED
    assert roc_auc_score(data.y, before) > 0.7
    assert roc_auc_score(data.y[unknown], detector.decision_scores_[unknown]) > 0.85


def test_a_row_scores_the_same_in_any_batch(name):
    model = build(name).double()
    x = torch.rand(4, 30, dtype=torch.float64)
    noise = model.draw_noise(1, torch.Generator().manual_seed(1)).double()
    together = losses_of(model, x, noise)
    apart = torch.cat([losses_of(model, x[:, part], noise) for part in ([7], [3, 7, 9])], dim=1)
    torch.testing.assert_close(apart, together[:, [7, 3, 7, 9]])


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


@pytest.mark.parametrize(("decoder_batch_norm", "n_updates"), [("joint", 1), ("per-sample", 2)])
def test_the_decoder_normalises_the_samples_together_or_one_by_one(decoder_batch_norm, n_updates):
    model = MLPVAE(3, torch.Generator().manual_seed(0), decoder_batch_norm=decoder_batch_norm)
    layer = model.decoder[0]
    normalise, sizes = layer._normalise, []
    layer._normalise = lambda hidden: (sizes.append(hidden.shape[-1]), normalise(hidden))[1]
    x = torch.rand(3, 50)
    noise = model.draw_noise(50, torch.Generator().manual_seed(1))  # two samples
    model.log_weights(x, noise, batch_statistics=True)
    assert sizes == [100 // n_updates] * n_updates


def test_an_unknown_normalisation_of_the_decoder_is_refused():
    with pytest.raises(UnknownNameError, match=r"decoder_batch_norm 'Joint'.*mean 'joint'"):
        IMBoost(decoder_batch_norm="Joint").check_settings()


def test_per_sample_normalisation_does_not_depend_on_the_other_sample():
    model = MLPVAE(3, torch.Generator().manual_seed(0), decoder_batch_norm="per-sample")
    x = torch.rand(3, 50)
    noise = model.draw_noise(50, torch.Generator().manual_seed(1))
    both = model.log_weights(x, noise, batch_statistics=True)
    for number in range(2):
        one = model.log_weights(x, noise[:, :, [number]], batch_statistics=True)
        torch.testing.assert_close(both[:, [number]], one)


def test_scoring_uses_running_averages_however_samples_are_normalised_in_training():
    x = torch.rand(3, 50)
    scores = []
    for decoder_batch_norm in ("joint", "per-sample"):
        model = MLPVAE(3, torch.Generator().manual_seed(0), decoder_batch_norm=decoder_batch_norm)
        noise = model.draw_noise(50, torch.Generator().manual_seed(1))
        before = {name: value.clone() for name, value in model.named_buffers()}
        scores.append(model.log_weights(x, noise, batch_statistics=False))
        assert all(torch.equal(value, before[name]) for name, value in model.named_buffers())
    torch.testing.assert_close(*scores)


@pytest.mark.parametrize(("factor", "low", "high"), [(0.0, 0.99, 1.01), (30.0, 0.1, 0.95)])
def test_the_diffusion_bound_is_that_of_a_density(factor, low, high):
    """It integrates to 1 if all rows are predicted alike, by a narrow Gaussian; else to less."""
    model = DiffusionModel(1, torch.Generator().manual_seed(0)).double()
    model.head.weight.data.mul_(factor)
    model.head.bias.data.fill_(-6.0)
    grid = torch.linspace(-7, 8, 3001, dtype=torch.float64)[None]
    noise = model.draw_noise(1, torch.Generator().manual_seed(1), 400).double()
    bound = model.log_weights(grid, noise, batch_statistics=False)[0].mean(0)
    assert low < torch.trapezoid(bound.exp(), grid[0]).item() < high


def test_the_diffusion_model_learns_where_rows_are():
    data = torch.randn(2, 2000, generator=torch.Generator().manual_seed(0)) * 0.1 + 0.5
    data[1] = 1 - data[0]  # a line
    generator = torch.Generator().manual_seed(1)
    model = DiffusionModel(2, generator)
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(200):
        noise = model.draw_noise(2000, generator)
        loss = -iwae(model.log_weights(data, noise, batch_statistics=True)).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    rows = torch.tensor([[0.4, 0.4], [0.6, 0.4]])  # on the line, and off it
    noise = model.draw_noise(1, generator, 16)
    on_line, off_line = losses_of(model, rows, noise)[0].tolist()
    assert on_line + 3 < off_line
    independent = -2 * math.log(0.1 * math.sqrt(2 * math.pi)) - 1  # columns without the line
    assert loss.item() < -independent


def test_a_missing_cell_has_no_gradient_and_does_not_make_a_row_outlying():
    model = DiffusionModel(3, torch.Generator().manual_seed(0))
    rows = torch.full((3, 4), 0.5)
    rows[0, 1] = torch.nan
    rows[:, 2] = torch.nan
    rows[0, 3] = 1.0  # a cell far from its column's mean
    noise = model.draw_noise(4, torch.Generator().manual_seed(1), 16)
    log_w = model.log_weights(rows, noise, batch_statistics=False)
    losses = -iwae(log_w)[0]
    assert losses[1].item() < losses[3].item()
    log_w[..., 2].sum().backward()
    assert all(not parameter.grad.any() for parameter in model.parameters())


def test_the_diffusion_model_bounds_the_loss_of_any_row():
    model = DiffusionModel(2, torch.Generator().manual_seed(0))
    model.head.weight.data.mul_(1000)
    noise = model.draw_noise(1, torch.Generator())
    log_w = model.log_weights(torch.rand(2, 200), noise, batch_statistics=False)
    assert log_w.min() >= math.log(1e-3) - 0.25 - math.log(2 * math.pi) - 1e-4


def test_scoring_noise_comes_in_opposite_pairs():
    model = build("diffusion")
    noise = model.draw_noise(5, torch.Generator().manual_seed(1), 6)
    assert noise.shape == (3, 4, 6, 5)
    torch.testing.assert_close(noise.sum(2), torch.zeros(3, 4, 5))
    assert model.draw_noise(5, torch.Generator(), 3).shape == (3, 4, 3, 5)


@pytest.mark.parametrize("backbone", ["flow", "diffusion"])
def test_categories_need_the_autoencoder(backbone):
    layout = Layout((Feature("a", Kind.NUMERIC, 0, 1), Feature("b", Kind.CATEGORICAL, 1, 4)))
    with pytest.raises(SettingError, match=f"The {backbone} backbone takes only numeric columns"):
        build(backbone, layout=layout)


@pytest.mark.parametrize("backbone", ["flow", "diffusion"])
def test_the_indicator_of_a_missing_value_is_named_as_the_obstacle(backbone):
    table = pandas.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    table.loc[7, "b"] = np.nan
    detector = TableDetector(IMBoost(backbone=backbone))
    with pytest.raises(SettingError, match=r"a missing-value indicator of 'b': .* itself.*'vae'"):
        detector.fit(table)


def test_the_denoiser_gets_cells_shrunk_to_what_the_noise_leaves_of_them():
    model = DiffusionModel(2, torch.Generator().manual_seed(0))  # fills with 0.5
    inputs = []
    model.layers[0].register_forward_pre_hook(lambda _, given: inputs.append(given[0]))
    noise = torch.zeros(1, 2, 1, 1)
    model.log_weights(torch.tensor([[0.9], [0.5]]), noise, batch_statistics=False)
    expected = [0.4 / (1 + (level / 0.2) ** 2) for level in (0.1, 0.3, 1.0)]
    torch.testing.assert_close(inputs[0][0, 0], torch.tensor(expected))
    assert not inputs[0][0, 1].any()


def test_a_trained_diffusion_model_scores_rows_with_gaps_like_others():
    correlations = []
    for n_factors in (2, 8):
        rng = np.random.default_rng(n_factors)
        factors = rng.normal(size=(600, n_factors))
        table = factors @ rng.normal(size=(n_factors, 8)) + 0.2 * rng.normal(size=(600, 8))
        is_missing = (rng.random(table.shape) < 0.4) & (rng.random((600, 1)) < 0.3)
        table[is_missing] = np.nan
        scores = IMBoost(backbone="diffusion", random_state=0).fit(table).decision_scores_
        correlations.append(spearmanr(scores, is_missing.sum(axis=1)).statistic)
    assert abs(np.mean(correlations)) < 0.2
