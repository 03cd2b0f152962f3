"""A normalising flow: its likelihood is exact, so both bounds coincide with it."""

from __future__ import annotations

import copy
import math
from typing import cast

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from imboost.errors import DataError, require
from imboost.models.backbone import Backbone
from imboost.models.likelihood import with_floor

N_TRANSFORMS = 3
HIDDEN_FEATURES = (64, 64)
CENTRE, STRETCH = 0.5, 4.0
"""Maps the unit interval to [-2, 2], where a standard normal has most of its mass."""


class NormalisingFlow(Backbone):
    """An ensemble of masked autoregressive flows (zuko's MAF) with a broad Gaussian floor.

    Parameters are those of `Backbone`. All columns must be numeric. `n_samples`,
    `logvar_weight`, `fill_values` and `decoder_batch_norm` are ignored: a flow has no latent code,
    gives the exact density, takes no missing values and has no decoder.
    """

    fills_missing = False
    only_numeric_as = "flow"

    def _build(self, generator: torch.Generator) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
            members = [_MemberDensity(self.n_features) for _ in range(self.n_members)]
        parameters, buffers = stack_module_state(cast("list[nn.Module]", members))
        self._stacked_parameters = nn.ParameterDict(
            {_without_dots(name): nn.Parameter(one.detach()) for name, one in parameters.items()}
        )
        self._buffer_names = list(buffers)
        for name, value in buffers.items():
            self.register_buffer(_without_dots(name), value)
        # The skeleton owns no memory: it gets each member's parameters at every call.
        self._skeleton = [copy.deepcopy(members[0]).to("meta")]

    def draw_noise(
        self, n_rows: int, generator: torch.Generator, n_samples: int | None = None
    ) -> Tensor:
        """Return an empty tensor: an exact likelihood needs no samples."""
        return torch.empty(self.n_members, 0, 1, n_rows, device=generator.device)

    def log_weights(self, x: Tensor, noise: Tensor, *, batch_statistics: bool) -> Tensor:
        """Return the exact log-density as the only weight: (members, 1, rows)."""
        # A captured update cannot read values; scores of all rows are never captured.
        is_captured = x.is_cuda and torch.cuda.is_current_stream_capturing()
        if not is_captured and x.isnan().any():
            raise DataError("The flow backbone takes no missing values; use the backbone 'vae'.")
        rows = x.t()  # (rows, features)
        stacked = self._stacked_parameters
        parameters = {name.replace("-", "."): stacked[name] for name in stacked}
        buffers = {name: self.get_buffer(_without_dots(name)) for name in self._buffer_names}

        def log_density(*state: dict[str, Tensor]) -> Tensor:
            density: Tensor = functional_call(self._skeleton[0], state, (rows,))
            return density

        return vmap(log_density)(parameters, buffers).unsqueeze(1)


class _MemberDensity(nn.Module):
    """Log-density of rows (rows, features) in the unit interval under one flow."""

    def __init__(self, n_features: int) -> None:
        super().__init__()
        require("The flow backbone", "flows", "zuko")
        import zuko  # slow

        self.flow = zuko.flows.MAF(
            n_features, transforms=N_TRANSFORMS, hidden_features=HIDDEN_FEATURES
        )

    def forward(self, rows: Tensor) -> Tensor:
        centred = rows - CENTRE
        n_features = rows.shape[-1]
        exact = self.flow().log_prob(STRETCH * centred) + n_features * math.log(STRETCH)
        return with_floor(exact, centred.square().sum(-1), n_features)


def _without_dots(name: str) -> str:
    return name.replace(".", "-")  # attributes of modules may have no dots
