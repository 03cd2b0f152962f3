"""Tables as users have them: numbers scaled in some way, and cells that are missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.datasets.split import Split
from imboost.errors import UnknownNameError
from imboost.tables.number_scaling import SCALINGS
from imboost.validation import check_number

FILLINGS = ("none", "mean")


@dataclass(frozen=True)
class Preparation:
    """What is done to the table of a run; nothing at all without a setting.

    Parameters
    ----------
    scaling : str, optional
        Let `TableDetector` look at the table, with this scaling of numbers. The paper's own
        scaling, which networks and trees do themselves, if not given and nothing is missing.
    missing : float
        Share of the cells that are taken away, at random.
    filling : {"none", "mean"}
        What stands in their place: nothing, or the mean of the column in the training rows.
    """

    scaling: str | None = None
    missing: float = 0.0
    filling: str = "none"

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.scaling is not None and self.scaling not in SCALINGS:
            raise UnknownNameError("scaling", self.scaling, SCALINGS)
        if self.filling not in FILLINGS:
            raise UnknownNameError("filling", self.filling, FILLINGS)
        check_number("missing", self.missing, minimum=0.0, maximum=0.9)

    def take_cells(self, split: Split, seed: int) -> Split:
        """Return the tables with cells missing, or filled."""
        if self.missing == 0:
            return split
        rng = np.random.default_rng(seed)
        train, test = (
            np.where(rng.random(table.shape) < self.missing, np.nan, table)
            for table in (split.train_X, split.test_X)
        )
        if self.filling == "mean":
            means = _column_means(train)
            train, test = (np.where(np.isnan(table), means, table) for table in (train, test))
        return replace(split, train_X=train, test_X=test)

    def wrap(self, detector: Any, n_columns: int) -> Any:
        """Return the detector, or a `TableDetector` around it where it should prepare tables."""
        if self.scaling is None and self.missing == 0:
            return detector
        from imboost.detectors.table_detector import TableDetector

        return TableDetector(
            detector,
            scaling=self.scaling or "robust",
            roles={str(number): "numeric" for number in range(n_columns)},
            contamination=None,
        )


def _column_means(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the known cells of every column; 0 where there are none."""
    known = ~np.isnan(table)
    return np.asarray(np.nansum(table, axis=0) / np.maximum(known.sum(axis=0), 1))
