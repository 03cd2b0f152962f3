"""Forests as arrays: they predict as scikit-learn's do, and impossible nodes are refused."""

from dataclasses import fields, replace

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier

from imboost.detectors.stack.forests import Forest


@pytest.fixture
def X():  # noqa: N802
    return np.random.default_rng(0).normal(size=(200, 4))


@pytest.fixture
def forest(X):
    return Forest.from_trees(ExtraTreesClassifier(3).fit(X, X[:, 0] > 0.5).estimators_)


@pytest.mark.parametrize("kind", [ExtraTreesClassifier, RandomForestClassifier])
def test_the_probability_of_an_outlier_is_that_of_scikit_learn(X, kind):
    fitted = kind(9).fit(X, X[:, 0] > 0.5)
    forest = Forest.from_trees(fitted.estimators_)
    np.testing.assert_allclose(forest.predict(X), fitted.predict_proba(X)[:, 1])


def test_the_leaves_hold_all_outputs_of_a_regression(X):
    fitted = ExtraTreesRegressor(5, max_depth=4).fit(X, X[:, :2])
    forest = Forest.from_trees(fitted.estimators_)
    found = [values[leaves] for values, leaves in forest.leaves(X)]
    np.testing.assert_allclose(np.mean(found, axis=0), fitted.predict(X))


def test_a_forest_holds_numbers_and_arrays_alone(forest):
    stored = [getattr(forest, field.name) for field in fields(forest)]
    assert {type(part) for part in stored} == {int, np.ndarray}
    assert all(part.dtype.kind in "if" for part in stored[1:])


def test_rows_of_another_width_are_refused(forest, X):
    with pytest.raises(ValueError, match="takes rows of 4 columns, got 3"):
        next(forest.leaves(X[:, :3]))


@pytest.mark.parametrize(
    ("field", "change", "message"),
    [
        ("children", {(0, 0): 0}, "impossible child"),
        ("children", {(0, 1): 10**6}, "impossible child"),
        ("children", {(0, 1): -7}, "impossible child"),
        ("children", {(0, 0): -7}, "impossible child"),
        ("features", {0: 99}, "column that does not exist"),
        ("features", {0: -5}, "column that does not exist"),
        ("n_nodes", {0: 0}, "other numbers of nodes"),
        ("n_nodes", {0: 10**6}, "other numbers of nodes"),
        ("n_nodes", slice(0), "other numbers of nodes"),
        ("values", slice(1), "other numbers of nodes"),
        ("children", slice(2), "shape"),
    ],
)
def test_impossible_nodes_are_refused(forest, X, field, change, message):
    array = getattr(forest, field).copy()
    if isinstance(change, slice):
        array = array[change]
    else:
        for place, value in change.items():
            array[place] = value
    with pytest.raises(ValueError, match=message):
        replace(forest, **{field: array}).predict(X)
