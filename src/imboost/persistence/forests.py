"""Random forests of scikit-learn in the file format of skops, which holds no pickle."""

from __future__ import annotations

import copy
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
)

FORESTS = (ExtraTreesClassifier, ExtraTreesRegressor, IsolationForest, RandomForestClassifier)

TREE = "sklearn.tree._tree.Tree"
"""Trusted here, although skops does not trust it: `_check_tree` checks its nodes."""

LEAF = -1  # scikit-learn's child of a leaf


def dump_forests(forests: dict[str, Any]) -> bytes:
    """Return the content of a skops file with named forests."""
    import skops.io  # takes half a second

    saved = {name: _without_shared_attributes(forest) for name, forest in forests.items()}
    content: bytes = skops.io.dumps(saved, compression=ZIP_DEFLATED)
    return content


def load_forests(content: bytes) -> dict[str, Any]:
    """Return the forests in a skops file; raise if it holds anything else."""
    import skops.io

    forests: dict[str, Any] = skops.io.loads(content, trusted=[TREE])
    for forest in forests.values():
        if type(forest) not in FORESTS:
            raise TypeError(f"{type(forest).__name__} is not a forest")
        shared = dict(vars(forest.estimators_[0]))
        for estimator in forest.estimators_:
            vars(estimator).update(shared | vars(estimator))
            _check_tree(estimator.tree_, forest.n_features_in_)
    return forests


def _without_shared_attributes(forest: Any) -> Any:
    """Return a copy whose trees lack the attributes that they have in common with the first one.

    Most attributes are settings, equal in all trees. skops takes twice as long with them.
    """
    first, *others = forest.estimators_
    light = copy.copy(forest)
    light.estimators_ = [first]
    for estimator in others:
        own = copy.copy(estimator)
        for name, value in vars(estimator).items():
            if np.array_equal(value, getattr(first, name)):
                delattr(own, name)
        light.estimators_.append(own)
    return light


def _check_tree(tree: Any, n_features: int) -> None:
    """Raise unless every path through a tree ends in a leaf: scikit-learn does not check."""
    numbers = np.arange(tree.node_count)
    inner = tree.children_left != LEAF
    for children in (tree.children_left, tree.children_right):
        leads_on = (children > numbers) & (children < tree.node_count)
        if not (leads_on | ~inner).all():
            raise ValueError("a tree has a node with an impossible child")
    features = tree.feature[inner]
    if ((features < 0) | (features >= n_features)).any():
        raise ValueError("a tree splits on a column that does not exist")
