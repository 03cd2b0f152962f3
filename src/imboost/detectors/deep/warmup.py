"""Base class of detectors that train with the warm-up of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor

from imboost.detectors.base import COUNT, COUNT_OR_ZERO, FRACTION, TWO_OR_MORE
from imboost.detectors.deep.generative import GenerativeDetector
from imboost.errors import SettingError
from imboost.models.backbone import Backbone
from imboost.training.batches import Schedule
from imboost.training.loop import Step
from imboost.training.scaled_rows import ScaledRows
from imboost.training.warmup import trimmed_risk, warmup_steps


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
        return Schedule(
            batch_size=self.batch_size,
            batch_growth=self.batch_growth,
            max_batch_size=self.max_batch_size,
            plain_epochs=self.plain_epochs,
            trimmed_epochs=self.trimmed_epochs,
            updates_per_epoch=self.updates_per_epoch,
        )

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
