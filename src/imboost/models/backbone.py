"""The interface of a generative model.

A backbone is an ensemble of ``n_members`` models of the same architecture, in one `nn.Module`.
Every entry of its state has the member as first dimension, so that all members train in one
batched computation. Rows come last: a batch is (features, rows) and hidden units are (members,
units, rows), so that statistics over the batch are computed on contiguous memory. All members see
the same batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor, nn

from imboost.errors import SettingError
from imboost.models.ensemble_layers import with_weights
from imboost.models.likelihood import CellDensity
from imboost.tables.layout import Kind, Layout

Module = TypeVar("Module", bound=nn.Module)


class Backbone(Protocol):
    """An ensemble of generative models that compute importance log-weights of rows."""

    n_members: int

    def draw_noise(
        self, n_rows: int, generator: torch.Generator, n_samples: int | None = None
    ) -> Tensor:
        """Draw the randomness of one `log_weights` call, on the generator's device.

        Parameters
        ----------
        n_rows : int
            Rows of the batch; the noise of 1 row broadcasts over any batch.
        generator : torch.Generator
            Source of the noise.
        n_samples : int, optional
            K; the model's own number if not given.
        """

    def log_weights(
        self,
        x: Tensor,
        noise: Tensor,
        *,
        batch_statistics: bool,
        row_weights: Tensor | None = None,
    ) -> Tensor:
        """Return log-weights of shape (members, samples, rows).

        Parameters
        ----------
        x : Tensor of shape (features, rows)
            Rows scaled to the unit interval; nan is a missing value.
        noise : Tensor
            From `draw_noise`, or anything that broadcasts against it.
        batch_statistics : bool
            Whether hidden units are normalised by this batch, and update the running
            averages, or by those averages.
        row_weights : Tensor of shape (rows,), optional
            Weights of the rows in the statistics of the batch, 0 for padding; they sum to 1.
            All rows have the same weight if not given.
        """

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return the trainable parameters, as every `nn.Module` does."""


@runtime_checkable
class CellBackbone(Backbone, Protocol):
    """A backbone whose log-weights are sums of terms of the cells and of the latent code."""

    log_density: CellDensity

    def weight_parts(
        self, x: Tensor, seen: Tensor, noise: Tensor, *, batch_statistics: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return log-densities of cells, the term of the latent code, and the decoder's output.

        The first two sum to `log_weights`; see `MLPVAE.weight_parts`.
        """


BackboneFactory = Callable[..., Any]
"""The constructor of an `nn.Module` that is also a `Backbone`; see `MLPVAE` for its arguments."""


def concatenate_members(states: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Concatenate states along the member dimension: snapshots become one larger ensemble."""
    return {name: torch.cat([state[name] for state in states]) for name in states[0]}


def check_only_numeric(backbone: str, layout: Layout | None, n_features: int) -> None:
    """Raise if a column is not numeric; without a layout, all are."""
    if layout is None or layout.n_of_kind(Kind.NUMERIC) == n_features:
        return
    other = next(feature for feature in layout.features if feature.kind != Kind.NUMERIC)
    if other.kind == Kind.MISSING_INDICATOR:
        raise SettingError(
            f"The {backbone} backbone takes only numeric columns, but TableDetector has added a "
            f"missing-value indicator of '{other.source}': impute the missing values, give the "
            "numbers to the detector itself, which takes nan, or use the backbone 'vae'."
        )
    raise SettingError(
        f"The {backbone} backbone takes only numeric columns, but '{other.source}' is encoded as "
        f"{other.kind}; use the backbone 'vae'."
    )


def expand_fill_values(fill_values: Tensor | None, n_features: int, n_members: int) -> Tensor:
    """Return the fill values of all members, (members, features, 1); 0.5 if there are none."""
    filling = torch.full((n_features,), 0.5) if fill_values is None else fill_values.float()
    return filling.reshape(1, -1, 1).repeat(n_members, 1, 1)


def restore(backbone: Callable[..., Module], state: Mapping[str, Any]) -> Module:
    """Return a backbone that has been saved, for scoring; see its `state`."""
    settings = {name: value for name, value in state.items() if name != "weights"}
    return with_weights(backbone(generator=torch.Generator(), **settings), state["weights"])
