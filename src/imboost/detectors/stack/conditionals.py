"""Predict the cells of a row from its other cells: forests, or PCA in tables of many columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from imboost.arrays import Floats, Indices, Mask
from imboost.detectors.base import column_medians
from imboost.detectors.stack.forests import Forest
from imboost.detectors.stack.pca import CrossFittedPCA, Reconstruction
from imboost.detectors.stack.training_rows import NEW
from imboost.stats.row_products import Singles
from imboost.stats.scaling import MAD_TO_STD
from imboost.tables.layout import Feature, Kind, Layout

Known = Mask

N_UNSEEN_TREES = 11  # trees that did not see a training row, on average, and predict it
MAX_TREE_ROWS = 2_000  # rows per tree; more do not find more errors in synthetic orders
TREE_SETTINGS = {
    "min_samples_leaf": 10,
    "max_features": 0.5,
    "bootstrap": True,  # for out-of-bag predictions
}
MIN_ERROR = 0.02  # smallest residual scale, in standard deviations of the column
PRIOR_WEIGHT = 0.03  # weight of a category's overall frequency in its probability
MIN_PROBABILITY = 1e-4  # added to probabilities of categories, to keep their logarithms finite
CLIP_QUANTILE = 0.01  # lower quantile from which clip limits are computed


@dataclass(frozen=True, eq=False)
class ForestConditional:
    """Predict every input column by a forest on all other input columns.

    The inputs of the forests are numbers, missing indicators, broken rules and, for each category,
    its position in the order of frequency.

    Parameters
    ----------
    layout : Layout
    forests : dict of str to NumberForest or CategoryForest
        One for each input column.
    lowest, highest : array of shape (n_columns,)
        Limits to which the inputs of the forests are clipped.
    """

    layout: Layout
    forests: dict[str, NumberForest | CategoryForest]
    lowest: Floats
    highest: Floats

    def has_probabilities(self, feature: Feature) -> bool:
        """Whether the deviations of a feature are negative log-probabilities."""
        return feature.kind == Kind.CATEGORICAL

    @classmethod
    def fit(cls, X: Singles, known: Known, layout: Layout, seed: int) -> ForestConditional:
        """Fit one forest for each input column, to the rows in which it is known."""
        conditional = cls(layout, {}, *_clip_limits(X, known, layout))
        clipped = np.clip(X, conditional.lowest, conditional.highest)
        inputs = conditional._inputs(X)
        sources = np.array([feature.source for feature in layout.features])
        categories = {feature.source for feature in layout.of_kind(Kind.CATEGORICAL)}
        for number, (source, columns) in enumerate(conditional._columns.items()):
            rows = np.flatnonzero(known[:, columns[0]])
            rows = rows if len(rows) > 1 else np.arange(len(X))
            others = inputs[rows]
            others[:, sources == source] = 0.0
            kind = CategoryForest if source in categories else NumberForest
            conditional.forests[source] = kind.fit(
                others, clipped[np.ix_(rows, columns)], rows, seed + number
            )
        return conditional

    @cached_property
    def _columns(self) -> dict[str, Indices]:
        """The matrix columns of the predicted features, by input column."""
        columns: dict[str, list[int]] = {}
        for feature in predicted_features(self.layout):
            columns.setdefault(feature.source, []).extend(range(feature.start, feature.stop))
        return {source: np.array(found) for source, found in columns.items()}

    def _inputs(self, X: Singles) -> Singles:
        """Return the inputs of the forests, one column for each feature of the layout."""
        values, starts = feature_values(X, self.layout), self._starts
        return np.clip(values, self.lowest[starts], self.highest[starts], out=values)

    @cached_property
    def _starts(self) -> Indices:
        return np.array([feature.start for feature in self.layout.features])

    def deviations(self, X: Singles, training_index: Indices) -> tuple[Floats, Singles]:
        """Return how far every feature is from its prediction, and the predicted numbers."""
        inputs, found = self._inputs(X), []
        numbers = np.empty((len(X), self.layout.n_of_kind(Kind.NUMERIC)), dtype=np.float32)
        for source, columns in self._columns.items():
            forest = self.forests[source]
            if isinstance(forest, NumberForest):
                numbers[:, columns] = expected = forest.expected(inputs, training_index)
                found.append(forest.deviations(X[:, columns], expected))
            else:
                found.append(forest.deviations(inputs, X[:, columns], training_index))
        order = [
            number
            for source in self._columns
            for number, feature in enumerate(predicted_features(self.layout))
            if feature.source == source
        ]
        return np.hstack(found)[:, np.argsort(order)], numbers

    def expected(self, X: Singles, training_index: Indices, sources: Collection[str]) -> Singles:
        """Return the predictions for some input columns, in an array of the shape of `X`."""
        expected, inputs = np.zeros_like(X), self._inputs(X)
        for source, columns in self._columns.items():
            if source in sources:
                expected[:, columns] = self.forests[source].expected(inputs, training_index)
        return expected


@dataclass(frozen=True, eq=False)
class OutOfBagForest:
    """A forest that predicts training rows out of bag.

    Parameters
    ----------
    forest : Forest
    seen : array of shape (n_trees, (n_training_rows + 7) // 8)
        Bits: which trees saw which training rows.
    """

    forest: Forest
    seen: NDArray[np.uint8]

    @cached_property
    def _was_seen(self) -> Known:
        """Which trees saw which training rows, then at least one column for new rows."""
        return np.unpackbits(np.pad(self.seen, ((0, 0), (0, 1))), axis=1).astype(bool)

    def _weights(self, training_index: Indices) -> Singles:
        """Return the weights of the trees in the prediction of each row: (trees, rows)."""
        n_trees = len(self.forest)
        if (training_index == NEW).all():
            return np.broadcast_to(
                np.float32(1) / np.float32(n_trees), (n_trees, len(training_index))
            )
        seen = self._was_seen
        index = np.where(training_index < seen.shape[1] - 1, training_index, NEW)
        unseen = ~seen[:, index]
        unseen[:, ~unseen.any(axis=0)] = True  # a row that every tree saw
        weights: Singles = unseen / unseen.sum(axis=0, dtype=np.float32)
        return weights

    def _weighted_leaves(
        self, inputs: Singles, training_index: Indices
    ) -> Iterator[tuple[Singles, Floats, Indices]]:
        """Yield each tree's weights of the rows, the values of its nodes and the rows' leaves."""
        weights = self._weights(training_index)
        for weight, (values, leaves) in zip(weights, self.forest.leaves(inputs), strict=True):
            yield weight, values, leaves


@dataclass(frozen=True, eq=False)
class NumberForest(OutOfBagForest):
    """A forest that predicts the numbers of an input column, and the scales of its residuals."""

    residual_scales: Floats

    @classmethod
    def fit(cls, others: Singles, own: Singles, rows: Indices, seed: int) -> NumberForest:
        """Fit to some of the training rows."""
        _, forest, seen = _fit_forest(ExtraTreesRegressor(), others, own, rows, seed)
        fitted = cls(forest, seen, np.ones(own.shape[1]))
        residuals = np.abs(own - fitted.expected(others, rows))
        smallest = MIN_ERROR * np.where((spread := own.std(axis=0)) > 0, spread, 1.0)
        return cls(forest, seen, MAD_TO_STD * np.median(residuals, axis=0) + smallest)

    def deviations(self, own: Singles, expected: Floats) -> Floats:
        """Return the log of 1 plus the squared residual, in units of the residual scale."""
        return np.log1p(np.square((own - expected) / self.residual_scales))

    def expected(self, inputs: Singles, training_index: Indices) -> Floats:
        """Return the predicted numbers, (rows, features)."""
        total = np.zeros((len(inputs), len(self.residual_scales)))
        for weight, values, leaves in self._weighted_leaves(inputs, training_index):
            total += weight[:, None] * values[leaves]
        return total


@dataclass(frozen=True, eq=False)
class CategoryForest(OutOfBagForest):
    """A forest that predicts the probabilities of categories, and their frequencies."""

    classes: Indices  # the categories that the forest was fitted to, in ascending order
    frequencies: Floats

    @classmethod
    def fit(cls, others: Singles, own: Singles, rows: Indices, seed: int) -> CategoryForest:
        """Fit to some of the training rows."""
        category = own.argmax(axis=1)
        fitted, forest, seen = _fit_forest(ExtraTreesClassifier(), others, category, rows, seed)
        counts = np.bincount(category, minlength=own.shape[1])
        return cls(forest, seen, fitted.classes_, counts / counts.sum())

    def deviations(self, inputs: Singles, own: Singles, training_index: Indices) -> Floats:
        """Return the negative log-probability of every row's category."""
        category = own.argmax(axis=1)
        known = np.searchsorted(self.classes, category)
        known = np.minimum(known, len(self.classes) - 1)
        found = np.zeros(len(inputs))
        for weight, values, leaves in self._weighted_leaves(inputs, training_index):
            found += weight * values[leaves, known]
        found[self.classes[known] != category] = 0.0
        mixed = (1 - PRIOR_WEIGHT) * found + PRIOR_WEIGHT * self.frequencies[category]
        return np.asarray(-np.log(mixed + MIN_PROBABILITY)[:, None])

    def expected(self, inputs: Singles, training_index: Indices) -> Floats:
        """Return the most probable category, one-hot encoded."""
        probabilities = np.zeros((len(inputs), len(self.frequencies)))
        for weight, values, leaves in self._weighted_leaves(inputs, training_index):
            probabilities[:, self.classes] += weight[:, None] * values[leaves]
        return _one_hot(probabilities)


@dataclass(frozen=True, eq=False)
class PCAConditional:
    """Predict all cells of a row by its PCA reconstruction, for tables of many columns.

    In wide tables a cell has little influence on its own reconstruction. One-hot columns are
    treated as numbers.

    Parameters
    ----------
    layout : Layout
    pca : CrossFittedPCA
        PCA of the columns of predicted features.
    residual_scales : array
        Typical error of every reconstructed column, in units of its standard deviation.
    """

    layout: Layout
    pca: CrossFittedPCA
    residual_scales: Floats

    def has_probabilities(self, feature: Feature) -> bool:
        """Whether the deviations of a feature are negative log-probabilities."""
        return False

    @classmethod
    def fit(cls, X: Singles, known: Known, layout: Layout, pca: CrossFittedPCA) -> PCAConditional:
        """Measure the typical errors of the out-of-fold reconstruction of training rows."""
        columns = predicted_columns(layout)
        found = pca.reconstruct(X.take(columns, axis=1), np.arange(len(X)))
        errors = np.sqrt(found.squared_errors.astype(np.float64))
        errors = np.where(known[:, columns], errors, np.nan)
        return cls(layout, pca, MAD_TO_STD * column_medians(errors) + MIN_ERROR)

    def deviations(self, X: Singles, training_index: Indices) -> tuple[Floats, Singles]:
        """Return how far every feature is from its reconstruction, and reconstructed numbers."""
        reconstruction = self._reconstruct(X, training_index)
        cells = np.log1p(reconstruction.squared_errors / np.square(self.residual_scales))
        widths = [feature.stop - feature.start for feature in predicted_features(self.layout)]
        starts = np.cumsum([0, *widths[:-1]])
        numbers = reconstruction.expected[:, : self.layout.n_of_kind(Kind.NUMERIC)]
        return np.maximum.reduceat(cells, starts, axis=1), numbers

    def expected(self, X: Singles, training_index: Indices, sources: Collection[str]) -> Singles:
        """Return the reconstruction of some input columns, in an array of the shape of `X`."""
        expected = np.zeros_like(X)
        reconstruction = self._reconstruct(X, training_index)
        expected[:, predicted_columns(self.layout)] = reconstruction.expected
        for feature in self.layout.of_kind(Kind.CATEGORICAL):
            expected[:, feature.columns] = _one_hot(expected[:, feature.columns])
        return expected

    def _reconstruct(self, X: Singles, training_index: Indices) -> Reconstruction:
        return self.pca.reconstruct(X.take(predicted_columns(self.layout), axis=1), training_index)


def predicted_features(layout: Layout) -> list[Feature]:
    """Return the features that have a conditional model: numbers and categories."""
    return [f for f in layout.features if f.kind in (Kind.NUMERIC, Kind.CATEGORICAL)]


def predicted_columns(layout: Layout) -> Indices:
    """Return the matrix columns of the features that have a conditional model."""
    return np.concatenate([np.arange(f.start, f.stop) for f in predicted_features(layout)])


def feature_values(X: Singles, layout: Layout) -> Singles:
    """Return one column for each feature: its number, or the position of its category."""
    values = np.empty((len(X), len(layout.features)), dtype=np.float32)
    for number, feature in enumerate(layout.features):
        is_category = feature.kind == Kind.CATEGORICAL
        columns = X[:, feature.columns]
        values[:, number] = columns.argmax(axis=1) if is_category else columns[:, 0]
    return values


def _fit_forest(
    forest: Any, X: Singles, y: NDArray[Any], rows: Indices, seed: int
) -> tuple[Any, Forest, NDArray[np.uint8]]:
    """Fit to the given training rows; return the forest twice and which trees saw which rows."""
    n_sampled = min(len(X), MAX_TREE_ROWS)
    unseen = np.exp(-n_sampled / len(X))  # probability that a tree does not see a row
    forest.set_params(
        **TREE_SETTINGS,
        n_estimators=round(N_UNSEEN_TREES / unseen),
        max_samples=n_sampled,
        random_state=seed,
    )
    forest.fit(X, y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y)
    return forest, Forest.from_trees(forest.estimators_), seen_rows(forest, rows)


def seen_rows(forest: Any, rows: Indices) -> NDArray[np.uint8]:
    """Return bits that say which trees saw which training rows, if it was fitted to `rows`."""
    seen = np.zeros((len(forest.estimators_), int(rows.max()) + 1), dtype=bool)
    for tree, sampled in enumerate(forest.estimators_samples_):
        seen[tree, rows[sampled]] = True
    return np.packbits(seen, axis=1)


def _clip_limits(X: Singles, known: Known, layout: Layout) -> tuple[Floats, Floats]:
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


def _one_hot(values: NDArray[Any]) -> Floats:
    return np.asarray(np.eye(values.shape[1])[values.argmax(axis=1)])
