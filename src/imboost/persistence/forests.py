"""Random forests of scikit-learn in the file format of skops, which holds no pickle."""

from __future__ import annotations

import copy
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

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

# Largest size of all forests, in bytes: forests of equal trees are compressed about 50 times.
MAX_COMPRESSION = 200
MIN_BYTES = 1 << 24


def dump_forests(forests: dict[str, Any]) -> bytes:
    """Return the content of a skops file with named forests."""
    import skops.io  # takes half a second

    saved = {name: _without_shared_attributes(forest) for name, forest in forests.items()}
    content: bytes = skops.io.dumps(saved, compression=ZIP_DEFLATED)
    return content


def load_forests(content: bytes) -> dict[str, Any]:
    """Return the forests in a skops file; raise if it holds anything else."""
    import skops.io

    _check_size(content)
    forests: dict[str, Any] = skops.io.loads(content, trusted=[TREE])
    for forest in forests.values():
        if type(forest) not in FORESTS:
            raise TypeError(f"{type(forest).__name__} is not a forest")
        shared = dict(vars(forest.estimators_[0]))
        for estimator in forest.estimators_:
            vars(estimator).update(shared | vars(estimator))
            _check_tree(estimator.tree_)
            estimator.tree_ = CheckedTree(estimator.tree_)
    return forests


class CheckedTree:
    """A loaded tree that refuses rows of another width than its own.

    scikit-learn's trees read the columns of a row unchecked: a file could make them read any
    memory. The number of columns that a tree names itself is worth nothing; the rows that the
    detector gives it decide.
    """

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def __getattr__(self, name: str) -> Any:
        if name == "tree":  # while it is copied
            raise AttributeError(name)
        return getattr(self.tree, name)

    def predict(self, X: Any) -> Any:
        """Return the values of the leaves of rows."""
        return self.tree.predict(self._checked(X))

    def apply(self, X: Any) -> Any:
        """Return the leaves of rows."""
        return self.tree.apply(self._checked(X))

    def decision_path(self, X: Any) -> Any:
        """Return the nodes that rows pass."""
        return self.tree.decision_path(self._checked(X))

    def _checked(self, X: Any) -> Any:
        if X.shape[1] != self.tree.n_features:
            raise ValueError(
                f"a tree takes rows of {self.tree.n_features} columns, got {X.shape[1]}"
            )
        return X


def _with_own_tree(estimator: Any) -> Any:
    """Return an estimator with scikit-learn's tree, also if it was loaded."""
    if not isinstance(estimator.tree_, CheckedTree):
        return estimator
    own = copy.copy(estimator)
    own.tree_ = estimator.tree_.tree
    return own


def _check_size(content: bytes) -> None:
    """Raise if a file would fill the memory when it is decompressed."""
    with ZipFile(BytesIO(content)) as archive:
        n_bytes = sum(entry.file_size for entry in archive.infolist())
    if n_bytes > MAX_COMPRESSION * len(content) + MIN_BYTES:
        raise ValueError(f"its forests claim {n_bytes:,} bytes, far more than the file can hold")


def _without_shared_attributes(forest: Any) -> Any:
    """Return a copy whose trees lack the attributes that they have in common with the first one.

    Most attributes are settings, equal in all trees. skops takes twice as long with them.
    """
    estimators = [_with_own_tree(estimator) for estimator in forest.estimators_]
    first, *others = estimators
    light = copy.copy(forest)
    light.estimators_ = [first]
    for estimator in others:
        own = copy.copy(estimator)
        for name, value in vars(estimator).items():
            if np.array_equal(value, getattr(first, name)):
                delattr(own, name)
        light.estimators_.append(own)
    return light


def _check_tree(tree: Any) -> None:
    """Raise unless every path through a tree ends in a leaf: scikit-learn does not check."""
    if tree.node_count < 1:
        raise ValueError("a tree has no node")
    numbers = np.arange(tree.node_count)
    inner = tree.children_left != LEAF
    for children in (tree.children_left, tree.children_right):
        leads_on = (children > numbers) & (children < tree.node_count)
        if not (leads_on | ~inner).all():
            raise ValueError("a tree has a node with an impossible child")
    both = np.concatenate([tree.children_left[inner], tree.children_right[inner]])
    if len(np.unique(both)) < len(both):
        raise ValueError("a tree has a node with two parents")
    features = tree.feature[inner]
    if ((features < 0) | (features >= tree.n_features)).any():
        raise ValueError("a tree splits on a column that does not exist")
    if tree.compute_node_depths().max() - 1 > tree.max_depth:  # the root has the depth 1
        raise ValueError("a tree is deeper than it says")
