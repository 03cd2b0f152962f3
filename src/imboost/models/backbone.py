"""The interface of a generative model.

A backbone is an ensemble of ``n_members`` models of the same architecture, in one `nn.Module`.
Every entry of its state has the member as first dimension, so that all members train in one
batched computation. Rows come last: a batch is (features, rows) and hidden units are (members,
units, rows), so that statistics over the batch are computed on contiguous memory. All members see
the same batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import torch
from torch import Tensor, nn

from imboost.errors import SettingError, UnknownNameError
from imboost.models.ensemble_layers import with_weights
from imboost.models.likelihood import CellDensity
from imboost.tables.layout import Kind, Layout


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


JOINT, PER_SAMPLE = "joint", "per-sample"
DECODER_BATCH_NORMS = (JOINT, PER_SAMPLE)


def check_decoder_batch_norm(name: str) -> None:
    """Raise unless `name` says how the decoder normalises latent samples."""
    if name not in DECODER_BATCH_NORMS:
        raise UnknownNameError("decoder_batch_norm", str(name), DECODER_BATCH_NORMS)


BackboneFactory = Callable[..., Any]
"""The constructor of an `nn.Module` that is also a `Backbone`, see `SavedBackbone`."""


def concatenate_members(states: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Concatenate states along the member dimension: snapshots become one larger ensemble."""
    return {name: torch.cat([state[name] for state in states]) for name in states[0]}


class SavedBackbone(nn.Module):
    """What the backbones share: settings, saving and loading.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    n_members : int
        Models of the ensemble.
    n_samples : int
        K, the latent samples per row.
    logvar_weight : float
        Weight of the decoder's log-variance, see `gaussian_log_density`.
    layout : Layout, optional
        Kinds of the columns; all numeric if not given.
    fill_values : Tensor of shape (features,), optional
        Values that replace missing values in the encoder; 0.5, the middle of the range, if not
        given.
    decoder_batch_norm : {"joint", "per-sample"}
        In training, normalise the decoder's units over all samples of all rows, or over the rows
        for each sample by itself, which updates the running averages `n_samples` times.
    """

    saved_settings: ClassVar[tuple[str, ...]] = ("n_features", "n_members", "n_samples")
    """Arguments of the constructor that are part of the state."""

    fills_missing: ClassVar[bool] = True
    """Whether the mean of a column, or 0.5, takes the place of a missing value."""

    fill_values: Tensor

    def __init__(
        self,
        n_features: int,
        *,
        n_members: int = 1,
        n_samples: int = 2,
        logvar_weight: float = 1.0,
        layout: Layout | None = None,
        fill_values: Tensor | None = None,
        decoder_batch_norm: str = JOINT,
    ) -> None:
        super().__init__()
        self.n_features = n_features
        self.n_members = n_members
        self.n_samples = n_samples
        self.logvar_weight = logvar_weight
        self.layout = layout
        check_decoder_batch_norm(decoder_batch_norm)
        self._joins_samples = decoder_batch_norm == JOINT
        if self.fills_missing:  # (members, features, 1)
            filling = torch.full((n_features,), 0.5)
            filling = filling if fill_values is None else fill_values.float()
            self.register_buffer("fill_values", filling.reshape(1, -1, 1).repeat(n_members, 1, 1))

    def state(self) -> dict[str, Any]:
        """Return the arguments of the constructor and the weights."""
        settings = {name: getattr(self, name) for name in self.saved_settings}
        return {**settings, "weights": self.state_dict()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return a backbone that has been saved, for scoring."""
        settings: dict[str, Any] = {
            name: value for name, value in state.items() if name != "weights"
        }
        make: Callable[..., Self] = cls  # subclasses have more arguments
        return with_weights(make(generator=torch.Generator(), **settings), state["weights"])

    def _check_only_numeric(self, name: str) -> None:
        layout = self.layout
        if layout is None or layout.n_of_kind(Kind.NUMERIC) == self.n_features:
            return
        other = next(feature for feature in layout.features if feature.kind != Kind.NUMERIC)
        if other.kind == Kind.MISSING_INDICATOR:
            raise SettingError(
                f"The {name} backbone takes only numeric columns, but TableDetector has added a "
                f"missing-value indicator of '{other.source}': impute the missing values, give "
                "the numbers to the detector itself, which takes nan, or use the backbone 'vae'."
            )
        raise SettingError(
            f"The {name} backbone takes only numeric columns, but '{other.source}' is encoded as "
            f"{other.kind}; use the backbone 'vae'."
        )
