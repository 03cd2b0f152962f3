"""The state of a pretraining in one file, so that it can be continued."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.optim.swa_utils import get_ema_multi_avg_fn

from imboost.errors import PersistenceError
from imboost.models.in_context import InContextNetwork
from imboost.models.pretrained import SIZES, read_tensors
from imboost_bench.pretraining.muon import BatchedMuon
from imboost_bench.pretraining.settings import PretrainingSettings

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

    Parameters
    ----------
    settings : PretrainingSettings
    network, average : InContextNetwork
        The network in training, and the moving average of its weights, which is kept.
    optimisers : tuple of (BatchedMuon, AdamW)
        Muon updates the matrices of the layers, and AdamW all other weights.
    step : int
        Updates so far.
    validations : list of Validation
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
        with torch.random.fork_rng(devices=[]):  # torch's layers take no generator
            torch.manual_seed(settings.seed)
            network, average = (make_network(settings) for _ in range(2))
        if initial_weights is not None:
            _load_weights(network, settings, initial_weights)
        average.load_state_dict(network.state_dict())
        network.to(device)
        average.to(device).requires_grad_(False)
        blocks = [*network.layers, *network.row_layers]
        matrices = [
            weight for block in blocks for weight in block.parameters() if weight.ndim == 2
        ]
        is_matrix = {id(weight) for weight in matrices}
        others = [weight for weight in network.parameters() if id(weight) not in is_matrix]
        decay = settings.weight_decay
        muon = BatchedMuon(matrices, lr=settings.matrix_learning_rate, weight_decay=decay)
        adam = torch.optim.AdamW(
            others, lr=settings.learning_rate, betas=BETAS, weight_decay=decay, fused=True
        )
        return cls(settings, network, average, (muon, adam))

    @property
    def seconds(self) -> float:
        """Seconds of training until the last validation."""
        return self.validations[-1].seconds if self.validations else 0.0

    def update_average(self) -> None:
        """Move the average towards the weights; early on, it is their plain mean."""
        time_constant = max(1.0, AVERAGED_SHARE * self.settings.n_steps)
        decay = min(1 - 1 / time_constant, self.step / (self.step + 1))
        parameters = [list(network.parameters()) for network in (self.average, self.network)]
        average: Callable[..., None] = get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
        average(*parameters, self.step)

    def save(self, path: Path) -> None:
        """Write the state; a file that exists is replaced at the end."""
        tensors = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        tensors |= {f"average.{name}": value for name, value in self.average.state_dict().items()}
        for own, optimiser in enumerate(self.optimisers):
            for number, values in optimiser.state_dict()["state"].items():
                prefix = f"optimiser.{own}.{number}"
                tensors |= {f"{prefix}.{name}": value for name, value in values.items()}
        metadata = {
            "settings": json.dumps(asdict(self.settings)),
            "step": str(self.step),
            "validations": json.dumps([asdict(found) for found in self.validations]),
        }
        write_tensors(tensors, path, metadata)

    @classmethod
    def load(cls, path: Path, device: torch.device) -> TrainingState:
        """Read a state."""
        try:
            tensors, metadata = read_tensors(path)
            state = cls.start(PretrainingSettings(**metadata["settings"]), device)
            state.load_tensors(tensors)
            state.step = metadata["step"]
            state.validations = [Validation(**item) for item in metadata["validations"]]
        except Exception as error:  # whatever a damaged file makes the readers raise
            raise PersistenceError(
                f"{path} is not a checkpoint of this version ({error}). Start in another folder."
            ) from error
        return state

    def load_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Replace the weights and the moments of the optimisers."""
        self.network.load_state_dict(_below("network", tensors))
        self.average.load_state_dict(_below("average", tensors))
        for own, optimiser in enumerate(self.optimisers):
            state: dict[int, dict[str, Tensor]] = {}
            for name, value in _below(f"optimiser.{own}", tensors).items():
                number, key = name.split(".")
                state.setdefault(int(number), {})[key] = value
            optimiser.load_state_dict({**optimiser.state_dict(), "state": state})


def make_network(settings: PretrainingSettings) -> InContextNetwork:
    """Return a network with the size that the settings name."""
    return InContextNetwork(**{size: getattr(settings, size) for size in SIZES})


def write_tensors(tensors: dict[str, Tensor], path: Path, metadata: dict[str, str]) -> None:
    """Write a safetensors file under another name and rename it when it is complete."""
    unfinished = path.with_suffix(".unfinished")
    contiguous = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    save_file(contiguous, unfinished, metadata)
    unfinished.replace(path)


def _load_weights(network: InContextNetwork, settings: PretrainingSettings, path: Path) -> None:
    if not path.is_file():
        raise PersistenceError(f"The initial weights {path} are not a file.")
    try:
        tensors, metadata = read_tensors(path)
        sizes = {size: metadata["settings"][size] for size in SIZES}
    except Exception as error:  # whatever a damaged file makes the readers raise
        raise PersistenceError(f"{path} is not a file of weights ({error}).") from error
    for size, trained in sizes.items():
        if trained != getattr(settings, size):
            raise PersistenceError(
                f"{path} holds a network with {size} {trained}, got {getattr(settings, size)}. "
                "Train a network of the same size."
            )
    if tensors.keys() != network.state_dict().keys():
        raise PersistenceError(f"{path} holds other tensors. Pass a file weights.safetensors.")
    network.load_state_dict(tensors)


def _below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    start = f"{prefix}."
    return {
        name.removeprefix(start): value
        for name, value in tensors.items()
        if name.startswith(start)
    }
