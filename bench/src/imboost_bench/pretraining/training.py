"""The training of the in-context network."""

from __future__ import annotations

import csv
import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from imboost.errors import SettingError
from imboost.models.in_context import InContextNetwork
from imboost.validation import check_number
from imboost_bench.pretraining.checkpoint import TrainingState, Validation, write_tensors
from imboost_bench.pretraining.outliers import MIN_SHARE
from imboost_bench.pretraining.random_source import RandomSource
from imboost_bench.pretraining.settings import PretrainingSettings
from imboost_bench.pretraining.tasks import UPDATES_PER_DRAW, Task, draw_tasks

WARMUP_STEPS = 100  # until the learning rate has its peak
MAX_GRADIENT_NORM = 1.0
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
    continues as if it had not been; on a GPU, up to rounding. The folder gets
    `checkpoint.safetensors`, `log.csv` with a line per validation, and `weights.safetensors`: the
    averaged weights with the lowest loss on synthetic validation tables, in half precision.

    Parameters
    ----------
    settings : PretrainingSettings
        Must be those of the checkpoint if the folder has one.
    folder : path
    device : torch.device or str
    initial_weights : path, optional
        `weights.safetensors` of an earlier training with a network of the same size, to start
        from. It is not read if the folder has a checkpoint.
    max_seconds : float
        Stop after this time, to be continued.
    validate_every : int
        Updates between two validations.
    report : callable
        Called with each validation.
    """
    check_number("validate_every", validate_every, minimum=1, whole=True)
    device = _check_device(device)
    state = _open(settings, folder / "checkpoint.safetensors", device, initial_weights)
    folder.mkdir(parents=True, exist_ok=True)
    fewer = replace(settings, n_tokens=math.ceil(VALIDATION_SHARE * settings.n_tokens))
    validation = [
        task
        for number in range(N_VALIDATION)
        for task in draw_tasks(
            fewer, RandomSource((settings.seed, VALIDATION_TABLES, number), device)
        )
    ]
    if device.type == "cuda":
        state.network.compile_layers()
    start, seconds_before = time.monotonic(), state.seconds
    losses: list[Tensor] = []
    stop = False
    tasks = TrainingTasks(settings, device)
    while state.step < settings.n_steps and not stop:
        losses.append(_update(state, tasks))
        elapsed = time.monotonic() - start
        stop = elapsed > max_seconds
        if state.step % validate_every == 0 or state.step == settings.n_steps or stop:
            mean_loss = float(torch.stack(losses).nanmean())
            seconds = seconds_before + elapsed
            found = _validate(state.average, validation, state.step, seconds, mean_loss)
            losses.clear()
            _store(state, found, folder)
            report(found)
    return state


def _check_device(name: torch.device | str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise SettingError(f"The device {name} cannot be used here: {error}") from error
    return device


def rate_factor(settings: PretrainingSettings, step: int) -> float:
    """Return the learning rate of an update by its peak: a linear warm-up, then half a cosine.

    >>> settings = PretrainingSettings(n_steps=1000)
    >>> round(rate_factor(settings, 49), 2), round(rate_factor(settings, 500), 2)
    (0.5, 0.5)
    """
    cosine = (1 + math.cos(math.pi * step / settings.n_steps)) / 2
    return min((step + 1) / WARMUP_STEPS, cosine)


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


def _open(
    settings: PretrainingSettings, path: Path, device: torch.device, initial_weights: Path | None
) -> TrainingState:
    if not path.exists():
        return TrainingState.start(settings, device, initial_weights)
    state = TrainingState.load(path, device)
    for field in fields(settings):
        before, now = getattr(state.settings, field.name), getattr(settings, field.name)
        if before != now:
            raise SettingError(
                f"{path.parent} was started with {field.name} {before}, got {now}. Continue with "
                "the same settings, or start in another folder."
            )
    return state


class TrainingTasks:
    """The tables of every update, which follow from the seed and the number of the update."""

    def __init__(self, settings: PretrainingSettings, device: torch.device) -> None:
        self._settings, self._device = settings, device
        self._number = -1
        self._drawn: list[Task] = []

    def of_update(self, step: int) -> Task:
        """Return the tables of an update; those of the next ones are drawn with it."""
        number, part = divmod(step, UPDATES_PER_DRAW)
        if number != self._number:
            seed = (self._settings.seed, TRAINING_TABLES, number)
            self._drawn = draw_tasks(self._settings, RandomSource(seed, self._device))
            self._number = number
        return self._drawn[part]


def _update(state: TrainingState, tasks: TrainingTasks) -> Tensor:
    """Make one update; one whose gradient is not finite leaves the weights as they are."""
    settings = state.settings
    loss = task_loss(state.network, tasks.of_update(state.step))
    peaks = (settings.matrix_learning_rate, settings.learning_rate)
    for optimiser, peak in zip(state.optimisers, peaks, strict=True):
        for group in optimiser.param_groups:
            group["lr"] = peak * rate_factor(settings, state.step)
    torch.autograd.backward(loss)
    norm = nn.utils.clip_grad_norm_(state.network.parameters(), MAX_GRADIENT_NORM)
    state.step += 1
    if state.step < settings.n_steps:
        tasks.of_update(state.step)  # drawn while a GPU still computes gradients
    is_finite = bool(norm.isfinite())
    for optimiser in state.optimisers:
        if is_finite:
            optimiser.step()
        optimiser.zero_grad()
    state.update_average()
    return loss.detach()


def _validate(
    network: InContextNetwork, tasks: list[Task], step: int, seconds: float, training_loss: float
) -> Validation:
    losses, aucs, aps = [], [], []
    for task in tasks:
        with torch.no_grad():
            log_odds = _predict(network, task)
            losses.append(float(_weighted_cross_entropy(log_odds, task)))
        outside = (part[:, task.n_context :].cpu().numpy() for part in (log_odds, task.is_outlier))
        for predicted, truth in zip(*outside, strict=True):
            if truth.any() and not truth.all():
                aucs.append(roc_auc_score(truth, predicted))
                aps.append(average_precision_score(truth, predicted))
    figures = (float(np.mean(values)) for values in (losses, aucs, aps))
    return Validation(step, seconds, training_loss, *figures)


def _store(state: TrainingState, found: Validation, folder: Path) -> None:
    """Write the weights if they are the best, then the checkpoint and the log."""
    finite = [known.loss for known in state.validations if math.isfinite(known.loss)]
    if found.loss < min(finite, default=math.inf):
        weights = {name: value.half() for name, value in state.average.state_dict().items()}
        metadata = {
            "settings": json.dumps(asdict(state.settings)),
            "validation": json.dumps(asdict(found)),
        }
        write_tensors(weights, folder / "weights.safetensors", metadata)
    state.validations.append(found)
    state.save(folder / "checkpoint.safetensors")
    with (folder / "log.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Validation)])
        writer.writeheader()
        writer.writerows(asdict(known) for known in state.validations)
