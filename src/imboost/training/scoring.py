"""Losses of whole tables, with a model that does not change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imboost.models.backbone import Backbone
from imboost.models.bounds import iwae
from imboost.training.rows import Rows


def scoring_noise(model: Backbone, generator: torch.Generator, n_samples: int) -> Tensor:
    """Draw noise that all rows share, so that a row's score depends on nothing but the row."""
    return model.draw_noise(1, generator, n_samples)


@torch.inference_mode()
def member_losses(
    model: Backbone, rows: Rows, noise: Tensor, dtype: torch.dtype = torch.float32
) -> Iterator[tuple[slice, Tensor]]:
    """Yield the loss of every row in chunks: a slice and a tensor (members, rows)."""
    noise = noise.to(rows.device, dtype)
    n_copies = model.n_members * noise.shape[2]
    for part, x in rows.chunks(n_copies, dtype):
        yield part, -iwae(model.log_weights(x, noise, batch_statistics=False))


def mean_losses(
    model: Backbone, rows: Rows, noise: Tensor, dtype: torch.dtype = torch.float32
) -> NDArray[np.float32]:
    """Return the loss of every row, averaged over the members."""
    losses = np.empty(len(rows), dtype=np.float32)
    for part, chunk in member_losses(model, rows, noise, dtype):
        losses[part] = chunk.mean(0).cpu().numpy()
    return losses
