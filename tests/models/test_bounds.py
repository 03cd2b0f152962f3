"""The bounds against a model whose likelihood is known in closed form."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from imboost.models import cubo, gaussian_log_density, iwae

LOADING = torch.tensor([[1.0, 0.5], [-0.3, 0.8], [0.7, -1.1]], dtype=torch.float64)
OFFSET = torch.tensor([0.2, -0.4, 0.1], dtype=torch.float64)
NOISE_VARIANCE = 0.3


class LinearGaussian:
    """x = W z + b + noise with z standard normal: evidence and posterior are Gaussian."""

    def __init__(self):
        identity = torch.eye(3, dtype=torch.float64)
        self.evidence = torch.distributions.MultivariateNormal(
            OFFSET, LOADING @ LOADING.T + NOISE_VARIANCE * identity
        )
        precision = torch.eye(2, dtype=torch.float64) + LOADING.T @ LOADING / NOISE_VARIANCE
        self.covariance = torch.linalg.inv(precision)

    def posterior(self, x):
        mean = (x - OFFSET) @ LOADING @ self.covariance / NOISE_VARIANCE
        return torch.distributions.MultivariateNormal(mean, self.covariance)

    def log_weights(self, x, proposal, n_samples):
        """Log-weights (samples, rows) of rows (rows, 3) under samples of `proposal`."""
        z = proposal.sample((n_samples,))
        prior = torch.distributions.Normal(0.0, 1.0).log_prob(z).sum(-1)
        mean = z @ LOADING.T + OFFSET
        logvar = torch.full_like(mean, math.log(NOISE_VARIANCE))
        likelihood = gaussian_log_density(x, mean, logvar).sum(-1)
        return likelihood + prior - proposal.log_prob(z)


@pytest.fixture
def model():
    return LinearGaussian()


@pytest.fixture
def x():
    torch.manual_seed(0)
    return torch.randn(20, 3, dtype=torch.float64)


@pytest.mark.parametrize("n_samples", [1, 2, 7])
def test_both_bounds_equal_the_evidence_under_the_true_posterior(model, x, n_samples):
    log_w = model.log_weights(x, model.posterior(x), n_samples)
    evidence = model.evidence.log_prob(x)
    torch.testing.assert_close(iwae(log_w), evidence)
    torch.testing.assert_close(cubo(log_w), evidence)


def wrong_posterior(model, x):
    """A proposal with a shifted mean and twice the spread; its chi bound is finite."""
    right = model.posterior(x)
    return torch.distributions.MultivariateNormal(right.mean + 0.2, 2 * model.covariance)


def test_the_bounds_bracket_the_evidence_under_a_wrong_posterior(model, x):
    torch.manual_seed(1)
    evidence = model.evidence.log_prob(x)
    few = torch.stack(
        [iwae(model.log_weights(x, wrong_posterior(model, x), 2)) for _ in range(4000)]
    )
    many = cubo(model.log_weights(x, wrong_posterior(model, x), 200_000))
    assert (few.mean(0) < evidence - 0.01).all()
    assert (many > evidence + 0.01).all()


def test_iwae_rises_with_the_number_of_samples(model, x):
    torch.manual_seed(2)
    means = []
    for n_samples in (1, 2, 5, 25, 200):
        draws = [
            iwae(model.log_weights(x, wrong_posterior(model, x), n_samples)).mean()
            for _ in range(1500)
        ]
        means.append(torch.stack(draws).mean())
    assert all(later > earlier for earlier, later in pairwise(means))
    assert means[-1] < model.evidence.log_prob(x).mean() + 0.002


def test_one_exact_weight_is_returned_as_it_is():
    log_w = torch.tensor([[-3.0, 0.5, 12.0]])
    torch.testing.assert_close(iwae(log_w), log_w[0])
    torch.testing.assert_close(cubo(log_w), log_w[0])


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=6), st.floats(1.1, 4))
def test_cubo_is_never_below_iwae_and_both_lie_within_the_weights(values, power):
    log_w = torch.tensor(values, dtype=torch.float64)[:, None]
    lower, upper = iwae(log_w), cubo(log_w, power)
    slack = 1e-9 * (1 + log_w.abs().max())
    assert lower <= upper + slack
    assert log_w.min() - slack <= lower
    assert upper <= log_w.max() + slack


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=6), st.floats(-300, 300))
def test_a_common_factor_of_the_weights_shifts_both_bounds(values, shift):
    log_w = torch.tensor(values, dtype=torch.float64)[:, None]
    torch.testing.assert_close(iwae(log_w + shift), iwae(log_w) + shift)
    torch.testing.assert_close(cubo(log_w + shift), cubo(log_w) + shift)


def test_the_default_log_variance_weight_gives_a_true_density():
    x = torch.linspace(-12, 12, 4001, dtype=torch.float64)
    logvar = torch.tensor(0.7, dtype=torch.float64)
    density = gaussian_log_density(x, torch.zeros(1, dtype=torch.float64), logvar).exp()
    assert torch.trapezoid(density, x).item() == pytest.approx(1.0, abs=1e-9)


def test_the_papers_weight_counts_the_log_variance_twice():
    one = torch.tensor(1.0)
    exact = gaussian_log_density(one, one, 2 * one)
    paper = gaussian_log_density(one, one, 2 * one, logvar_weight=1.0)
    assert (exact - paper).item() == pytest.approx(1.0)
