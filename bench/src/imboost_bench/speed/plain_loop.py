"""The same updates as IMBoost's, as a researcher would write them in plain PyTorch.

It is the yardstick of `training_speed`: one model, torch's own layers and optimiser, the same
batch sizes, trimming, answered rows and bounds; no scoring and no queries.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from imboost.models.mlp_vae import Widths
from imboost.training.loop import Schedule

ROUND_EPOCHS = 10  # epochs of polarization per round, the default of IMBoost


def _block(n_in: int, n_out: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(n_in, n_out, bias=False),
        nn.BatchNorm1d(n_out, eps=1e-4, affine=False),
        nn.LeakyReLU(),
    )


class PlainVAE(nn.Module):
    """Encoder and decoder of the paper for rows of shape (rows, features)."""

    def __init__(self, n_features: int, n_samples: int = 2) -> None:
        super().__init__()
        width = Widths.for_features(n_features)
        self.n_samples = n_samples
        self.encoder = nn.Sequential(
            _block(n_features, width.outer), _block(width.outer, width.inner)
        )
        self.latent_mean = nn.Linear(width.inner, width.latent, bias=False)
        self.latent_logvar = nn.Linear(width.inner, width.latent)
        self.decoder = nn.Sequential(
            _block(width.latent, width.inner), _block(width.inner, width.outer)
        )
        self.output_mean = nn.Linear(width.outer, n_features, bias=False)
        self.output_logvar = nn.Linear(width.outer, n_features)

    def forward(self, x: Tensor) -> Tensor:
        """Return importance log-weights of shape (samples, rows)."""
        hidden = self.encoder(x)
        mean = self.latent_mean(hidden)
        logvar = self.latent_logvar(hidden).clamp(-6, 2)
        noise = torch.randn(self.n_samples, *mean.shape)
        z = mean + (0.5 * logvar).exp() * noise  # (samples, rows, latent)
        prior = (0.5 * (noise.square() - z.square() + logvar)).sum(-1)
        hidden = self.decoder(z.flatten(0, 1))
        out_mean = torch.sigmoid(self.output_mean(hidden)).view(self.n_samples, *x.shape)
        out_logvar = self.output_logvar(hidden).clamp(-6, 2).view(self.n_samples, *x.shape)
        cells = -0.5 * (x - out_mean).square() * (-out_logvar).exp() - out_logvar
        log_w: Tensor = cells.sum(-1) + prior
        return log_w


def iwae_loss(log_w: Tensor) -> Tensor:
    """Negative importance-weighted bound of each row."""
    return math.log(len(log_w)) - torch.logsumexp(log_w, 0)


def plain_updates(X: Tensor, inliers: list[Tensor], outliers: list[Tensor]) -> None:
    """Train through warm-up and five rounds; the lists hold the answered rows by round."""
    schedule = Schedule()
    model = PlainVAE(X.shape[1])
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=5e-7)
    n_epochs = schedule.warmup_epochs + len(inliers) * ROUND_EPOCHS
    for epoch in range(n_epochs):
        size = schedule.batch_size_at(epoch, len(X))
        for _ in range(schedule.updates_per_epoch):
            batch = X[torch.randperm(len(X))[:size]]
            model.train()
            loss = iwae_loss(model(batch))
            if epoch < schedule.plain_epochs:
                risk = loss.mean()
            else:
                threshold = torch.quantile(loss.detach(), 0.92)
                extra: Tensor | float = 0.0
                if epoch >= schedule.warmup_epochs:
                    number = (epoch - schedule.warmup_epochs) // ROUND_EPOCHS
                    model.eval()
                    known = torch.cat([inliers[number], outliers[number]])
                    log_w = model(known)
                    n_inliers = len(inliers[number])
                    inlier_risk = iwae_loss(log_w[:, :n_inliers]).mean()
                    outlier_risk = 0.5 * iwae_loss(2 * log_w[:, n_inliers:]).mean()  # chi bound
                    threshold = 0.6 * threshold + 0.4 * inlier_risk.detach()
                    extra = 2 * inlier_risk - outlier_risk
                kept = loss <= threshold
                risk = (loss * kept).sum() / kept.sum().clamp(min=1) + extra
            optimiser.zero_grad()
            torch.autograd.backward(risk)
            optimiser.step()
