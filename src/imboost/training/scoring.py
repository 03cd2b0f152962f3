"""Losses of all rows of a table, and their average over epochs (eq. 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import torch
from torch import Tensor

from imboost.arrays import Floats
from imboost.models.backbone import Backbone
from imboost.models.bounds import iwae
from imboost.training.loop import Step
from imboost.training.scaled_rows import ScaledRows


@torch.inference_mode()
def member_losses(
    model: Backbone, rows: ScaledRows, noise: Tensor, dtype: torch.dtype = torch.float32
) -> Iterator[Tensor]:
    """Yield the members' losses of the rows, chunk by chunk: (members, rows).

    All rows share the noise of one row, so that no score depends on other rows.
    """
    noise = noise.to(rows.device, dtype)
    for _, x in rows.chunks(model.n_members * noise.shape[2], dtype):
        yield -iwae(model.log_weights(x, noise, batch_statistics=False))


def mean_losses(
    model: Backbone, rows: ScaledRows, noise: Tensor, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Return the loss of every row, averaged over the members, in single precision."""
    chunks = member_losses(model, rows, noise, dtype)
    return torch.cat([chunk.mean(0).float() for chunk in chunks])


def ensembled_loss(
    model: Backbone,
    rows: ScaledRows,
    steps: Iterable[Step[Backbone]],
    epochs: range,
    generator: torch.Generator,
    n_samples: int,
) -> Floats:
    """Return the loss of every row, averaged over `epochs` of the training (eq. 6).

    `steps` trains the model: each step comes after its update.
    """
    total = torch.zeros(len(rows), device=rows.device)
    for step in steps:
        if step.ends_epoch and step.epoch in epochs:
            total += mean_losses(model, rows, model.draw_noise(1, generator, n_samples))
    return np.asarray(total.cpu().numpy().astype(np.float64) / len(epochs))
