"""Base classes of detectors that train a network, or a generative model by the warm-up."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import median_abs_deviation
from torch import Tensor

from imboost.arrays import Floats, Mask
from imboost.detectors.base import (
    COUNT,
    COUNT_OR_ZERO,
    FRACTION,
    NOT_NEGATIVE,
    POSITIVE,
    TWO_OR_MORE,
    BaseDetector,
    column_medians,
    resolve_device,
)
from imboost.errors import SettingError, UnknownNameError
from imboost.explain import Attributions, reference_rows
from imboost.labels import Labels
from imboost.models import BACKBONES, MLPVAE, Backbone
from imboost.stats.scaling import MinMaxScaling
from imboost.tables.layout import Layout
from imboost.training.loop import Schedule, Step, make_optimiser
from imboost.training.scaled_rows import ScaledRows
from imboost.training.scoring import cell_losses, conditional_means, mean_losses
from imboost.training.warmup import trimmed_risk, warmup_steps

DECODER_BATCH_NORMS = ("joint", "per-sample")


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkDetector(BaseDetector):
    """Base class of detectors that train a network: scaling, device and random generators."""

    unsaved_attributes = ("_model", "_optimiser")

    n_members: int = field(default=1, metadata=COUNT)
    learning_rate: float = field(default=1e-3, metadata=POSITIVE)
    weight_decay: float = field(default=5e-7, metadata=NOT_NEGATIVE)
    batch_size: int = field(default=128, metadata=TWO_OR_MORE)

    def _prepare(self, X: NDArray[Any]) -> ScaledRows:
        """Choose the device, fit the scaling and return the training rows."""
        self._device = resolve_device(self.device)
        self._scaling = MinMaxScaling.fit(X)
        return self._rows(X)

    def _rows(self, X: NDArray[Any]) -> ScaledRows:
        return ScaledRows(X, self._scaling, self._device)

    def _random_sources(self, stage: int) -> tuple[np.random.Generator, torch.Generator]:
        """Return random generators of batches and noise for one stage of training.

        They depend only on the seed and the stage, so that training can resume without a saved
        generator state. Noise is always drawn on the CPU: the same seed then trains the same
        model on every device.
        """
        rng = np.random.default_rng([self._seed, stage])
        return rng, torch.Generator().manual_seed(int(rng.integers(2**63)))


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
    decoder_batch_norm: str = "joint"

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.backbone not in BACKBONES:
            raise UnknownNameError("backbone", str(self.backbone), BACKBONES)
        if self.decoder_batch_norm not in DECODER_BATCH_NORMS:
            name = str(self.decoder_batch_norm)
            raise UnknownNameError("decoder_batch_norm", name, DECODER_BATCH_NORMS)

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

    def _new_model(self, generator: torch.Generator, n_members: int) -> Backbone:
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
            joined = {key: torch.cat([one[key] for one in snapshots]) for key in snapshots[0]}
            scorer.load_state_dict(joined)  # members are the first dimension
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
        if not isinstance(self._scorer, MLPVAE):
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
        if isinstance(self._scorer, MLPVAE):
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
        model: Any = self._scorer  # an `MLPVAE`
        losses = cell_losses(model, self._rows(X), self._noise)
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


@dataclass(kw_only=True, eq=False, repr=False)
class WarmupDetector(GenerativeDetector):
    """Trains on the plain risk, then on the trimmed risk with growing batches (eq. 1 and 2)."""

    batch_growth: float = field(default=1.03, metadata={"minimum": 1.0})
    max_batch_size: int = field(default=20_000, metadata=TWO_OR_MORE)
    plain_epochs: int = field(default=10, metadata=COUNT_OR_ZERO)
    trimmed_epochs: int = field(default=40, metadata=COUNT_OR_ZERO)
    updates_per_epoch: int = field(default=5, metadata=COUNT)
    trim_quantile: float = field(default=0.92, metadata=FRACTION)

    def _check_settings(self) -> None:
        super()._check_settings()
        if self._schedule.warmup_epochs == 0:
            raise SettingError("plain_epochs and trimmed_epochs must not both be 0.")

    @property
    def _schedule(self) -> Schedule:
        return Schedule(**{one.name: getattr(self, one.name) for one in fields(Schedule)})

    def _warmup_steps(
        self, rows: ScaledRows, rng: np.random.Generator
    ) -> Iterator[Step[Backbone]]:
        schedule = self._schedule
        self._report(f"warm-up: {schedule.warmup_epochs} epochs on {len(rows)} rows")
        quantile = self.trim_quantile
        return warmup_steps(schedule, len(rows), rng, trim_quantile=quantile, trim=self._trim)

    def _trim(self, losses: Tensor, threshold: Tensor) -> Tensor:
        """Return the trimmed risk (eq. 2); overridden to record the kept rows."""
        return trimmed_risk(losses, threshold)


def _column_means(rows: ScaledRows) -> Tensor:
    """Return the mean of every column, ignoring missing values: (features,)."""
    total, count = torch.zeros(1), torch.zeros(1)
    for _, x in rows.chunks(1, torch.float64):
        total = total.to(x) + x.nansum(dim=1)
        count = count.to(x) + (~x.isnan()).sum(dim=1)
    return (total / count.clamp(min=1)).cpu()
