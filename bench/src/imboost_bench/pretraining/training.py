"""The training of the in-context network."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from imboost.errors import SettingError
from imboost.models.in_context import ColumnAttention, InContextNetwork, RowLayer
from imboost.validation import check_number
from imboost_bench.pretraining.checkpoint import TrainingState, Validation
from imboost_bench.pretraining.outliers import MIN_SHARE
from imboost_bench.pretraining.random_source import RandomSource
from imboost_bench.pretraining.settings import PretrainingSettings
from imboost_bench.pretraining.tasks import UPDATES_PER_DRAW, Task, draw_tasks

TRAINING_TABLES, VALIDATION_TABLES = 0, 1  # part of the seed: the tables of both differ
N_VALIDATION = 6  # draws of tables
VALIDATION_SHARE = 0.1  # size of such a draw by that of one for updates
# cuDNN's attention fails on large batches of short rows.
ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


def pretrain(
    settings: PretrainingSettings,
    folder: Path,
    *,
    device: torch.device | str = "cpu",
    initial_weights: Path | None = None,
    max_seconds: float = math.inf,
    validate_every: int = 500,
    report: Callable[[Validation], None] = lambda _: None,
) -> TrainingState:
    """Train a network on synthetic tables, or continue a training, and return its state.

    The tables of an update follow from the seed and its number, so that an interrupted training
    continues as if it had not been; on a GPU, up to rounding. The folder gets `checkpoint.pt`,
    `log.csv` with a line per validation, and `weights.safetensors`: the averaged weights with the
    lowest validation loss, in half precision. A folder with a checkpoint continues it, with the
    same settings and without `initial_weights`, a file of weights of an earlier training.
    """
    check_number("validate_every", validate_every, minimum=1, whole=True)
    device = _check_device(device)
    state = _open(settings, folder / "checkpoint.pt", device, initial_weights)
    folder.mkdir(parents=True, exist_ok=True)
    fewer = replace(settings, n_tokens=math.ceil(VALIDATION_SHARE * settings.n_tokens))
    draws = [
        draw_tasks(fewer, RandomSource((settings.seed, VALIDATION_TABLES, number), device))
        for number in range(N_VALIDATION)
    ]
    if device.type == "cuda":
        compile_layers(state.network)
    start = time.monotonic()
    seconds_before = state.validations[-1].seconds if state.validations else 0.0
    losses: list[Tensor] = []
    stop = False
    tasks = training_tasks(settings, device, state.step)
    task = next(tasks)
    while state.step < settings.n_steps and not stop:
        loss = task_loss(state.network, task)
        torch.autograd.backward(loss)
        task = next(tasks)  # drawn while a GPU still computes gradients
        state.update()
        losses.append(loss.detach())
        elapsed = time.monotonic() - start
        stop = elapsed > max_seconds
        if state.step % validate_every == 0 or state.step == settings.n_steps or stop:
            figures = _validate(state.average, [own for draw in draws for own in draw])
            mean_loss = float(torch.stack(losses).nanmean())
            found = Validation(state.step, seconds_before + elapsed, mean_loss, *figures)
            losses.clear()
            _store(state, found, folder)
            report(found)
    return state


def compile_layers(network: InContextNetwork) -> None:
    """Compile the layers for tables of any shape, which makes training on a GPU faster."""
    for layer in network.modules():
        if isinstance(layer, ColumnAttention | RowLayer):
            layer.compile(dynamic=True)


def training_tasks(
    settings: PretrainingSettings, device: torch.device, step: int
) -> Iterator[Task]:
    """Yield the tables of the updates from `step` on; they follow from the update's number."""
    first, part = divmod(step, UPDATES_PER_DRAW)
    for number in count(first):
        source = RandomSource((settings.seed, TRAINING_TABLES, number), device)
        yield from draw_tasks(settings, source)[part if number == first else 0 :]


def task_loss(network: InContextNetwork, task: Task) -> Tensor:
    """Return the weighted cross-entropy of the rows without an answer.

    Each table counts by its mean, weighted by 0.5 over the standard deviation of `is_outlier`, so
    that tables with rare outliers are not neglected.
    """
    return _weighted_cross_entropy(_predict(network, task), task)


def _weighted_cross_entropy(log_odds: Tensor, task: Task) -> Tensor:
    truth = task.is_outlier.to(log_odds.dtype)
    entropy = F.binary_cross_entropy_with_logits(log_odds, truth, reduction="none")
    share = truth.mean(1).clamp(MIN_SHARE, 1 - MIN_SHARE)
    weight = 0.5 / (share * (1 - share)).sqrt()  # 1 where half of the rows are outliers
    is_target = task.is_target.to(log_odds.dtype)
    return ((entropy * is_target).sum(1) / is_target.sum(1) * weight).mean()


def _predict(network: InContextNetwork, task: Task) -> Tensor:
    device = task.values.device.type
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"), sdpa_kernel(ATTENTION):
        log_odds: Tensor = network(task.values, task.scores, task.labels)
    return log_odds.float()


def _check_device(name: torch.device | str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise SettingError(f"The device {name} cannot be used here: {error}") from error
    return device


def _open(
    settings: PretrainingSettings, path: Path, device: torch.device, initial_weights: Path | None
) -> TrainingState:
    if not path.exists():
        return TrainingState.start(settings, device, initial_weights)
    state = TrainingState.load(path, device)
    now = asdict(settings)
    for name, before in asdict(state.settings).items():
        if before != now[name]:
            raise SettingError(
                f"{path.parent} was started with {name} {before}, got {now[name]}. Continue with "
                "the same settings, or start in another folder."
            )
    return state


@torch.no_grad()
def _validate(network: InContextNetwork, tasks: list[Task]) -> tuple[float, float, float]:
    """Return the mean loss of all tasks, and AUC and AP of the rows outside the context."""
    losses, aucs, aps = [], [], []
    for task in tasks:
        log_odds = _predict(network, task)
        losses.append(float(_weighted_cross_entropy(log_odds, task)))
        outside = (part[:, task.n_context :].cpu().numpy() for part in (log_odds, task.is_outlier))
        for predicted, truth in zip(*outside, strict=True):
            if truth.any() and not truth.all():
                aucs.append(roc_auc_score(truth, predicted))
                aps.append(average_precision_score(truth, predicted))
    return float(np.mean(losses)), float(np.mean(aucs)), float(np.mean(aps))


def _store(state: TrainingState, found: Validation, folder: Path) -> None:
    """Write the weights if they are the best, then the checkpoint and the log."""
    finite = [known.loss for known in state.validations if math.isfinite(known.loss)]
    if found.loss < min(finite, default=math.inf):
        average = state.average.state_dict().items()
        weights = {name: value.half().cpu().contiguous() for name, value in average}
        metadata = {"settings": json.dumps(asdict(state.settings))}
        metadata["validation"] = json.dumps(asdict(found))
        unfinished = folder / "weights.unfinished"
        save_file(weights, unfinished, metadata)
        unfinished.replace(folder / "weights.safetensors")
    state.validations.append(found)
    state.save(folder / "checkpoint.pt")
    pd.DataFrame(state.validations).to_csv(folder / "log.csv", index=False, na_rep="nan")
