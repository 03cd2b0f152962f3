"""The features of every base learner."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Floats, Indices
from imboost.detectors.stack.pca import PrincipalComponents
from imboost.detectors.stack.unsupervised import ScoredRows
from imboost.stats.ranks import NormalScores
from imboost.stats.row_products import Singles
from imboost.stats.scaling import MAX_STANDARD_SCALED, StandardScaling

MAX_LINEAR_SCORE = 5.0  # standard deviations to which scores are clipped for the linear model
NETWORK_COLUMNS = 24  # maximum for the in-context network, as in its training
NETWORK_COMPONENTS = 10  # principal components among them in wider tables
MIN_SCORE = 1e-6  # so that the logarithms of scores are finite


@dataclass(frozen=True, eq=False)
class FeatureExtractor:
    """Computes the features of the base learners from scored rows: a method for each learner.

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
    normal_scores : NormalScores
        Normal scores of the values of the columns.
    network_columns : array of int
        The columns that the in-context network sees, in this order.
    """

    score_names: list[str]
    columns: Indices
    scaling: StandardScaling
    pca: PrincipalComponents
    component_scaling: StandardScaling
    score_scaling: StandardScaling
    normal_scores: NormalScores
    network_columns: Indices

    @classmethod
    def fit(
        cls,
        rows: ScoredRows,
        score_names: list[str],
        columns: Indices,
        n_components: int,
    ) -> FeatureExtractor:
        """Fit scalings, components and ranks to training rows."""
        content = rows.X.take(columns, axis=1)
        scaling = StandardScaling.fit(content)
        scaled = scaling.transform(content)
        pca = PrincipalComponents.fit(scaled, min(n_components, *scaled.shape))
        components = pca.transform(scaled.astype(np.float32))
        return cls(
            score_names,
            columns,
            scaling,
            pca,
            StandardScaling.fit(components),
            StandardScaling.fit(_stack_scores(rows, score_names), _score_limits(score_names)),
            NormalScores.fit(content.astype(np.float64)),
            columns[_select_columns(content)],
        )

    def scores(self, rows: ScoredRows) -> Floats:
        """Return the standardised unsupervised scores, of shape (n_rows, n_scores)."""
        return self.score_scaling.transform(_stack_scores(rows, self.score_names))

    def random_forest(self, rows: ScoredRows) -> Singles:
        """Return all columns, unsupervised scores and, with categories, cell scores."""
        return _join(rows.X, *self._unsupervised(rows))

    def extra_trees(self, rows: ScoredRows) -> Singles:
        """Return the same with principal components, but without missing-value indicators.

        Trees that split at random cannot ignore uninformative columns.
        """
        content = rows.X.take(self.columns, axis=1)
        return _join(content, *self._unsupervised(rows), self._components(rows))

    def linear(self, rows: ScoredRows) -> Singles:
        """Return standardised principal components and unsupervised scores."""
        clipped = np.clip(self.scores(rows), -MAX_LINEAR_SCORE, MAX_LINEAR_SCORE)
        return _join(self._components(rows), clipped)

    def gaussian_process(self, rows: ScoredRows) -> Singles:
        """Return normal scores of the columns: quantiles of their ranks."""
        return self.normal_scores.transform(rows.X.take(self.columns, axis=1))

    def in_context(self, rows: ScoredRows) -> Singles:
        """Return columns and logarithms of the unsupervised scores, in the order of `SCORES`.

        Of a wide table these are some columns, selected by a hash of their values, and principal
        components.
        """
        from imboost.models.in_context import SCORES

        scores = rows.scores | {"lof": rows.lof}
        logarithms = [np.log(scores[name] + MIN_SCORE)[:, None] for name in SCORES]
        shown = [rows.X.take(self.network_columns, axis=1)]
        if len(self.network_columns) < len(self.columns):
            shown.append(self._components(rows)[:, :NETWORK_COMPONENTS])
        return _join(*shown, *logarithms)

    def _unsupervised(self, rows: ScoredRows) -> list[Floats]:
        found = [_stack_scores(rows, self.score_names), rows.lof[:, None]]
        return [*found, rows.cells] if "cells" in self.score_names else found

    def _components(self, rows: ScoredRows) -> Floats:
        scaled = self.scaling.transform(rows.X.take(self.columns, axis=1)).astype(np.float32)
        return self.component_scaling.transform(self.pca.transform(scaled))


def _select_columns(content: NDArray[Any]) -> Indices:
    """Return the columns for the network, selected and ordered by a hash of their values.

    The network then sees the same numbers in the same order, whatever the order of the columns.
    """
    cells = np.ascontiguousarray(content.T)
    hashes = [hashlib.sha256(column.tobytes()).digest() for column in cells]
    order = np.array(sorted(range(len(hashes)), key=hashes.__getitem__))
    return order[: NETWORK_COLUMNS - NETWORK_COMPONENTS] if len(order) > NETWORK_COLUMNS else order


def _score_limits(names: list[str]) -> Floats:
    """Return where standardised scores are clipped: that of the cells has no upper limit."""
    return np.where([name == "cells" for name in names], np.inf, MAX_STANDARD_SCALED)


def _stack_scores(rows: ScoredRows, names: list[str]) -> Floats:
    return np.column_stack([rows.scores[name] for name in names])


def _join(*blocks: NDArray[Any]) -> Singles:
    return np.hstack([block.astype(np.float32) for block in blocks])
