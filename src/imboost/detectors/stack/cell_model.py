"""Conditional model of every cell, given the other cells of its row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from imboost.detectors.base import column_medians
from imboost.detectors.stack.forests import predict_out_of_bag
from imboost.detectors.stack.pca import Reconstruction
from imboost.stats.scaling import MAD_TO_STD
from imboost.stats.tails import TailScore
from imboost.tables.layout import WHOLE_ROW, Feature, Kind, Layout

Floats = NDArray[np.float64]
Known = NDArray[np.bool_]
Indices = NDArray[np.int64]

MAX_FOREST_FEATURES = 64  # with more, PCA replaces forests, which would take minutes
RULE_SCORE = 3.0  # added to the rarity of a broken rule; chosen on the tables of `bench cells`
REPEATED_SCORE = 1.5  # the same for repeated rows; lower, since one row of a pair is right
MIN_REPEATS = 8  # minimum number of rows with the same number for it to be common
MIN_REPEATED_FRACTION = 0.001  # minimum fraction of rows with the same number, likewise
SAME_VALUE = 1e-6  # smaller differences between scaled numbers are rounding errors
MIN_ERROR = 0.02  # smallest residual scale, in standard deviations of the column
PRIOR_WEIGHT = 0.03  # weight of a category's overall frequency in its probability
MIN_PROBABILITY = 1e-4  # added to probabilities of categories, to keep their logarithms finite
CLIP_QUANTILE = 0.01  # lower quantile from which clip limits are computed
FOREST_SETTINGS = {
    "n_estimators": 30,
    "min_samples_leaf": 10,
    "max_features": 0.5,
    "bootstrap": True,  # for out-of-bag predictions
}
MAX_TREE_ROWS = 2_000  # rows per tree; more do not change the results of benchmarks.orders


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
    medians: Floats
    missing_scores: Floats
    rule_scores: Floats
    tails: list[TailScore]
    common_numbers: list[Floats]
    common_scores: list[Floats]

    @classmethod
    def fit(
        cls, X: Floats, layout: Layout, reconstruction: Reconstruction, seed: int
    ) -> tuple[CellModel, Floats, Floats]:
        """Return the model, the scores of the cells of `X` and their expected values.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Encoded rows; missing numbers are nan.
        reconstruction : Reconstruction
            Out-of-fold reconstruction of the columns that are not missing-value indicators. It
            replaces forests in tables of many features.

        Returns
        -------
        model : CellModel
        scores : array of shape (n_rows, n_input_columns)
        expected : array of shape (n_rows, n_columns)
        """
        missing = np.isnan(X)
        missing_scores = _rarity(missing)
        rule_scores = RULE_SCORE + _rarity(X == 1)
        for feature in layout.of_kind(Kind.RULE):
            if feature.source == WHOLE_ROW:
                rule_scores[feature.start] -= RULE_SCORE - REPEATED_SCORE
        medians = column_medians(X)
        conditional: ForestConditional | PCAConditional
        if len(predicted_features(layout)) > MAX_FOREST_FEATURES:
            conditional = PCAConditional.fit(~missing, layout, reconstruction)
        else:
            filled = np.where(missing, medians, X)
            conditional = ForestConditional.fit(filled, ~missing, layout, seed)
        deviations, expected = conditional.score(
            np.where(missing, medians, X), reconstruction, np.arange(len(X))
        )
        model = cls(layout, conditional, medians, missing_scores, rule_scores, [], [], [])
        for number, feature in enumerate(predicted_features(layout)):
            known = ~missing[:, feature.start]
            is_unbounded = not conditional.has_probabilities(feature)
            model.tails.append(TailScore.fit(deviations[known, number], is_unbounded=is_unbounded))
            is_number = feature.kind == Kind.NUMERIC
            common = _common_numbers(X[known, feature.start]) if is_number else _NO_NUMBERS
            model.common_numbers.append(common[0])
            model.common_scores.append(common[1])
        return model, model._score_cells(deviations, X), expected

    def score(
        self, X: Floats, reconstruction: Reconstruction, training_index: Indices
    ) -> tuple[Floats, Floats]:
        """Return the scores of the cells of rows and their expected values.

        `training_index` gives the training row that each row is; it is negative for a new row.
        """
        filled = np.where(np.isnan(X), self.medians, X)
        deviations, expected = self.conditional.score(filled, reconstruction, training_index)
        return self._score_cells(deviations, X), expected

    def _score_cells(self, deviations: Floats, X: Floats) -> Floats:
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


@dataclass(frozen=True, eq=False)
class ForestConditional:
    """Predict every feature by a forest on the columns of all other input columns.

    Parameters
    ----------
    layout : Layout
    models : list of NumericForest or CategoricalForest
        One for each feature that is not a missing-value indicator.
    lowest, highest : array of shape (n_columns,)
        Limits to which the inputs of the forests are clipped.
    """

    layout: Layout
    models: list[NumericForest | CategoricalForest]
    lowest: Floats
    highest: Floats

    def has_probabilities(self, feature: Feature) -> bool:
        """Whether the scores of a feature are negative log-probabilities."""
        return feature.kind == Kind.CATEGORICAL

    @classmethod
    def fit(cls, X: Floats, known: Known, layout: Layout, seed: int) -> ForestConditional:
        """Fit one forest for each feature, to the rows in which it is known."""
        conditional = cls(layout, [], *_clip_limits(X, known, layout))
        clipped = np.clip(X, conditional.lowest, conditional.highest)
        for number, feature in enumerate(predicted_features(layout)):
            kind = NumericForest if feature.kind == Kind.NUMERIC else CategoricalForest
            others, own = conditional._others(clipped, feature), clipped[:, feature.columns]
            rows = np.flatnonzero(known[:, feature.start])
            rows = rows if len(rows) > 1 else np.arange(len(X))
            conditional.models.append(kind.fit(others, own, rows, seed + number))
        return conditional

    def score(
        self, X: Floats, reconstruction: Reconstruction, training_index: Indices
    ) -> tuple[Floats, Floats]:
        """Return scores, (rows, features), and expected values, (rows, columns)."""
        features = predicted_features(self.layout)
        scores, expected = np.empty((len(X), len(features))), np.zeros_like(X)
        clipped = np.clip(X, self.lowest, self.highest)
        for number, (feature, model) in enumerate(zip(features, self.models, strict=True)):
            predicted = model.predict(self._others(clipped, feature), training_index)
            scores[:, number] = model.score(X[:, feature.columns], predicted)
            expected[:, feature.columns] = model.expected(predicted)
        return scores, expected

    def _others(self, X: Floats, feature: Feature) -> Floats:
        """Return the columns of other input columns; one column of zeros if there are none."""
        source = self.layout.sources.index(feature.source)
        others = X[:, self.layout.source_of_columns() != source]
        return others if others.shape[1] else np.zeros((len(X), 1))


@dataclass(frozen=True, eq=False)
class NumericForest:
    """A forest that predicts a number, and the scale of its residuals."""

    forest: ExtraTreesRegressor
    fitted_rows: Indices
    residual_scale: float

    @classmethod
    def fit(cls, others: Floats, own: Floats, rows: Indices, seed: int) -> NumericForest:
        """Fit to some of the training rows."""
        forest = _fit_forest(ExtraTreesRegressor(), others[rows], own[rows, 0], seed)
        predicted = predict_out_of_bag(forest, others[rows], rows, rows)
        residuals = np.abs(own[rows, 0] - predicted[:, 0])
        smallest = MIN_ERROR * (float(own[rows, 0].std()) or 1.0)
        return cls(forest, rows, MAD_TO_STD * float(np.median(residuals)) + smallest)

    def predict(self, others: Floats, training_index: Indices) -> Floats:
        """Return the predicted numbers, (rows, 1)."""
        return predict_out_of_bag(self.forest, others, training_index, self.fitted_rows)

    def score(self, own: Floats, predicted: Floats) -> Floats:
        """Return the log of 1 plus the squared residual, in units of the residual scale."""
        return np.log1p(np.square((own[:, 0] - predicted[:, 0]) / self.residual_scale))

    def expected(self, predicted: Floats) -> Floats:
        """Return the predicted numbers."""
        return predicted


@dataclass(frozen=True, eq=False)
class CategoricalForest:
    """A forest that predicts the probabilities of categories, and their frequencies."""

    forest: ExtraTreesClassifier
    fitted_rows: Indices
    frequencies: Floats

    @classmethod
    def fit(cls, others: Floats, own: Floats, rows: Indices, seed: int) -> CategoricalForest:
        """Fit to some of the training rows."""
        category = own.argmax(axis=1)
        forest = _fit_forest(ExtraTreesClassifier(), others[rows], category[rows], seed)
        counts = np.bincount(category[rows], minlength=own.shape[1])
        return cls(forest, rows, counts / counts.sum())

    def predict(self, others: Floats, training_index: Indices) -> Floats:
        """Return the probabilities of all categories, (rows, categories)."""
        probabilities = np.zeros((len(others), len(self.frequencies)))
        probabilities[:, self.forest.classes_] = predict_out_of_bag(
            self.forest, others, training_index, self.fitted_rows
        )
        return probabilities

    def score(self, own: Floats, predicted: Floats) -> Floats:
        """Return the negative log-probability of every row's category."""
        category = own.argmax(axis=1)
        found = predicted[np.arange(len(own)), category]
        mixed = (1 - PRIOR_WEIGHT) * found + PRIOR_WEIGHT * self.frequencies[category]
        return np.asarray(-np.log(mixed + MIN_PROBABILITY))

    def expected(self, predicted: Floats) -> Floats:
        """Return the most probable category, one-hot encoded."""
        return _one_hot(predicted)


@dataclass(frozen=True, eq=False)
class PCAConditional:
    """Predict all cells of a row by its PCA reconstruction, for tables of many columns.

    In wide tables a cell has little influence on its own reconstruction. One-hot columns are
    treated as numbers.

    Parameters
    ----------
    layout : Layout
    residual_scales : array
        Typical error of every reconstructed column, in units of its standard deviation.
    """

    layout: Layout
    residual_scales: Floats

    def has_probabilities(self, feature: Feature) -> bool:
        """Whether the scores of a feature are negative log-probabilities."""
        return False

    @classmethod
    def fit(cls, known: Known, layout: Layout, reconstruction: Reconstruction) -> PCAConditional:
        """Measure the typical errors of an out-of-fold reconstruction."""
        errors = np.sqrt(reconstruction.squared_errors)
        errors = np.where(known[:, predicted_columns(layout)], errors, np.nan)
        return cls(layout, MAD_TO_STD * column_medians(errors) + MIN_ERROR)

    def score(
        self, X: Floats, reconstruction: Reconstruction, training_index: Indices
    ) -> tuple[Floats, Floats]:
        """Return scores, (rows, features), and expected values, (rows, columns)."""
        expected = np.zeros(X.shape)
        expected[:, predicted_columns(self.layout)] = reconstruction.expected
        for feature in self.layout.of_kind(Kind.CATEGORICAL):
            expected[:, feature.columns] = _one_hot(expected[:, feature.columns])
        cells = np.log1p(reconstruction.squared_errors / np.square(self.residual_scales))
        widths = [feature.stop - feature.start for feature in predicted_features(self.layout)]
        starts = np.cumsum([0, *widths[:-1]])
        return np.maximum.reduceat(cells, starts, axis=1), expected


def _rarity(flags: NDArray[np.bool_]) -> Floats:
    """Return the negative log of the fraction of rows with a flag, for each column."""
    return np.asarray(-np.log((flags.sum(axis=0) + 0.5) / (len(flags) + 1)))


_NO_NUMBERS = (np.empty(0), np.empty(0))


def _common_numbers(values: Floats) -> tuple[Floats, Floats]:
    """Return the numbers that occur repeatedly, and the negative logs of their frequencies."""
    distinct, counts = np.unique(values, return_counts=True)
    is_common = counts >= max(MIN_REPEATS, MIN_REPEATED_FRACTION * len(values))
    return distinct[is_common], -np.log(counts[is_common] / len(values))


def _fit_forest(forest: Any, X: Floats, y: NDArray[Any], seed: int) -> Any:
    forest.set_params(**FOREST_SETTINGS, max_samples=min(len(X), MAX_TREE_ROWS), random_state=seed)
    return forest.fit(X, y)


def _clip_limits(X: Floats, known: Known, layout: Layout) -> tuple[Floats, Floats]:
    """Return the 1% and 99% quantiles of each column, moved outwards by their distance.

    Extremely randomised trees draw split points from the range of a column, so that a few extreme
    values would make most splits useless.
    """
    lowest, highest = np.full(X.shape[1], -np.inf), np.full(X.shape[1], np.inf)
    for feature in layout.of_kind(Kind.NUMERIC):
        column = X[known[:, feature.start], feature.start]
        quantiles = (CLIP_QUANTILE, 1 - CLIP_QUANTILE)
        low, high = np.quantile(column, quantiles) if len(column) else (0.0, 0.0)
        if low < high:
            lowest[feature.start], highest[feature.start] = 2 * low - high, 2 * high - low
    return lowest, highest


def predicted_features(layout: Layout) -> list[Feature]:
    """Return the features that have a conditional model: numbers and categories."""
    return [f for f in layout.features if f.kind in (Kind.NUMERIC, Kind.CATEGORICAL)]


def predicted_columns(layout: Layout) -> NDArray[np.int64]:
    """Return the matrix columns of the features that have a conditional model."""
    return np.concatenate([np.arange(f.start, f.stop) for f in predicted_features(layout)])


def _one_hot(values: Floats) -> Floats:
    return np.asarray(np.eye(values.shape[1])[values.argmax(axis=1)])
