"""Preprocessing of a run's table: removed cells, imputation and the scaling of numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from imboost.errors import UnknownNameError
from imboost.tables.number_scaling import SCALINGS
from imboost.validation import check_number
from imboost_bench.datasets.splits import Split

IMPUTATIONS = ("none", "mean")


@dataclass(frozen=True)
class Preprocessing:
    """Preprocessing of the table before a run; none by default.

    Parameters
    ----------
    scaling : str, optional
        Wrap the detector in a `TableDetector` with this scaling of numbers. Without it, and
        without missing values, detectors scale numbers themselves, as in the paper.
    missing : float
        Fraction of the cells removed at random.
    imputation : {"none", "mean"}
        Whether removed cells stay missing or become the training mean of their column.
    """

    scaling: str | None = None
    missing: float = 0.0
    imputation: str = "none"

    def __post_init__(self) -> None:
        if self.scaling is not None and self.scaling not in SCALINGS:
            raise UnknownNameError("scaling", self.scaling, SCALINGS)
        if self.imputation not in IMPUTATIONS:
            raise UnknownNameError("imputation", self.imputation, IMPUTATIONS)
        check_number("missing", self.missing, minimum=0.0, maximum=0.9)

    def remove_cells(self, split: Split, seed: int) -> Split:
        """Return the split with cells removed at random, and imputed if so set."""
        if self.missing == 0:
            return split
        rng = np.random.default_rng(seed)
        train, test = (
            np.where(rng.random(table.shape) < self.missing, np.nan, table)
            for table in (split.train_X, split.test_X)
        )
        if self.imputation == "mean":
            n_known = (~np.isnan(train)).sum(axis=0)
            means = np.nansum(train, axis=0) / np.maximum(n_known, 1)
            train, test = (np.where(np.isnan(table), means, table) for table in (train, test))
        return replace(split, train_X=train, test_X=test)

    def wrap(self, detector: Any, n_columns: int) -> Any:
        """Return the detector, inside a `TableDetector` if the settings need one."""
        if self.scaling is None and self.missing == 0:
            return detector
        from imboost.detectors.table_detector import TableDetector

        return TableDetector(
            detector,
            scaling=self.scaling or "robust",
            roles={str(number): "numeric" for number in range(n_columns)},
            contamination=None,
            random_state=detector.random_state,
        )
