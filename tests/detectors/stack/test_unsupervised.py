"""Unsupervised scores of stack: neighbours, PCA and prior weights."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, IsolationForest

from imboost.detectors.stack.conditionals import (
    MIN_PROBABILITY,
    PRIOR_WEIGHT,
    CategoryForest,
    NumberForest,
    seen_rows,
)
from imboost.detectors.stack.forests import Forest
from imboost.detectors.stack.isolation import IsolationScores
from imboost.detectors.stack.neighbors import LOF_NEIGHBORS, NeighborScores
from imboost.detectors.stack.pca import CrossFittedPCA, PrincipalComponents
from imboost.detectors.stack.priors import dimensionality_weight, score_weights
from imboost.tables.layout import Feature, Kind, Layout


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def numbers(n_columns):
    return Layout.of_numbers([str(number) for number in range(n_columns)])


def test_a_row_beside_a_dense_cluster_has_a_large_local_outlier_factor():
    grid = np.stack(np.meshgrid(np.linspace(0, 0.1, 8), np.linspace(0, 0.1, 8)), -1).reshape(-1, 2)
    X = np.vstack([grid, [[0.5, 0.5]], [[1.0, 1.0]] * 30])
    _, lof = NeighborScores.fit(X, (5, 40), seed=0)(X)
    assert lof[64] > 5
    assert lof[:64].max() < 2
    np.testing.assert_allclose(lof[65:], 1.0)  # copies of one point


def test_the_local_outlier_factor_compares_a_row_with_its_own_neighbours(rng):
    # Four clusters of different density: the candidates of a pivot are some of all rows.
    X = np.vstack([1000 * n + 3**n * rng.normal(size=(100, 2)) for n in range(4)])
    scores = NeighborScores.fit(X, (5,), seed=0, n_candidates=160)
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :LOF_NEIGHBORS]
    mean_distances = np.take_along_axis(distances, nearest, axis=1).mean(axis=1)
    expected = mean_distances / mean_distances[nearest].mean(axis=1)
    np.testing.assert_allclose(scores(X)[1], expected, rtol=1e-3)


def test_the_knn_score_averages_over_the_numbers_of_neighbours():
    X = np.array([[0.0], [1.0], [3.0]])
    knn, _ = NeighborScores.fit(X, (1, 2), seed=0)(X)
    np.testing.assert_allclose(knn, [(1 + 2) / 2, (1 + 1.5) / 2, (2 + 2.5) / 2], rtol=1e-6)


@pytest.mark.parametrize("shape", [(60, 8), (20, 50)])
def test_components_are_those_of_scikit_learn(rng, shape):
    X = rng.normal(size=shape) * np.linspace(1, 3, shape[1])
    new = rng.normal(size=(5, shape[1]))
    expected = PCA(4, svd_solver="full").fit(X).transform(new)
    found = PrincipalComponents.fit(X, 4).transform(new)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), rtol=1e-4)


def test_the_pca_error_is_large_off_the_plane_of_the_data(rng):
    plane = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6))
    pca = CrossFittedPCA.fit(plane, 0)
    training = pca.reconstruct(plane, np.arange(len(plane)))
    new = np.vstack([plane[0], plane[0] + rng.normal(size=6)])
    on_it, off_it = pca.reconstruct(new, np.full(len(new), -1)).squared_errors.sum(axis=1)
    assert off_it > 20 * on_it
    np.testing.assert_allclose(training.expected, plane, atol=1)


def test_training_and_new_rows_of_a_wide_table_have_similar_pca_errors(rng):
    X = rng.normal(size=(100, 5)) @ rng.normal(size=(5, 300)) + rng.normal(size=(100, 300))
    new = rng.normal(size=(100, 300))
    new += rng.normal(size=(100, 5)) @ np.linalg.svd(X, full_matrices=False)[2][:5] * 17
    pca = CrossFittedPCA.fit(X, 0)
    training = pca.reconstruct(X, np.arange(len(X)))
    of_training = training.squared_errors.sum(axis=1).mean()
    scaled = pca.scaling.transform(X).astype(np.float32)
    in_sample = np.square(scaled - pca.folds[0].reconstruct(scaled))
    assert of_training > 2 * np.median(in_sample.sum(axis=1))
    assert (
        pca.reconstruct(new, np.full(len(new), -1)).squared_errors.sum(axis=1).mean()
        < 3 * of_training
    )


def test_the_pca_error_counts_more_in_high_dimensions():
    low, high = score_weights(0.01), score_weights(0.9)
    assert low["pca"] < low["isolation_forest"] / 5
    assert high["pca"] > high["knn"]


def test_columns_that_mostly_hold_one_value_do_not_raise_the_dimensionality(rng):
    dense, sparse = rng.normal(size=(200, 100)), rng.random((200, 1000)) < 0.01
    assert dimensionality_weight(dense, numbers(100)) == pytest.approx(0.5, abs=0.01)
    assert dimensionality_weight(sparse.astype(float), numbers(1000)) < 0.1


def test_a_category_counts_as_one_dimension(rng):
    is_first = rng.random(300) < 0.3
    plain = np.column_stack([rng.normal(size=(300, 2)), is_first])
    features = [*numbers(2).features, Feature("c", Kind.CATEGORICAL, 2, 4)]
    encoded = np.column_stack([plain, ~is_first]).astype(float)
    found = dimensionality_weight(encoded, Layout(tuple(features)))
    assert found == pytest.approx(dimensionality_weight(plain, numbers(3)))


def number_forest(forest, X, y, rows):
    fitted = forest.fit(X[rows], y[rows])
    trees = Forest.from_trees(fitted.estimators_)
    return NumberForest(trees, seen_rows(fitted, rows), residual_scales=np.ones(1))


def test_out_of_bag_predictions_are_those_of_scikit_learn(rng):
    X, y = rng.normal(size=(80, 3)).astype(np.float32), rng.normal(size=80)
    forest = ExtraTreesRegressor(50, bootstrap=True, oob_score=True, random_state=0)
    rows = np.arange(10, 70)
    found = number_forest(forest, X, y, rows).expected(X, np.arange(80))[:, 0]
    np.testing.assert_allclose(found[rows], forest.oob_prediction_, rtol=1e-5)
    for never_seen in (slice(0, 10), slice(70, 80)):
        expected = forest.predict(X[never_seen])
        np.testing.assert_allclose(found[never_seen], expected, rtol=1e-5)


def test_out_of_bag_predictions_of_categories_are_those_of_scikit_learn(rng):
    X, category = rng.normal(size=(90, 3)).astype(np.float32), rng.integers(3, size=90)
    forest = ExtraTreesClassifier(50, bootstrap=True, oob_score=True, random_state=0)
    frequencies, rows = np.array([0.5, 0.3, 0.2]), np.arange(90)
    forest.fit(X, category)
    trees = Forest.from_trees(forest.estimators_)
    fitted = CategoryForest(trees, seen_rows(forest, rows), forest.classes_, frequencies)
    expected = forest.oob_decision_function_
    own = (1 - PRIOR_WEIGHT) * expected[rows, category] + PRIOR_WEIGHT * frequencies[category]
    found = fitted.deviations(X, np.eye(3)[category], rows)[:, 0]
    np.testing.assert_allclose(found, -np.log(own + MIN_PROBABILITY), rtol=1e-4)
    is_clear = np.ptp(np.sort(expected, axis=1)[:, 1:], axis=1) > 0.01
    np.testing.assert_array_equal(
        fitted.expected(X, rows).argmax(axis=1)[is_clear], expected.argmax(axis=1)[is_clear]
    )


def test_a_category_that_the_forest_did_not_see_has_the_probability_of_its_frequency(rng):
    X = rng.normal(size=(200, 1)).astype(np.float32)
    own = np.eye(3)[np.where(X[:, 0] > 0, 2, 0)]  # never the second category
    forest = CategoryForest.fit(X, own, np.arange(200), 0)
    new = np.array([[-1.0], [1.0]], dtype=np.float32)
    found = forest.deviations(new, np.eye(3)[[1, 1]], np.full(2, -1))
    np.testing.assert_allclose(found, -np.log(MIN_PROBABILITY))
    assert (forest.deviations(new, np.eye(3)[[0, 2]], np.full(2, -1)) < 0.5).all()


def test_new_rows_are_predicted_by_all_trees(rng):
    X = rng.normal(size=(80, 3)).astype(np.float32)
    forest = ExtraTreesRegressor(9, bootstrap=True, random_state=0)
    found = number_forest(forest, X, X[:, 0], np.arange(80)).expected(X, np.full(80, -1))
    np.testing.assert_allclose(found[:, 0], forest.predict(X), rtol=1e-5)


def test_a_row_that_every_tree_saw_is_predicted_by_all_trees():
    X, y = np.zeros((2, 1), dtype=np.float32), np.array([1.0, 3.0])
    forest = ExtraTreesRegressor(1, bootstrap=True, random_state=0)
    found = number_forest(forest, X, y, np.arange(2)).expected(X, np.arange(2))
    np.testing.assert_allclose(found[:, 0], forest.predict(X), rtol=1e-6)


def test_isolation_scores_are_those_of_scikit_learn(rng):
    X = rng.normal(size=(3000, 4)).astype(np.float32)
    isolation = IsolationScores.fit(X, n_trees=20, seed=0)
    forest = IsolationForest(n_estimators=20, random_state=0).fit(X)
    np.testing.assert_allclose(isolation(X), -forest.score_samples(X))


def test_approximate_neighbours_rank_rows_nearly_as_all_reference_rows_do(rng):
    X = rng.normal(size=(5000, 4)) @ rng.normal(size=(4, 12)) + 0.3 * rng.normal(size=(5000, 12))
    new = rng.normal(size=(300, 12))
    knn, _ = NeighborScores.fit(X, (10, 40), seed=0)(new)
    distances = np.sort(cdist(new, X), axis=1)
    exact = (distances[:, :10].mean(axis=1) + distances[:, :40].mean(axis=1)) / 2
    assert spearmanr(knn, exact).statistic > 0.97
    assert (knn >= exact - 1e-5).all()  # the nearest of fewer rows are farther


def test_distances_within_a_dense_cluster_are_not_lost_to_rounding(rng):
    X = np.vstack([rng.normal(size=(900, 3)) * 1e-4 + 0.5, rng.uniform(size=(100, 3))])
    knn, _ = NeighborScores.fit(X, (1,), seed=0)(X)
    np.testing.assert_allclose(knn, np.sort(cdist(X, X), axis=1)[:, 1], rtol=0.02)


def test_rows_beside_a_tight_cluster_stand_out_wherever_another_cluster_lies(rng):
    clusters = [centre + 2e-5 * rng.normal(size=(400, 2)) for centre in (0.0, 1.0)]
    X = np.vstack(clusters)
    beside = [0, 1, 400, 401]
    X[beside] += 4e-4
    knn, _ = NeighborScores.fit(X, (5, 20), seed=0)(X)
    assert set(np.argsort(-knn)[:4]) == set(beside)
    assert (knn > 0).all()


def test_training_rows_of_wide_tables_are_not_their_own_neighbours(rng):
    X = rng.normal(size=(300, 4000)).astype(np.float32)
    knn, _ = NeighborScores.fit(X, (1,), seed=0)(X)
    assert knn.min() > 50  # the nearest other rows are about 90 away
