"""The stacking detector as a whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from conftest import make_quick
from imboost import TableDetector, load, save
from imboost.datasets import planted_outliers
from imboost.datasets.orders import mixed_table
from imboost.detectors.stack import Stack
from imboost.detectors.stack.detector import BASE_LEARNERS
from imboost.detectors.stack.priors import dimensionality_weight, learner_weights
from imboost.errors import IMBoostError
from imboost.tables.layout import Feature, Kind, Layout


def partial_labels(dataset):
    """Return the labels of two rows in three."""
    return np.where(np.arange(len(dataset.y)) % 3, dataset.y, -1)


def numbers(n_columns):
    return Layout.of_numbers([str(number) for number in range(n_columns)])


@pytest.fixture(scope="module")
def refined(planted):
    return make_quick("stack").fit(planted.X, partial_labels(planted))


def test_wrong_labels_contradict_out_of_fold_predictions_most(planted):
    labels = np.full(len(planted.y), -1)
    labels[:100] = planted.y[:100]
    labels[planted.y == 1] = 1
    wrong = np.flatnonzero(planted.y[:100] == 0)[:4]
    labels[wrong] = 1
    proba = Stack(random_state=0).fit(planted.X, labels).decision_.out_of_fold_proba
    np.testing.assert_array_equal(np.isnan(proba), labels == -1)
    contradiction = np.abs(np.nan_to_num(proba - labels))
    assert set(np.argsort(-contradiction)[:4]) == set(wrong)


def test_labels_of_one_class_change_the_weights_of_the_scores(planted):
    detector = make_quick("stack").fit(planted.X)
    before, weights = detector.decision_scores_, detector.score_weights_
    labels = np.full(len(planted.X), -1)
    labels[np.argsort(-before)[:20]] = 0  # the highest scores are false alarms
    detector.refine(planted.X, labels)
    assert detector.decision_scores_.max() < before.max()
    assert sum(detector.score_weights_.values()) < sum(weights.values())


def test_base_learners_are_fitted_once_both_classes_are_known(planted):
    detector = make_quick("stack").fit(planted.X)
    assert len(detector.learner_weights_) == 0
    detector.refine(planted.X, partial_labels(planted))
    assert detector.learner_weights_.keys() == set(BASE_LEARNERS)
    assert roc_auc_score(planted.y, detector.decision_scores_) > 0.95
    assert len(detector.fit(planted.X).learner_weights_) == 0


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"base_learners": ("liner",)}, "Did you mean 'linear'"),
        ({"base_learners": ()}, "base_learners must name at least one of random_forest"),
        ({"unsupervised_scores": ("cells",)}, "must name at least one of isolation_forest, knn"),
        ({"unsupervised_scores": ("knn", "knm")}, "Unknown name in unsupervised_scores 'knm'"),
        ({"n_neighbors": ()}, "n_neighbors must be a tuple of at least one number"),
        ({"n_neighbors": 5}, "n_neighbors must be a tuple of at least one number, got 5"),
        ({"base_learners": "linear"}, "must be a tuple of distinct names, got 'linear'"),
        ({"base_learners": ("linear", "linear")}, "must be a tuple of distinct names"),
        ({"prior_strength": 1e308}, "prior_strength must be above 0 and at most 1e.12"),
        ({"prior_strength": 0.0}, "prior_strength must be above 0"),
        ({"score_weight_std": -1.0}, "score_weight_std must be at least 0"),
    ],
)
def test_a_wrong_setting_is_named(planted, changes, error):
    with pytest.raises(IMBoostError, match=error):
        make_quick("stack", **changes).fit(planted.X)


@pytest.mark.parametrize("learner", BASE_LEARNERS)
def test_every_base_learner_works_alone(planted, learner):
    detector = make_quick("stack", base_learners=(learner,)).fit(planted.X)
    detector.refine(planted.X, partial_labels(planted))
    assert detector.learner_weights_ == {learner: 1.0}
    assert roc_auc_score(planted.y, detector.decision_scores_) > 0.9


def test_a_very_strong_prior_keeps_the_prior_weights_of_the_learners(planted):
    detector = make_quick("stack", prior_strength=1e9).fit(planted.X, partial_labels(planted))
    prior = learner_weights(dimensionality_weight(planted.X, numbers(planted.X.shape[1])))
    expected = {name: weight / sum(prior.values()) for name, weight in prior.items()}
    found = detector.learner_weights_
    assert {name: found[name] for name in prior} == pytest.approx(expected)


def test_the_number_of_neighbour_settings_does_not_change_the_weight_of_distances(planted):
    one, three = (
        make_quick("stack", n_neighbors=n_neighbors).fit(planted.X).score_weights_
        for n_neighbors in ((40,), (40, 80, 160))
    )
    assert one == pytest.approx(three)


def test_a_matrix_is_a_table_of_numbers(planted):
    plain = make_quick("stack").fit(planted.X)
    as_table = make_quick("stack").fit(planted.X, layout=numbers(planted.X.shape[1]))
    np.testing.assert_array_equal(plain.decision_scores_, as_table.decision_scores_)


def test_only_tables_with_categories_are_scored_by_their_cells(planted):
    assert "cells" not in make_quick("stack").fit(planted.X).score_weights_
    category = np.eye(2)[(planted.X[:, 0] > planted.X[:, 0].mean()).astype(int)]
    n = planted.X.shape[1]
    layout = Layout((*numbers(n).features, Feature("c", Kind.CATEGORICAL, n, n + 2)))
    detector = make_quick("stack").fit(np.hstack([planted.X, category]), layout=layout)
    weights = detector.score_weights_
    assert weights["cells"] == max(weights.values())


def test_attributions_after_loading_are_those_before_saving(refined, planted, tmp_path):
    rows = planted.X[:3]
    save(refined, tmp_path / "model")
    found, expected = load(tmp_path / "model").attribute(rows), refined.attribute(rows)
    np.testing.assert_array_equal(found.contributions, expected.contributions)
    np.testing.assert_array_equal(found.expected, expected.expected)


def test_attributions_fit_nothing(refined, planted, monkeypatch):
    def refuse(*arguments, **settings):
        raise AssertionError("a model was fitted")

    monkeypatch.setattr("imboost.detectors.stack.cell_model.CellModel.fit", refuse)
    monkeypatch.setattr("imboost.detectors.stack.pca.CrossFittedPCA.fit", refuse)
    assert refined.attribute(planted.X[:2]).contributions.shape == (2, planted.X.shape[1])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-9, 1e-12]))
def test_rounding_noise_hardly_moves_scores(refined, seed, size):
    new = planted_outliers(200, 5, seed=seed % 1000).X
    noise = 1 + size * np.random.default_rng(seed).uniform(-1, 1, new.shape)
    moved = np.abs(refined.decision_function(new * noise) - refined.decision_function(new))
    assert moved.max() < 1e-3


def test_rounding_noise_hardly_moves_scores_of_columns_with_ties(planted):
    X = np.column_stack([planted.X[:, :2], planted.X[:, 2:].round(1)])
    detector = make_quick("stack").fit(X, partial_labels(planted))
    moved = np.abs(detector.decision_function(X * (1 + 1e-9)) - detector.decision_function(X))
    assert moved.max() < 1e-3


def test_single_precision_hardly_moves_scores(refined):
    new = planted_outliers(500, 5, seed=3).X
    single = new.astype(np.float32)
    moved = np.abs(refined.decision_function(single) - refined.decision_function(new))
    assert np.mean(moved > 0.05) < 0.01


def test_training_rows_are_scored_out_of_fold_when_given_again(refined, planted, tmp_path):
    save(refined, tmp_path / "model")
    for detector in (refined, load(tmp_path / "model")):
        for noise in (0, 1e-9):
            again = detector.decision_function(planted.X * (1 + noise))
            np.testing.assert_allclose(again, refined.decision_scores_, atol=1e-4)


def test_a_table_with_categories_and_missing_values_is_scored_alike_again():
    table = mixed_table(300, missing=0.1, seed=0).table
    detector = TableDetector(Stack(n_trees=20, n_isolation_trees=20), random_state=0).fit(table)
    again = detector.decision_function(table)
    np.testing.assert_allclose(again, detector.decision_scores_, rtol=1e-6)


def test_a_wide_table_with_missing_values_scores_row_by_row_as_at_once():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3)) @ rng.normal(size=(3, 80)) + rng.normal(size=(150, 80))
    X[rng.random(X.shape) < 0.1] = np.nan
    detector = make_quick("stack").fit(X)
    at_once = detector.decision_function(X)
    one_by_one = [detector.decision_function(row[None])[0] for row in X[:30]]
    np.testing.assert_allclose(one_by_one, at_once[:30], atol=1e-6)


def test_rows_are_scored_in_chunks(refined, planted, monkeypatch):
    at_once = refined.decision_function(planted.X)
    monkeypatch.setattr("imboost.detectors.stack.detector.CHUNK_ROWS", 7)
    np.testing.assert_array_equal(refined.decision_function(planted.X), at_once)


def test_settings_that_change_after_fitting_do_not_change_scores(planted):
    detector = make_quick("stack").fit(planted.X)
    before = detector.decision_function(planted.X)
    detector.set_params(n_neighbors=(5,), unsupervised_scores=("isolation_forest",))
    np.testing.assert_array_equal(detector.decision_function(planted.X), before)
    with pytest.raises(IMBoostError, match="Unknown name in base_learners"):
        detector.set_params(base_learners=("foo",)).refine(planted.X, planted.y)


@pytest.mark.parametrize(
    "more",
    [lambda X: X[:, :1], lambda X: X.sum(axis=1, keepdims=True), lambda X: 3 * X + 1],
    ids=["a column twice", "a total", "columns in proportion"],
)
def test_dependent_columns_do_not_make_scores_depend_on_the_batch(planted, more):
    X = np.hstack([planted.X, more(planted.X)])
    detector = make_quick("stack").fit(X, partial_labels(planted))
    one_by_one = [detector.decision_function(row[None])[0] for row in X[:50]]
    np.testing.assert_array_equal(detector.decision_function(X)[:50], one_by_one)


def test_each_base_learner_has_its_own_features(planted):
    detector = make_quick("stack").fit(planted.X, planted.y)
    n_columns, n_scores = planted.X.shape[1], 3
    features = {
        name: detector._ensemble._features(name, detector._training_rows) for name in BASE_LEARNERS
    }
    widths = {name: own.shape[1] for name, own in features.items()}
    assert widths == {
        "random_forest": n_columns + n_scores + 1,  # and the local outlier factor
        "extra_trees": 2 * n_columns + n_scores + 1,  # and principal components
        "linear": n_columns + n_scores,
        "gaussian_process": n_columns,
        "scores": n_scores,
        "in_context": n_columns + n_scores + 1,
    }
    assert np.abs(features["linear"][:, -n_scores:]).max() <= 5
    normal_scores = np.sort(features["gaussian_process"][:, 0])
    np.testing.assert_allclose(normal_scores, -normal_scores[::-1], atol=1e-3)


@pytest.mark.parametrize(
    "changes", [{"unsupervised_scores": ("pca",)}, {"base_learners": ("scores",)}]
)
def test_a_constant_table_has_finite_scores(changes):
    X, y = np.ones((30, 2)), np.arange(30) % 2
    assert np.isfinite(make_quick("stack", **changes).fit(X, y).decision_scores_).all()


def test_a_missing_value_is_not_mistaken_for_the_median(planted):
    X = planted.X.copy()
    X[0, 0] = np.nan
    detector = make_quick("stack").fit(X)
    filled = X[:1].copy()
    filled[0, 0] = np.nanmedian(X[:, 0])
    columns = detector._preprocess(np.vstack([X[:1], filled]))
    found = detector._unsupervised.training_rows.find(columns)
    assert found.tolist() == [0, -1]
