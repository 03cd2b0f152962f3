"""Pine: an isolation forest that keeps the trees that agree with the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from imboost.detectors.shallow.coniferest_forest import ConiferestDetector
from imboost.validation import check_number


@dataclass(kw_only=True, eq=False, repr=False)
class Pine(ConiferestDetector):
    """coniferest's PineForest; needs the extra `peers`.

    In every round new trees are grown, and the trees that rank the labelled rows worst are
    discarded.

    Parameters
    ----------
    n_trees : int
        Number of trees kept.
    n_subsamples : int
        Rows drawn for each tree.
    n_spare_trees : int
        Additional trees that are grown and then discarded.
    contamination, random_state, device, verbose
        As in `IMBoost`.

    Attributes
    ----------
    decision_scores_, query_scores_, labels_, threshold_, n_features_in_, feature_names_in_
        As in `IMBoost`; `query_scores_` is `decision_scores_`.

    References
    ----------
    Korolev et al., "PineForest", in the package coniferest.

    Examples
    --------
    >>> import numpy as np
    >>> from imboost.detectors import Pine
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[0] += 9
    >>> int(Pine(random_state=0).fit(rows).decision_scores_.argmax())
    0
    """

    n_spare_trees: int = 400

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("n_spare_trees", self.n_spare_trees, minimum=0, whole=True)

    def _new_forest(self, n_subsamples: int) -> Any:
        from coniferest.pineforest import PineForest

        return PineForest(
            n_trees=self.n_trees,
            n_subsamples=n_subsamples,
            n_spare_trees=self.n_spare_trees,
            n_jobs=1,
            random_seed=self._seed,
        )
