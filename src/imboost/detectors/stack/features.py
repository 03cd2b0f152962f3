"""The features of every base learner."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from imboost.detectors.stack.pca import PrincipalComponents
from imboost.detectors.stack.unsupervised import ScoredRows
from imboost.stats.ranks import RankTransform
from imboost.stats.scaling import MAX_STANDARD_SCALED, StandardScaling

Floats = NDArray[np.float64]

MAX_LINEAR_SCORE = 5.0  # standard deviations to which scores are clipped for the linear model


@dataclass(frozen=True, eq=False)
class Features:
    """Features of rows, one array of shape (n_rows, n_features) for each base learner."""

    scores: Floats
    """Standardised unsupervised scores."""
    random_forest: Floats
    """All columns, unsupervised scores, local outlier factor and, with categories, cell scores."""
    extra_trees: Floats
    """The same with principal components, but without missing-value indicators: trees that split
    at random cannot ignore uninformative columns."""
    linear: Floats
    """Standardised principal components and unsupervised scores."""
    gaussian_process: Floats
    """Normal scores of the columns: quantiles of their ranks."""

    def __getitem__(self, rows: NDArray[np.bool_]) -> Features:
        return Features(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class FeatureExtractor:
    """Computes the features of the base learners from scored rows.

    Parameters
    ----------
    score_names : list of str
        The unsupervised scores in use.
    columns : array of int
        The columns that are not missing-value indicators.
    scaling, component_scaling, score_scaling : StandardScaling
        Scaling of these columns, of their principal components and of the unsupervised scores.
    pca : PrincipalComponents
        Components of the standardised columns.
    ranks : RankTransform
        Ranks of the values of the columns.
    """

    score_names: list[str]
    columns: NDArray[np.int64]
    scaling: StandardScaling
    pca: PrincipalComponents
    component_scaling: StandardScaling
    score_scaling: StandardScaling
    ranks: RankTransform

    @classmethod
    def fit(
        cls,
        rows: ScoredRows,
        score_names: list[str],
        columns: NDArray[np.int64],
        n_components: int,
    ) -> FeatureExtractor:
        """Fit scalings, components and ranks to the training rows."""
        content = rows.X[:, columns]
        scaling = StandardScaling.fit(content)
        scaled = scaling.transform(content)
        pca = PrincipalComponents.fit(scaled, min(n_components, *scaled.shape))
        return cls(
            score_names,
            columns,
            scaling,
            pca,
            StandardScaling.fit(pca.transform(scaled)),
            StandardScaling.fit(_stack_scores(rows, score_names), _score_limits(score_names)),
            RankTransform.fit(content),
        )

    def transform(self, rows: ScoredRows) -> Features:
        """Return the features of rows."""
        content = rows.X[:, self.columns]
        raw_scores = _stack_scores(rows, self.score_names)
        scores = self.score_scaling.transform(raw_scores)
        components = self.component_scaling.transform(
            self.pca.transform(self.scaling.transform(content))
        )
        unsupervised = [raw_scores, rows.lof[:, None]]
        if "cells" in self.score_names:
            unsupervised.append(rows.cells)
        clipped = np.clip(scores, -MAX_LINEAR_SCORE, MAX_LINEAR_SCORE)
        return Features(
            scores=scores,
            random_forest=np.hstack([rows.X, *unsupervised]),
            extra_trees=np.hstack([content, *unsupervised, components]),
            linear=np.hstack([components, clipped]),
            gaussian_process=ndtri(self.ranks.transform(content)),
        )


def _score_limits(names: list[str]) -> Floats:
    """Return where standardised scores are clipped: that of the cells has no upper limit."""
    return np.where([name == "cells" for name in names], np.inf, MAX_STANDARD_SCALED)


def _stack_scores(rows: ScoredRows, names: list[str]) -> Floats:
    return np.column_stack([rows.scores[name] for name in names])
