"""Detectors whose score is the per-row loss of a generative model."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import median_abs_deviation
from torch import Tensor

from imboost.arrays import Floats, Mask
from imboost.detectors.base import COUNT, NOT_NEGATIVE, column_medians
from imboost.detectors.deep.network import NetworkDetector
from imboost.errors import SettingError, UnknownNameError
from imboost.explain import Attributions, reference_rows
from imboost.labels import Labels
from imboost.models import (
    BACKBONES,
    JOINT,
    CellBackbone,
    check_decoder_batch_norm,
    concatenate_members,
)
from imboost.tables.layout import Layout
from imboost.training.cell_losses import cell_losses, conditional_means
from imboost.training.loop import make_optimiser
from imboost.training.scaled_rows import ScaledRows
from imboost.training.scoring import mean_losses


@dataclass(kw_only=True, eq=False, repr=False)
class GenerativeDetector(NetworkDetector):
    """Base class of detectors whose score is the loss of a generative model.

    Missing values have no influence on the loss.
    """

    allow_nan = True

    backbone: str = "vae"
    n_samples: int = field(default=2, metadata=COUNT)
    n_score_samples: int = field(default=16, metadata=COUNT)
    logvar_weight: float = field(default=1.0, metadata=NOT_NEGATIVE)
    decoder_batch_norm: str = JOINT

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.backbone not in BACKBONES:
            raise UnknownNameError("backbone", str(self.backbone), BACKBONES)
        check_decoder_batch_norm(self.decoder_batch_norm)

    def _start(self, X: NDArray[Any]) -> ScaledRows:
        """Create model, optimiser and scoring noise; return the training rows."""
        rows = self._prepare(X)
        self._fill_values = _column_means(rows)
        generator = torch.Generator().manual_seed(self._seed)
        self._model = self._new_model(generator, self.n_members).to(self._device)
        self._optimiser = make_optimiser(self._model, self.learning_rate, self.weight_decay)
        # Members have independent noise and are averaged, so the samples are divided among them.
        per_member = math.ceil(self.n_score_samples / self.n_members)
        self._noise = self._model.draw_noise(1, generator, per_member)
        return rows

    def _new_model(self, generator: torch.Generator, n_members: int) -> Any:
        return BACKBONES[self.backbone](
            self.n_features_in_,
            generator,
            n_members=n_members,
            n_samples=self.n_samples,
            logvar_weight=self.logvar_weight,
            layout=self._layout,
            fill_values=self._fill_values,
            decoder_batch_norm=self.decoder_batch_norm,
        )

    def _snapshot(self) -> dict[str, Tensor]:
        """Return a copy of the model's state."""
        return {name: value.clone() for name, value in self._model.state_dict().items()}

    def _freeze(self, snapshots: list[dict[str, Tensor]] | None = None) -> None:
        """Set the scoring model: the current one, or an ensemble of snapshots.

        It computes in double precision and rounds scores to single precision, because the last
        digits depend on the batch that a row is in.
        """
        if snapshots is None:
            scorer = copy.deepcopy(self._model)
        else:
            scorer = self._new_model(torch.Generator(), self.n_members * len(snapshots))
            scorer.load_state_dict(concatenate_members(snapshots))
            self._noise = self._noise.repeat(len(snapshots), 1, 1, 1)
        self._scorer = scorer.to(self._device).double().requires_grad_(False)

    def _score_rows(self, X: NDArray[Any]) -> Floats:
        losses = mean_losses(self._scorer, self._rows(X), self._noise, torch.float64)
        return np.asarray(losses.cpu().double().numpy())

    def attribute(self, X: Any) -> Attributions:
        """Return the contribution of each column to the scores; `expected` is in units of `X`.

        A column contributes the loss of its cell (see `cell_losses`) in excess of the median loss
        among reference rows, the training rows not predicted outliers. Tolerances are 3 standard
        deviations of that excess. The residual is the term of the latent code.
        """
        table = self._check_table(X)
        if not isinstance(self._scorer, CellBackbone):
            raise SettingError(
                f"{type(self).__name__} with the backbone {self.backbone!r} cannot explain its "
                "scores; use the backbone 'vae'."
            )
        contributions = self._contributions(self._feature_losses(table))
        sources = self._features.source_of_columns()
        expected = conditional_means(self._scorer, self._rows(table), self._noise, sources)
        return Attributions(
            baseline=self._baseline,
            residual=self._score_rows(table) - self._baseline - contributions.sum(axis=1),
            contributions=contributions,
            tolerances=self._tolerances,
            expected=self._scaling.inverse_transform(expected),
            is_exact=True,
        )

    def _set_scores(
        self, X: NDArray[Any], labels: Labels, is_audit: Mask | None, weights: Floats | None
    ) -> None:
        super()._set_scores(X, labels, is_audit, weights)
        if isinstance(self._scorer, CellBackbone):
            self._fit_reference_losses(X)

    def _fit_reference_losses(self, X: NDArray[Any], max_rows: int = 1000) -> None:
        """Compute the typical cell losses, contributions and score of reference rows."""
        rows = np.flatnonzero(reference_rows(self.decision_scores_, self.threshold_))
        rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), max_rows)).astype(np.int64)]
        losses = self._feature_losses(X[rows])
        self._reference_losses = column_medians(losses)
        contributions = self._contributions(losses)
        self._tolerances = 3 * median_abs_deviation(contributions, axis=0, scale="normal")
        scores = self.decision_scores_[rows] - contributions.sum(axis=1)
        self._baseline = float(np.median(scores))

    def _feature_losses(self, X: NDArray[Any]) -> Floats:
        """Return the losses of the features of the layout, (rows, features); nan if missing."""
        losses = cell_losses(self._scorer, self._rows(X), self._noise)
        starts = [feature.start for feature in self._features.features]
        return np.where(np.isnan(X[:, starts]), np.nan, np.add.reduceat(losses, starts, axis=1))

    def _contributions(self, losses: Floats) -> Floats:
        """Return the loss of each input column minus its median loss in reference rows.

        The shape is (rows, input columns).
        """
        layout = self._features
        sources = layout.source_of_columns()[[feature.start for feature in layout.features]]
        contributions = np.zeros((len(layout.sources), len(losses)))
        np.add.at(contributions, sources, np.nan_to_num(losses - self._reference_losses).T)
        return contributions.T

    @property
    def _features(self) -> Layout:
        names = [str(number) for number in range(self.n_features_in_)]
        return self._layout or Layout.of_numbers(names)


def _column_means(rows: ScaledRows) -> Tensor:
    """Return the mean of every column, ignoring missing values: (features,)."""
    total, count = torch.zeros(1), torch.zeros(1)
    for _, x in rows.chunks(1, torch.float64):
        total = total.to(x) + x.nansum(dim=1)
        count = count.to(x) + (~x.isnan()).sum(dim=1)
    return (total / count.clamp(min=1)).cpu()
