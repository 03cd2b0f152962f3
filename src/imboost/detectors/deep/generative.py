"""Detectors whose score is the per-row loss of a generative model."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imboost.detectors.base import Mask, column_medians
from imboost.detectors.deep.network import NetworkDetector
from imboost.detectors.stack.conditional import TO_DEVIATION
from imboost.errors import SettingError, UnknownNameError
from imboost.explain import Attributions, reference_rows
from imboost.labels import Labels
from imboost.models import BACKBONES, CellBackbone, stack_states
from imboost.tables.layout import Layout
from imboost.training.cells import cell_losses, expected_cells
from imboost.training.loop import make_optimiser
from imboost.training.rows import Rows
from imboost.training.scoring import mean_losses, scoring_noise
from imboost.validation import check_number

N_USUAL_ROWS = 1000
"""Rows by which it is learned, at most, what a usual cell adds to a score."""

MARGIN = 3.0
"""Standard deviations that what a cell adds may differ from usual without being a reason."""


@dataclass(kw_only=True, eq=False, repr=False)
class GenerativeDetector(NetworkDetector):
    """Model, optimiser and scoring of a loss-based detector.

    The likelihood leaves missing numbers out.
    """

    allow_nan = True

    backbone: str = "vae"
    n_samples: int = 2
    n_score_samples: int = 16
    logvar_weight: float = 1.0

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
        self._optimiser = make_optimiser(self._model, self._learning_rate, self.weight_decay)
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

    def _score_rows(self, X: NDArray[Any]) -> NDArray[np.float64]:
        losses = mean_losses(self._scorer, self._rows(X), self._noise, torch.float64)
        return losses.astype(np.float64)

    def attribute(self, X: Any) -> Attributions:
        """Say what each column adds to the scores of rows; `expected` is in units of `X`.

        A column adds the loss of its cell (see `imboost.training.cells.cell_losses`), less what
        it is in the median of reference rows, the training rows not called outliers. Margins are
        `MARGIN` standard deviations of that. The rest of a score is what the row's code adds,
        and that missing numbers are left out.
        """
        table = self._check_table(X)
        if not isinstance(self._scorer, CellBackbone):
            raise SettingError(
                f"{type(self).__name__} with the backbone {self.backbone!r} cannot explain its "
                "scores; use the backbone 'vae'."
            )
        shares = self._shares(self._feature_losses(table))
        owners = self._features.source_of_columns()
        expected = expected_cells(self._scorer, self._rows(table), self._noise, owners)
        return Attributions(
            baseline=self._usual_score,
            residual=self._score_rows(table) - self._usual_score - shares.sum(axis=1),
            contributions=shares,
            tolerances=self._usual_margins,
            expected=self._scaling.inverse_transform(expected),
            is_exact=True,
        )

    def _set_scores(self, X: NDArray[Any], labels: Labels, is_audit: Mask | None) -> None:
        super()._set_scores(X, labels, is_audit)
        if isinstance(self._scorer, CellBackbone):
            self._learn_usual_losses(X)

    def _learn_usual_losses(self, X: NDArray[Any]) -> None:
        """Learn what cells add to the scores of reference rows."""
        usual = np.flatnonzero(reference_rows(self.decision_scores_, self.threshold_))
        kept = np.linspace(0, len(usual) - 1, min(len(usual), N_USUAL_ROWS))
        usual = usual[kept.astype(np.int64)]
        losses = self._feature_losses(X[usual])
        self._usual_losses = column_medians(losses)
        shares = self._shares(losses)
        deviations = TO_DEVIATION * np.median(np.abs(shares - np.median(shares, axis=0)), axis=0)
        self._usual_margins = MARGIN * deviations
        self._usual_score = float(np.median(self.decision_scores_[usual] - shares.sum(axis=1)))

    def _feature_losses(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return what the features of the layout add to losses; nan for missing numbers."""
        losses = cell_losses(self._scorer, self._rows(X), self._noise)
        starts = [feature.start for feature in self._features.features]
        return np.where(np.isnan(X[:, starts]), np.nan, np.add.reduceat(losses, starts, axis=1))

    def _shares(self, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much the losses of sources exceed usual ones, (rows, sources)."""
        layout = self._features
        owners = layout.source_of_columns()[[feature.start for feature in layout.features]]
        excess = losses - self._usual_losses
        shares = np.zeros((len(layout.sources), len(losses)))
        np.add.at(shares, owners, np.where(np.isnan(excess), 0.0, excess).T)
        return shares.T

    @property
    def _features(self) -> Layout:
        names = [str(number) for number in range(self.n_features_in_)]
        return self._layout or Layout.of_numbers(names)


def _column_means(rows: Rows) -> Tensor:
    """Return the mean of the known numbers of every column, (features,); 0 without any."""
    total, count = torch.zeros(1), torch.zeros(1)
    for _, x in rows.chunks(1, torch.float64):
        total = total.to(x) + x.nansum(dim=1)
        count = count.to(x) + (~x.isnan()).sum(dim=1)
    return (total / count.clamp(min=1)).cpu()
