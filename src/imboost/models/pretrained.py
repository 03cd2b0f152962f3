"""Weights of the in-context network: files of them, and those that the package ships.

`weights/README.md` is the model card of the latter.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from imboost.models.in_context import InContextNetwork

WEIGHTS = Path(__file__).parent / "weights" / "in_context.safetensors"
SIZES = ("width", "n_layers", "n_heads", "row_width", "n_row_layers", "n_row_heads")
"""The settings that are parameters of the network."""


@cache
def load_pretrained() -> InContextNetwork:
    """Return the pretrained network in single precision.

    All callers share it: copy it before you train it or move it to another device.

    Examples
    --------
    >>> values = torch.tensor([0.0, 0.1, 5.0, 0.2, 5.1])[None, :, None]  # the last one is new
    >>> scores, labels = values.repeat(1, 1, 4), torch.tensor([[0, 0, 1, -1]])
    >>> log_odds = load_pretrained()(values, scores, labels)[0]
    >>> bool(log_odds[4] > log_odds[3])
    True
    """
    tensors, metadata = read_tensors(WEIGHTS)
    with torch.device("meta"):  # without random initial weights
        network = InContextNetwork(**{size: metadata["settings"][size] for size in SIZES})
    single = {name: value.float() for name, value in tensors.items()}
    network.load_state_dict(single, assign=True)
    return network.eval().requires_grad_(False)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors of a safetensors file by name, and its parsed metadata."""
    from safetensors import safe_open  # detectors without the network do not need it

    with safe_open(path, framework="pt") as file:
        metadata = {name: json.loads(value) for name, value in file.metadata().items()}
        return {name: file.get_tensor(name) for name in file.keys()}, metadata  # noqa: SIM118
