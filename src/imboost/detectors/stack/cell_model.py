"""Conditional model of every cell, given the other cells of its row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imboost.arrays import Floats, Indices
from imboost.detectors.base import column_medians
from imboost.detectors.stack.conditionals import (
    ForestConditional,
    Known,
    PCAConditional,
    predicted_features,
)
from imboost.detectors.stack.pca import CrossFittedPCA
from imboost.facts import WHOLE_ROW
from imboost.stats.row_products import Singles
from imboost.stats.tails import TailScore
from imboost.tables.layout import Kind, Layout

MAX_FOREST_FEATURES = 64  # with more, PCA replaces forests, which would take minutes
RULE_SCORE = 3.0  # added to the rarity of a broken rule; chosen on the tables of `bench cells`
REPEATED_SCORE = 1.5  # the same for repeated rows; lower, since one row of a pair is right
MIN_REPEATS = 8  # minimum number of rows with the same number for it to be common
MIN_REPEATED_FRACTION = 0.001  # minimum fraction of rows with the same number, likewise
SAME_VALUE = 1e-6  # smaller differences between scaled numbers are rounding errors


@dataclass(frozen=True, eq=False)
class CellModel:
    """Score every cell by how unlikely it is, given the other cells of its row.

    The score of a cell is the negative log of a tail probability: the fraction of the column's
    training cells that deviate as much from what the other cells predict. So the scores of all
    columns are comparable, and an extreme number has a score without upper limit. Rare is not
    wrong: a category scores at most its negative log-probability, and a number that occurs
    repeatedly at most the negative log of its frequency. Missing cells, and cells that break a
    rule, score by how rare they are in their column. Training rows are scored
    by models that were not fitted to them.

    Parameters
    ----------
    layout : Layout
    conditional : ForestConditional or PCAConditional
        The model that predicts the cells.
    medians : array of shape (n_columns,)
        Replace missing numbers in the inputs.
    missing_scores : array of shape (n_columns,)
        Scores of missing cells.
    rule_scores : array of shape (n_columns,)
        Scores of cells that break a rule.
    tails : list of TailScore
        Tail probabilities of the deviations, one for each feature.
    common_numbers, common_scores : list of array
        For each feature, the numbers that occur repeatedly in ascending order, and their scores.
    """

    layout: Layout
    conditional: ForestConditional | PCAConditional
    medians: Singles
    missing_scores: Floats
    rule_scores: Floats
    tails: list[TailScore]
    common_numbers: list[Floats]
    common_scores: list[Floats]

    @classmethod
    def fit(cls, X: Singles, layout: Layout, pca: CrossFittedPCA, seed: int) -> CellModel:
        """Fit to the training rows.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Encoded rows; missing numbers are nan.
        pca : CrossFittedPCA
            PCA of the columns of predicted features. It replaces forests in tables of many
            features.
        """
        missing = np.isnan(X)
        rule_scores = RULE_SCORE + _rarity(X == 1)
        for feature in layout.of_kind(Kind.RULE):
            if feature.source == WHOLE_ROW:
                rule_scores[feature.start] -= RULE_SCORE - REPEATED_SCORE
        medians = column_medians(X)
        filled = np.where(missing, medians, X)
        conditional: ForestConditional | PCAConditional
        if len(predicted_features(layout)) > MAX_FOREST_FEATURES:
            conditional = PCAConditional.fit(filled, ~missing, layout, pca)
        else:
            conditional = ForestConditional.fit(filled, ~missing, layout, seed)
        deviations, _ = conditional.deviations(filled, np.arange(len(X)))
        model = cls(layout, conditional, medians, _rarity(missing), rule_scores, [], [], [])
        for number, feature in enumerate(predicted_features(layout)):
            known = ~missing[:, feature.start]
            is_unbounded = not conditional.has_probabilities(feature)
            model.tails.append(TailScore.fit(deviations[known, number], is_unbounded=is_unbounded))
            is_number = feature.kind == Kind.NUMERIC
            common = _common_numbers(X[known, feature.start]) if is_number else _NO_NUMBERS
            model.common_numbers.append(common[0])
            model.common_scores.append(common[1])
        return model

    def score(self, X: Singles, training_index: Indices) -> tuple[Floats, Singles]:
        """Return the scores of the cells of rows, and the rows with imputed numbers.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
        training_index : array of shape (n_rows,)
            Which training row each row is; negative for a new row.

        Returns
        -------
        scores : array of shape (n_rows, n_input_columns)
        imputed : array of shape (n_rows, n_columns)
            The rows, with missing numbers replaced by their predictions.
        """
        filled, missing = X, np.isnan(X)
        if missing.any():
            filled = np.where(missing, self.medians, X)
        deviations, numbers = self.conditional.deviations(filled, training_index)
        if missing.any():
            n_numbers = numbers.shape[1]
            filled[:, :n_numbers] = np.where(missing[:, :n_numbers], numbers, X[:, :n_numbers])
        return self._score_cells(deviations, X), filled

    def expected(self, X: Singles, training_index: Indices) -> Singles:
        """Return the prediction for every cell, given the other cells of its row."""
        filled = np.where(np.isnan(X), self.medians, X)
        return self.conditional.expected(filled, training_index, self.layout.sources)

    def impute(self, X: Singles, training_index: Indices) -> Singles:
        """Replace missing numbers by their predictions."""
        missing = np.isnan(X)
        rows = np.flatnonzero(missing.any(axis=1))
        if not len(rows):
            return X
        sources = {f.source for f in self.layout.features if missing[:, f.start].any()}
        expected = self.conditional.expected(
            np.where(missing[rows], self.medians, X[rows]),
            training_index[rows],
            sources,
        )
        imputed = X.copy()
        imputed[rows] = np.where(missing[rows], expected, X[rows])
        return imputed

    def _score_cells(self, deviations: Floats, X: Singles) -> Floats:
        """Return the score of every cell: (rows, input columns)."""
        features = predicted_features(self.layout)
        largest = np.zeros((len(self.layout.sources), len(X)))
        for number, feature in enumerate(features):
            own, deviation = X[:, feature.start], deviations[:, number]
            scores = self.tails[number](deviation)
            if self.conditional.has_probabilities(feature):
                scores = np.minimum(scores, deviation)
            elif len(common := self.common_numbers[number]):
                nearest = np.searchsorted((common[1:] + common[:-1]) / 2, own)
                is_common = np.abs(common[nearest] - own) <= SAME_VALUE
                limit = np.where(is_common, self.common_scores[number][nearest], np.inf)
                scores = np.minimum(scores, limit)
            scores = np.where(np.isnan(own), self.missing_scores[feature.start], scores)
            source = self.layout.sources.index(feature.source)
            largest[source] = np.maximum(largest[source], scores)
        for feature in self.layout.of_kind(Kind.RULE):
            source, flags = self.layout.sources.index(feature.source), X[:, feature.start]
            largest[source] = np.maximum(largest[source], flags * self.rule_scores[feature.start])
        return largest.T


def _rarity(flags: Known) -> Floats:
    """Return the negative log of the fraction of rows with a flag, for each column."""
    return np.asarray(-np.log((flags.sum(axis=0) + 0.5) / (len(flags) + 1)))


_NO_NUMBERS = (np.empty(0), np.empty(0))


def _common_numbers(values: Singles) -> tuple[NDArray[Any], Floats]:
    """Return the numbers that occur repeatedly, and the negative logs of their frequencies."""
    distinct, counts = np.unique(values, return_counts=True)
    is_common = counts >= max(MIN_REPEATS, MIN_REPEATED_FRACTION * len(values))
    return distinct[is_common], -np.log(counts[is_common] / len(values))
