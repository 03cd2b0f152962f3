"""ODIM: early stopping where the losses of inliers and outliers are best separated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from imboost.arrays import Floats
from imboost.detectors.base import COUNT
from imboost.detectors.deep.generative import GenerativeDetector
from imboost.labels import Labels
from imboost.stats.mixture import fit_two_gaussians
from imboost.training.loop import Schedule, train
from imboost.training.scoring import member_losses
from imboost.training.warmup import plain_steps

MIN_CHECK_EVERY = 5  # updates; a check costs as much as dozens of updates on a small table
MAX_CHECK_ROWS = 10_000  # rows, drawn at random, on which a check computes the losses


@dataclass(kw_only=True, eq=False, repr=False)
class ODIM(GenerativeDetector):
    """Unsupervised detection by the likelihood of under-fitted generative models.

    Every few updates a mixture of two Gaussians is fitted to the losses of the rows: the further
    apart its components, the stronger the inlier memorization. Each member keeps the
    parameters with the best separation, and the score is the mean of the members' losses.
    Labels are ignored.

    Parameters
    ----------
    check_every : int
        Updates between two checks of the losses; fewer on tables of few batches.
    patience : int
        Updates without a better separation after which a member stops; training ends when all
        have stopped.
    max_updates : int
        Maximum number of updates.
    backbone, n_members, n_samples, n_score_samples, logvar_weight, decoder_batch_norm, \
    learning_rate, weight_decay, \
    batch_size, contamination, random_state, device, verbose
        As in `IMBoost`.

    Attributes
    ----------
    decision_scores_, query_scores_, labels_, threshold_, n_features_in_, feature_names_in_
        As in `IMBoost`; `query_scores_` is `decision_scores_`.

    References
    ----------
    Kim et al., "ODIM: Outlier Detection via Likelihood of Under-Fitted Generative Models",
    ICML 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from imboost import ODIM
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[0] += 9
    >>> int(ODIM(n_members=3, random_state=0).fit(rows).decision_scores_.argmax())
    0
    """

    n_members: int = field(default=10, metadata=COUNT)
    check_every: int = field(default=10, metadata=COUNT)
    patience: int = field(default=100, metadata=COUNT)
    max_updates: int = field(default=2000, metadata=COUNT)

    def _fit(self, X: NDArray[Any], labels: Labels) -> None:
        rows = self._start(X)
        rng, generator = self._random_sources(stage=0)
        checked = X
        if len(X) > MAX_CHECK_ROWS:
            checked = X[np.sort(rng.choice(len(X), MAX_CHECK_ROWS, replace=False))]
        checked_rows = self._rows(checked)
        n_batches = max(MIN_CHECK_EVERY, len(X) // self.batch_size)
        check_every = min(self.check_every, n_batches, self.max_updates)
        # Here an "epoch" is the updates between two checks.
        schedule = Schedule(batch_size=self.batch_size, updates_per_epoch=check_every)
        n_checks = self.max_updates // check_every
        steps = plain_steps(schedule, n_checks, len(rows), rng)

        best_distance = np.full(self.n_members, -np.inf)
        best_check = np.zeros(self.n_members, dtype=np.int64)
        best_state = self._snapshot()
        for step in train(self._model, self._optimiser, rows, steps, generator):
            if not step.ends_epoch:
                continue
            losses = torch.cat(list(member_losses(self._model, checked_rows, self._noise)), dim=1)
            members = losses.double().cpu().numpy()  # (members, rows)
            distance = np.array([_separation(member, rng) for member in members])
            waiting = (step.epoch - best_check) * check_every <= self.patience
            better = waiting & (distance > best_distance)
            best_distance[better] = distance[better]
            best_check[better] = step.epoch
            for name, values in self._model.state_dict().items():
                index = torch.from_numpy(better).to(values.device)
                best_state[name][index] = values[index]
            if not waiting.any():
                break
        self._report(f"kept updates {sorted(((best_check + 1) * check_every).tolist())}")
        self._freeze([best_state])


def _separation(losses: Floats, rng: np.random.Generator) -> float:
    """Sum of the squared differences of means and of variances of min-max scaled losses."""
    spread = np.ptp(losses)
    if spread == 0:
        return 0.0
    mixture = fit_two_gaussians((losses - losses.min()) / spread, rng)
    if mixture is None:
        return 0.0
    return float(np.diff(mixture.means)[0] ** 2 + np.diff(mixture.variances)[0] ** 2)
