"""AAD: an isolation forest whose leaf weights are fitted to labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.detectors.shallow.coniferest_forest import ConiferestDetector
from imboost.validation import check_number


@dataclass(kw_only=True, eq=False, repr=False)
class AAD(ConiferestDetector):
    """Active Anomaly Discovery with coniferest's AADForest; needs the extra `peers`.

    The weights of the leaves are fitted so that labelled outliers score above a quantile of the
    scores and labelled inliers below it.

    Parameters
    ----------
    n_trees : int
        Number of trees.
    n_subsamples : int
        Rows drawn for each tree.
    outlier_cost, inlier_cost : float
        C_a and C_n, costs of labelled rows on the wrong side of the quantile.
    prior_influence : float
        Strength of the regularisation towards the weights without labels.
    contamination, random_state, device, verbose
        As in `IMBoost`.

    Attributes
    ----------
    decision_scores_, query_scores_, labels_, threshold_, n_features_in_, feature_names_in_
        As in `IMBoost`; `query_scores_` is `decision_scores_`.

    References
    ----------
    Das et al., "Incorporating Feedback into Tree-based Anomaly Detection", KDD workshop
    IDEA 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from imboost.detectors import AAD
    >>> rows = np.random.default_rng(0).normal(size=(200, 3))
    >>> rows[0] += 9
    >>> int(AAD(random_state=0).fit(rows).decision_scores_.argmax())
    0
    """

    outlier_cost: float = 1.0
    inlier_cost: float = 1.0
    prior_influence: float = 0.0

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("outlier_cost", self.outlier_cost, minimum=0.0)
        check_number("inlier_cost", self.inlier_cost, minimum=0.0)
        check_number("prior_influence", self.prior_influence, minimum=0.0)

    def _new_forest(self, n_subsamples: int) -> Any:
        from coniferest.aadforest import AADForest

        return AADForest(
            n_trees=self.n_trees,
            n_subsamples=n_subsamples,
            C_a=self.outlier_cost,
            C_n=self.inlier_cost,
            prior_influence=partial(_same_influence, self.prior_influence),
            map_value=_negative_reciprocal,
            n_jobs=1,
            random_seed=self._seed,
        )


# Module-level functions, because coniferest's own defaults cannot be pickled.


def _same_influence(value: float, _n_outliers: int, _n_inliers: int) -> float:
    return value


def _negative_reciprocal(depth: NDArray[np.float64]) -> NDArray[np.float64]:
    return -np.reciprocal(depth)
