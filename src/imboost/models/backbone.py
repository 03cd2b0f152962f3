"""The base class of generative models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from imboost.errors import SettingError
from imboost.models.ensemble_layers import with_weights
from imboost.tables.layout import Kind, Layout


class Backbone(nn.Module, ABC):
    """An ensemble of models of one architecture that compute importance log-weights of rows.

    Every entry of its state has the member as first dimension, so that all members train in one
    batched computation. Rows come last: a batch is (features, rows) and hidden units are (members,
    units, rows), so that statistics over the batch are computed on contiguous memory. All members
    see the same batch.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    generator : torch.Generator
        Source of the initial weights.
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

    fills_missing: ClassVar[bool] = True
    """Whether the mean of a column, or 0.5, takes the place of a missing value."""

    only_numeric_as: ClassVar[str] = ""
    """Name of a backbone that takes only numeric columns."""

    fill_values: Tensor

    def __init__(
        self,
        n_features: int,
        generator: torch.Generator,
        *,
        n_members: int = 1,
        n_samples: int = 2,
        logvar_weight: float = 1.0,
        layout: Layout | None = None,
        fill_values: Tensor | None = None,
        decoder_batch_norm: str = "joint",
    ) -> None:
        super().__init__()
        self.n_features = n_features
        self.n_members = n_members
        self.n_samples = n_samples
        self.logvar_weight = logvar_weight
        self.layout = layout
        self.decoder_batch_norm = decoder_batch_norm
        if self.only_numeric_as and layout is not None:
            self._check_only_numeric(layout)
        if self.fills_missing:  # (members, features, 1)
            filling = torch.full((n_features,), 0.5)
            filling = filling if fill_values is None else fill_values.float()
            self.register_buffer("fill_values", filling.reshape(1, -1, 1).repeat(n_members, 1, 1))
        self._build(generator)

    @abstractmethod
    def _build(self, generator: torch.Generator) -> None:
        """Create the layers."""

    @abstractmethod
    def draw_noise(
        self, n_rows: int, generator: torch.Generator, n_samples: int | None = None
    ) -> Tensor:
        """Draw the randomness of one `log_weights` call, on the generator's device.

        The noise of 1 row broadcasts over any batch. `n_samples` is the model's own by default.
        """

    @abstractmethod
    def log_weights(self, x: Tensor, noise: Tensor, *, batch_statistics: bool) -> Tensor:
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
        """

    def state(self) -> dict[str, Any]:
        """Return the arguments of the constructor and the weights."""
        names = ("n_features", "n_members", "n_samples", "logvar_weight", "layout")
        return {name: getattr(self, name) for name in names} | {"weights": self.state_dict()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return a backbone that has been saved, for scoring."""
        settings = {name: value for name, value in state.items() if name != "weights"}
        return with_weights(cls(generator=torch.Generator(), **settings), state["weights"])

    def _check_only_numeric(self, layout: Layout) -> None:
        other = next((part for part in layout.features if part.kind != Kind.NUMERIC), None)
        if other is None:
            return
        name = self.only_numeric_as
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
