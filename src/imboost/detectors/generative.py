"""Detectors whose score is the per-row loss of a generative model."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imboost.detectors.network import NetworkDetector
from imboost.errors import UnknownNameError
from imboost.models import BACKBONES, stack_states
from imboost.training.loop import make_optimiser
from imboost.training.rows import Rows
from imboost.training.scoring import mean_losses, scoring_noise
from imboost.validation import check_number


class GenerativeDetector(NetworkDetector):
    """Model, optimiser and scoring of a loss-based detector.

    The likelihood leaves missing numbers out.
    """

    takes_gaps = True

    def __init__(
        self,
        *,
        backbone: str,
        n_members: int,
        n_samples: int,
        n_score_samples: int,
        logvar_weight: float,
        learning_rate: float,
        weight_decay: float,
        batch_size: int,
        contamination: float,
        random_state: int | np.random.RandomState | None,
        device: str,
        verbose: bool,
    ) -> None:
        super().__init__(
            n_members=n_members,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            batch_size=batch_size,
            contamination=contamination,
            random_state=random_state,
            device=device,
            verbose=verbose,
        )
        self.backbone = backbone
        self.n_samples = n_samples
        self.n_score_samples = n_score_samples
        self.logvar_weight = logvar_weight

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.backbone not in BACKBONES:
            raise UnknownNameError("backbone", str(self.backbone), BACKBONES)
        check_number("n_samples", self.n_samples, minimum=1, whole=True)
        check_number("n_score_samples", self.n_score_samples, minimum=1, whole=True)
        check_number("logvar_weight", self.logvar_weight, minimum=0.0)

    def _start(self, X: NDArray[Any]) -> Rows:
        """Make model, optimiser and scoring noise; return the training rows."""
        rows = self._prepare(X)
        self._usual = _column_means(rows)
        generator = torch.Generator().manual_seed(self._seed)
        self._model = self._new_model(generator, self.n_members).to(self._device)
        self._optimiser = make_optimiser(self._model, self.learning_rate, self.weight_decay)
        # Members draw their own noise and are averaged, so they share the samples out.
        per_member = math.ceil(self.n_score_samples / self.n_members)
        self._noise = scoring_noise(self._model, generator, per_member)
        return rows

    def _new_model(self, generator: torch.Generator, n_members: int) -> Any:
        return BACKBONES[self.backbone](
            self.n_features_in_,
            generator,
            n_members=n_members,
            n_samples=self.n_samples,
            logvar_weight=self.logvar_weight,
            layout=self._layout,
            usual=self._usual,
        )

    def _snapshot(self) -> dict[str, Tensor]:
        """Return a copy of the model's present state."""
        return {name: value.clone() for name, value in self._model.state_dict().items()}

    def _freeze(self, snapshots: list[dict[str, Tensor]] | None = None) -> None:
        """Make the scoring model: the present one, or an ensemble of snapshots of it.

        It computes in double precision and its scores are rounded to single: the last digits
        depend on how a row is batched with others, and are rounded away.
        """
        if snapshots is None:
            scorer = copy.deepcopy(self._model)
        else:
            scorer = self._new_model(torch.Generator(), self.n_members * len(snapshots))
            scorer.load_state_dict(stack_states(snapshots))
            self._noise = self._noise.repeat(len(snapshots), 1, 1, 1)
        self._scorer = scorer.to(self._device).double().requires_grad_(False)

    def _score(self, X: NDArray[Any]) -> NDArray[np.float64]:
        losses = mean_losses(self._scorer, self._rows(X), self._noise, torch.float64)
        return losses.astype(np.float64)


def _column_means(rows: Rows) -> Tensor:
    """Return the mean of the known numbers of every column, (features,); 0 without any."""
    total, count = torch.zeros(1), torch.zeros(1)
    for _, x in rows.chunks(1, torch.float64):
        total = total.to(x) + x.nansum(dim=1)
        count = count.to(x) + (~x.isnan()).sum(dim=1)
    return (total / count.clamp(min=1)).cpu()
