"""Forests pass through the file format of skops unchanged."""

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
)

from imboost.persistence.forests import dump_forests, load_forests

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    "forest",
    [
        ExtraTreesClassifier(5, random_state=0),
        ExtraTreesRegressor(5, bootstrap=True, max_features=2, random_state=0),
        IsolationForest(n_estimators=5, random_state=0),
        RandomForestClassifier(5, min_samples_leaf=2, random_state=0),
        RandomForestClassifier(1, random_state=0),
    ],
    ids=repr,
)
def test_every_tree_comes_back_with_all_its_attributes(forest):
    forest.fit(X, Y)
    loaded = load_forests(dump_forests({"one": forest}))["one"]
    np.testing.assert_array_equal(loaded.predict(X), forest.predict(X))
    np.testing.assert_array_equal(
        loaded.estimators_[-1].predict(X), forest.estimators_[-1].predict(X)
    )
    for found, tree in zip(loaded.estimators_, forest.estimators_, strict=True):
        assert vars(found).keys() == vars(tree).keys()
        assert found.get_params() == tree.get_params()
        np.testing.assert_array_equal(found.tree_.threshold, tree.tree_.threshold)
    if getattr(forest, "bootstrap", False):
        for found, sampled in zip(
            loaded.estimators_samples_, forest.estimators_samples_, strict=True
        ):
            np.testing.assert_array_equal(found, sampled)
