"""A diffusion model: a small denoiser at a few noise levels."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from imboost.models.backbone import Backbone
from imboost.models.ensemble_layers import GaussianHead, HiddenLayer
from imboost.models.likelihood import LOG_TWO_PI, with_floor
from imboost.models.mlp_vae import Widths

NOISE_LEVELS = (0.1, 0.3, 1.0)
"""Standard deviations of the noise, in widths of the range of a column. At the lowest, most cells
are hardly changed; at the highest, nearly nothing is left of them. Five levels between 0.05 and 1
took longer and were no better on vowels and planted outliers."""
TYPICAL_SQUARED_ERROR = 0.7
"""Squared error of a missing cell in units of its variance, between the median 0.45 and the mean 1
of a squared standard normal. With it, trained models score rows with random gaps as high as other
rows; with the mean they score them higher, with the median lower."""
COLUMN_STD = 0.2  # typical standard deviation of a column scaled to the unit interval


class DiffusionModel(Backbone):
    r"""An ensemble of diffusion models with few noise levels and learned variances.

    Noise is added to the cells of a row, :math:`z_t = x + \sigma_t \epsilon`, at the levels
    :math:`\sigma_1 < \dots < \sigma_T`. A perceptron, shared by the levels, predicts every cell
    from the noisy row as a Gaussian :math:`N(m, v)`. Combined with the noisy cell itself by Bayes'
    rule, that gives :math:`p(x \mid z_t) = N(\hat x_t, s_t^2)`. The negative variational bound of
    the log-likelihood is a sum over cells,

    .. math::
        \frac{(x - \mu)^2}{2 \sigma_T^2}
        + \frac{1}{2} \sum_{t=2}^T \Big[ \log(1 + r_t s_t^2)
        + \frac{r_t (e_t^2 - s_t^2)}{1 + r_t s_t^2} \Big]
        + \frac{1}{2} \Big[ \log 2 \pi s_1^2 + \frac{e_1^2}{s_1^2} \Big],

    with the errors :math:`e_t = x - \hat x_t`, the differences of signal-to-noise ratios
    :math:`r_t = 1 / \sigma_{t-1}^2 - 1 / \sigma_t^2` and the column's mean :math:`\mu`. Its terms
    are the divergence of :math:`z_T` from the prior :math:`N(\mu, \sigma_T^2)`, the divergences of
    the reverse steps :math:`p(z_{t-1} \mid z_t)`, which are Gaussians as wide as :math:`s_t` makes
    them, and the reconstruction. The density is mixed with a broad Gaussian, see `with_floor`.

    The log-weight of a sample is the bound at one draw of :math:`\epsilon`, at all levels; draws
    come in pairs of opposite sign. Without the floor, their mean estimates the bound without bias.
    They are no importance weights of the likelihood: `iwae` and `cubo` of them lie above that
    mean, by less the less the draws differ.

    Parameters are those of `Backbone`. All columns must be numeric. `logvar_weight` and
    `decoder_batch_norm` are ignored.

    References
    ----------
    Ho et al., "Denoising diffusion probabilistic models", NeurIPS 2020.

    Kingma et al., "Variational diffusion models", NeurIPS 2021.

    Nichol and Dhariwal, "Improved denoising diffusion probabilistic models", ICML 2021: learned
    variances, which a model with few levels needs.
    """

    only_numeric_as = "diffusion"
    levels: Tensor

    def _build(self, generator: torch.Generator) -> None:
        # Not part of the state, whose entries have a member dimension.
        self.register_buffer("levels", torch.tensor(NOISE_LEVELS), persistent=False)
        n_members, n_features = self.n_members, self.n_features
        width = Widths.for_features(n_features)
        n_inputs = n_features + len(NOISE_LEVELS)
        self.layers = nn.ModuleList(
            [
                HiddenLayer(n_members, n_inputs, width.outer, generator),
                HiddenLayer(n_members, width.outer, width.inner, generator),
                HiddenLayer(n_members, width.inner, width.outer, generator),
            ]
        )
        self.head = GaussianHead(n_members, width.outer, n_features, generator)

    def draw_noise(
        self, n_rows: int, generator: torch.Generator, n_samples: int | None = None
    ) -> Tensor:
        """Draw standard normals of shape (members, features, samples, rows), in opposite pairs."""
        n_samples = n_samples or self.n_samples
        shape = (self.n_members, self.n_features, math.ceil(n_samples / 2), n_rows)
        noise = torch.randn(shape, generator=generator, device=generator.device)
        return torch.cat([noise, -noise], dim=2)[:, :, :n_samples]

    def log_weights(self, x: Tensor, noise: Tensor, *, batch_statistics: bool) -> Tensor:
        """Return the bound at every draw of the noise: (members, samples, rows)."""
        missing = x.isnan()
        means = self.fill_values  # (members, features, 1)
        # Imputed first: a gradient through nan is nan, even where the value is discarded.
        centred = torch.where(missing, 0.0, x.nan_to_num(0.0) - means)
        cells = centred[:, :, None, None]
        levels = self.levels.to(x.dtype)[:, None, None]
        noisy = cells + levels * noise.unsqueeze(2)  # (members, features, levels, samples, rows)
        predicted, variance = self._denoise(noisy, levels, batch_statistics)
        squared = (cells - predicted).square()
        # A missing cell has a typical error, and no gradient.
        hidden = missing[:, None, None]
        squared = torch.where(hidden, TYPICAL_SQUARED_ERROR * variance.detach(), squared)
        variance = torch.where(hidden, variance.detach(), variance)
        ratio = levels[:-1].pow(-2) - levels[1:].pow(-2)  # r_t
        scaled = ratio * variance[:, :, 1:]
        steps = torch.log1p(scaled) + (ratio * squared[:, :, 1:] - scaled) / (1 + scaled)
        last_step = LOG_TWO_PI + variance[:, :, 0].log() + squared[:, :, 0] / variance[:, :, 0]
        distance = centred.square().sum(1).unsqueeze(1)  # (members, 1, rows)
        prior = distance / levels[-1].square()
        bound = -0.5 * (steps.sum((1, 2)) + last_step.sum(1) + prior)
        return with_floor(bound, distance, len(x))

    def _denoise(
        self, noisy: Tensor, levels: Tensor, batch_statistics: bool
    ) -> tuple[Tensor, Tensor]:
        """Return mean and variance of every cell given the noisy row, in the shape of `noisy`.

        The cells are centred. All levels and samples of all rows pass through the network as one
        batch.
        """
        n_members, _, n_levels, n_samples, n_rows = noisy.shape
        # The best linear prediction in a typical column: very noisy cells say little.
        shrunk = noisy / (1 + (levels / COLUMN_STD).square())
        level = torch.eye(n_levels, dtype=noisy.dtype, device=noisy.device)[:, :, None, None]
        level = level.expand(n_members, -1, -1, n_samples, n_rows)  # one-hot encoded
        hidden = torch.cat([shrunk, level], dim=1).flatten(2)
        for layer in self.layers:
            hidden = layer(hidden, batch_statistics)
        output, logvar = self.head(hidden)
        mean = torch.sigmoid(output).sub(self.fill_values).reshape(noisy.shape)
        precision = (-logvar).exp().reshape(noisy.shape)
        noise_precision = levels.pow(-2)
        variance = 1 / (precision + noise_precision)
        return variance * (precision * mean + noise_precision * noisy), variance
