"""Networks of Deep SVDD and Deep SAD: an autoencoder, and a hypersphere in its latent space."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from imboost.models.ensemble_layers import HiddenLayer, uniform_weight
from imboost.models.mlp_vae import Widths

MIN_WIDTHS = Widths(outer=128, inner=64, latent=32)
"""Narrower encoders, as the VAE has on tables of few columns, find fewer outliers: a mean AUC of
0.67 instead of 0.74 over 16 tables without labels."""

MIN_CENTRE = 0.1
"""Smallest absolute coordinate of the centre: all-zero weights map every row to 0, a trivial
solution if the centre were there."""


class MLPEncoder(nn.Module):
    """An ensemble of two-layer perceptrons without biases, from rows to latent codes."""

    def __init__(self, n_features: int, generator: torch.Generator, n_members: int) -> None:
        super().__init__()
        width = _widths(n_features)
        self.outer = HiddenLayer(n_members, n_features, width.outer, generator)
        self.inner = HiddenLayer(n_members, width.outer, width.inner, generator)
        self.code = uniform_weight(n_members, width.latent, width.inner, generator)

    def forward(self, x: Tensor, *, batch_statistics: bool) -> Tensor:
        """Map (features, rows) to codes (members, latent, rows)."""
        hidden = self.inner(self.outer(x, batch_statistics), batch_statistics)
        return torch.matmul(self.code, hidden)


class MLPAutoencoder(nn.Module):
    """An encoder and a mirrored decoder, for pre-training."""

    def __init__(self, n_features: int, generator: torch.Generator, n_members: int) -> None:
        super().__init__()
        width = _widths(n_features)
        self.encoder = MLPEncoder(n_features, generator, n_members)
        self.inner = HiddenLayer(n_members, width.latent, width.inner, generator)
        self.outer = HiddenLayer(n_members, width.inner, width.outer, generator)
        self.output = uniform_weight(n_members, n_features, width.outer, generator)

    def reconstruct(self, x: Tensor) -> Tensor:
        """Return the decoded rows: (members, features, rows)."""
        code = self.encoder(x, batch_statistics=True)
        hidden = self.outer(self.inner(code, True), True)
        return torch.sigmoid(torch.matmul(self.output, hidden))


class Hypersphere(nn.Module):
    """A pre-trained encoder and c, the fixed centre (members, latent) of the codes of inliers."""

    centre: Tensor

    def __init__(self, encoder: MLPEncoder, centre: Tensor) -> None:
        super().__init__()
        self.encoder = encoder
        self.register_buffer("centre", centre.unsqueeze(-1))
        self.bias = nn.Parameter(torch.zeros(len(centre), device=centre.device))
        """Intercept of the noise-contrastive logistic loss, (members,)."""

    @property
    def n_members(self) -> int:
        """Models of the ensemble."""
        return len(self.centre)

    def distances(self, x: Tensor, *, batch_statistics: bool) -> Tensor:
        """Return the squared distances of rows (features, rows) to the centre: (members, rows)."""
        code = self.encoder(x, batch_statistics=batch_statistics)
        squared: Tensor = (code - self.centre).square().sum(1)
        return squared


def away_from_zero(centre: Tensor) -> Tensor:
    """Move coordinates near 0 to `MIN_CENTRE`, keeping their signs.

    >>> away_from_zero(torch.tensor([0.5, -0.01, 0.0]))
    tensor([ 0.5000, -0.1000,  0.1000])
    """
    sign = torch.where(centre < 0, -1.0, 1.0)
    return torch.where(centre.abs() < MIN_CENTRE, sign * MIN_CENTRE, centre)


def _widths(n_features: int) -> Widths:
    return max(Widths.for_features(n_features), MIN_WIDTHS, key=lambda width: width.outer)
