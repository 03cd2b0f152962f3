"""The paper's model: a variational autoencoder of two-layer perceptrons."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from imboost.models.backbone import Backbone
from imboost.models.ensemble_layers import GaussianHead, HiddenLayer
from imboost.models.likelihood import CellDensity, can_branch


@dataclass(frozen=True)
class Widths:
    """Units of the two hidden layers (outer, inner) and of the latent code."""

    outer: int
    inner: int
    latent: int

    @classmethod
    def for_features(cls, n_features: int) -> Widths:
        """Return the widths of the paper's experiments for tables of `n_features` columns.

        >>> Widths.for_features(6)
        Widths(outer=32, inner=16, latent=4)
        """
        if n_features >= 512:
            return cls(512, 256, 128)
        if n_features >= 400:
            return cls(256, 128, 64)
        if n_features >= 100:
            return cls(128, 64, 32)
        latent = 8 if n_features >= 9 else 6 if n_features >= 7 else 4 if n_features >= 5 else 2
        return cls(32, 16, latent)


class MLPVAE(Backbone):
    """An ensemble of variational autoencoders with Gaussian latent code and likelihood.

    Parameters are those of `Backbone`.
    """

    def _build(self, generator: torch.Generator) -> None:
        self.log_density = CellDensity(self.layout, self.logvar_weight)
        n_members, n_features = self.n_members, self.n_features
        width = Widths.for_features(n_features)
        self.n_latent = width.latent
        self.encoder = nn.ModuleList(
            [
                HiddenLayer(n_members, n_features, width.outer, generator),
                HiddenLayer(n_members, width.outer, width.inner, generator),
            ]
        )
        self.latent_head = GaussianHead(n_members, width.inner, width.latent, generator)
        self.decoder = nn.ModuleList(
            [
                HiddenLayer(n_members, width.latent, width.inner, generator),
                HiddenLayer(n_members, width.inner, width.outer, generator),
            ]
        )
        self.output_head = GaussianHead(n_members, width.outer, n_features, generator)

    def draw_noise(
        self, n_rows: int, generator: torch.Generator, n_samples: int | None = None
    ) -> Tensor:
        """Draw standard normals of shape (members, latent, samples, rows)."""
        shape = (self.n_members, self.n_latent, n_samples or self.n_samples, n_rows)
        return torch.randn(shape, generator=generator, device=generator.device)

    def log_weights(self, x: Tensor, noise: Tensor, *, batch_statistics: bool) -> Tensor:
        """Return ``log p(x | z) + log p(z) - log q(z | x)``: (members, samples, rows)."""
        cells, code, _ = self.weight_parts(x, x, noise, batch_statistics=batch_statistics)
        return cells.sum(1) + code

    def weight_parts(
        self, x: Tensor, seen: Tensor, noise: Tensor, *, batch_statistics: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the summands of `log_weights`, and the decoder's output.

        `x` (features, rows) are the rows whose density is computed; `seen` is the encoder's input,
        the same rows with nan in cells hidden from the encoder. The summands are the log-density
        of every cell ``log p(x_j | z)`` (members, features, samples, rows) and the term of the
        latent code ``log p(z) - log q(z | x)`` (members, samples, rows).
        """
        mean, logvar = self.encode(seen, batch_statistics=batch_statistics)
        spread = (0.5 * logvar).exp()
        z = mean.unsqueeze(2) + spread.unsqueeze(2) * noise  # (members, latent, samples, rows)
        # log p(z) - log q(z | x); the normalising constants cancel.
        code = 0.5 * (noise.square().sum(1) - z.square().sum(1) + logvar.sum(1, keepdim=True))
        output, x_logvar = self.decode(z, batch_statistics=batch_statistics)
        return self.log_density(x.unsqueeze(-2), output, x_logvar), code, output

    def encode(self, x: Tensor, *, batch_statistics: bool) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance of the latent code, each (members, latent, rows).

        Missing-value indicators are hidden from the encoder, so that the code does not
        memorize rows by their missing values; the decoder still predicts them.
        """
        missing = x.isnan()
        missing[..., self.log_density.missing_indicators, :] = True
        is_complete = can_branch(missing) and not missing.any()
        hidden = x if is_complete else torch.where(missing, self.fill_values, x)
        for layer in self.encoder:
            hidden = layer(hidden, batch_statistics)
        mean, logvar = self.latent_head(hidden)
        return mean, logvar

    def decode(self, z: Tensor, *, batch_statistics: bool) -> tuple[Tensor, Tensor]:
        """Return output and log-variance of the cells, each (members, features, samples, rows)."""
        n_members, _, n_samples, n_rows = z.shape
        if self.decoder_batch_norm == "joint" or not batch_statistics:
            hidden = self._decode(z.flatten(2), batch_statistics)
        else:
            hidden = torch.cat([self._decode(one, True) for one in z.unbind(2)], dim=-1)
        output, logvar = self.output_head(hidden)  # (members, features, samples * rows)
        shape = (n_members, -1, n_samples, n_rows)
        return output.reshape(shape), logvar.reshape(shape)

    def _decode(self, hidden: Tensor, batch_statistics: bool) -> Tensor:
        for layer in self.decoder:
            hidden = layer(hidden, batch_statistics)
        return hidden
