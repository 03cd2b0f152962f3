"""The state of a pretraining in one file, so that it can be continued."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim.swa_utils import get_ema_multi_avg_fn

from imboost.errors import PersistenceError
from imboost.models.in_context import InContextNetwork
from imboost.models.pretrained import SIZES, read_tensors
from imboost_bench.pretraining.settings import PretrainingSettings

WARMUP_STEPS = 100  # until the learning rate has its peak
MAX_GRADIENT_NORM = 1.0
AVERAGED_SHARE = 0.05  # of all updates: time constant of the moving average of the weights
BETAS = (0.9, 0.98)  # of AdamW


@dataclass(frozen=True)
class Validation:
    """Figures of one checkpoint on synthetic tables that are not trained on."""

    step: int
    seconds: float
    training_loss: float
    loss: float
    auc: float
    ap: float


@dataclass(eq=False)
class TrainingState:
    """Everything that changes during the pretraining.

    Muon updates the matrices of the layers, and AdamW all other weights; `average` is the moving
    average of the weights, which is kept.
    """

    settings: PretrainingSettings
    network: InContextNetwork
    average: InContextNetwork
    optimisers: tuple[torch.optim.Optimizer, ...]
    step: int = 0
    validations: list[Validation] = field(default_factory=list)

    @classmethod
    def start(
        cls,
        settings: PretrainingSettings,
        device: torch.device,
        initial_weights: Path | None = None,
    ) -> TrainingState:
        """Return the state before the first update, with random or given weights."""
        sizes = {size: getattr(settings, size) for size in SIZES}
        with torch.random.fork_rng(devices=[]):  # torch's layers take no generator
            torch.manual_seed(settings.seed)
            network, average = (InContextNetwork(**sizes) for _ in range(2))
        if initial_weights is not None:
            _load_weights(network, sizes, initial_weights)
        average.load_state_dict(network.state_dict())
        network.to(device)
        average.to(device).requires_grad_(False)
        blocks = nn.ModuleList([*network.layers, *network.row_layers])
        matrices = [weight for weight in blocks.parameters() if weight.ndim == 2]
        is_matrix = {id(weight) for weight in matrices}
        others = [weight for weight in network.parameters() if id(weight) not in is_matrix]
        decay = settings.weight_decay
        muon = torch.optim.Muon(matrices, lr=settings.matrix_learning_rate, weight_decay=decay)
        adam = torch.optim.AdamW(
            others, lr=settings.learning_rate, betas=BETAS, weight_decay=decay, fused=True
        )
        return cls(settings, network, average, (muon, adam))

    def update(self) -> None:
        """Make one update; gradients that are not finite leave the weights as they are."""
        factor = rate_factor(self.settings, self.step)
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), MAX_GRADIENT_NORM)
        self.step += 1
        is_finite = bool(norm.isfinite())
        peaks = (self.settings.matrix_learning_rate, self.settings.learning_rate)
        for optimiser, peak in zip(self.optimisers, peaks, strict=True):
            optimiser.param_groups[0]["lr"] = peak * factor
            if is_finite:
                optimiser.step()
            optimiser.zero_grad()
        self.update_average()

    def update_average(self) -> None:
        """Move the average towards the weights; early on, it is their plain mean."""
        time_constant = max(1.0, AVERAGED_SHARE * self.settings.n_steps)
        decay = min(1 - 1 / time_constant, self.step / (self.step + 1))
        parameters = [list(network.parameters()) for network in (self.average, self.network)]
        average: Callable[..., None] = get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
        average(*parameters, self.step)

    def save(self, path: Path) -> None:
        """Write the state; a file that exists is replaced at the end."""
        state = {
            "settings": asdict(self.settings),
            "step": self.step,
            "validations": [asdict(known) for known in self.validations],
            "modules": [module.state_dict() for module in self.modules],
        }
        unfinished = path.with_suffix(".unfinished")
        torch.save(state, unfinished)
        unfinished.replace(path)

    @classmethod
    def load(cls, path: Path, device: torch.device) -> TrainingState:
        """Read a state."""
        try:
            saved = torch.load(path, map_location=device, weights_only=True)
            state = cls.start(PretrainingSettings(**saved["settings"]), device)
            for module, own in zip(state.modules, saved["modules"], strict=True):
                module.load_state_dict(own)
            state.step = saved["step"]
            state.validations = [Validation(**item) for item in saved["validations"]]
        except Exception as error:  # whatever a damaged file makes the readers raise
            raise PersistenceError(
                f"{path} is not a checkpoint of this version ({error}). Start in another folder."
            ) from error
        return state

    @property
    def modules(self) -> tuple[Any, ...]:
        """Both networks and both optimisers."""
        return (self.network, self.average, *self.optimisers)


def rate_factor(settings: PretrainingSettings, step: int) -> float:
    """Return the learning rate of an update by its peak: a linear warm-up, then half a cosine.

    >>> settings = PretrainingSettings(n_steps=1000)
    >>> round(rate_factor(settings, 49), 2), round(rate_factor(settings, 500), 2)
    (0.5, 0.5)
    """
    cosine = (1 + math.cos(math.pi * step / settings.n_steps)) / 2
    return min((step + 1) / WARMUP_STEPS, cosine)


def _load_weights(network: InContextNetwork, sizes: dict[str, int], path: Path) -> None:
    try:
        tensors, metadata = read_tensors(path)
        trained = {size: metadata["settings"][size] for size in SIZES}
    except Exception as error:  # whatever a damaged file makes the readers raise
        raise PersistenceError(f"{path} is not a file of weights ({error}).") from error
    for size, value in sizes.items():
        if trained[size] != value:
            raise PersistenceError(
                f"{path} holds a network with {size} {trained[size]}, got {value}. Train a "
                "network of the same size."
            )
    network.load_state_dict(tensors)
