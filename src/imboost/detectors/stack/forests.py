"""The trees of scikit-learn's forests as plain arrays, which any version of it can score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from imboost.arrays import Floats, Indices

LEAF = -1  # child of a leaf


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees whose nodes are rows of arrays, tree after tree; the first node of a tree is its root.

    A row goes left where its feature is at most the threshold, in single precision.

    Parameters
    ----------
    n_features : int
        Columns of the rows that the trees take.
    n_nodes : array of shape (n_trees,)
        Number of nodes of each tree.
    children : array of shape (n_nodes, 2)
        Left and right child, counted from the root of the tree; -1 in leaves.
    features : array of shape (n_nodes,)
        Column that a node compares.
    thresholds : array of shape (n_nodes,)
    values : array of shape (n_nodes, n_values)
        What a leaf predicts.
    """

    n_features: int
    n_nodes: Indices
    children: NDArray[np.int32]
    features: NDArray[np.int32]
    thresholds: Floats
    values: Floats

    @classmethod
    def from_trees(
        cls, estimators: Sequence[Any], values: Sequence[Floats] | None = None
    ) -> Forest:
        """Copy the fitted trees of a forest, by default with their own predictions as values.

        The values of a classifier are the probabilities of its classes, those of a regressor its
        outputs.
        """
        trees = [estimator.tree_ for estimator in estimators]
        if values is None:
            values = [tree.value.reshape(tree.node_count, -1) for tree in trees]
        children = [np.column_stack([tree.children_left, tree.children_right]) for tree in trees]
        return cls(
            trees[0].n_features,
            np.array([tree.node_count for tree in trees]),
            np.concatenate(children).astype(np.int32),
            np.concatenate([tree.feature for tree in trees]).astype(np.int32),
            np.concatenate([tree.threshold for tree in trees]),
            np.concatenate(values),
        )

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.n_nodes)

    def leaves(self, X: NDArray[Any]) -> Iterator[tuple[Floats, Indices]]:
        """Yield the values of each tree's nodes, and the leaf that every row reaches."""
        if X.shape[1] != self.n_features:  # scikit-learn's trees would read beyond the row
            raise ValueError(f"a tree takes rows of {self.n_features} columns, got {X.shape[1]}")
        rows = np.ascontiguousarray(X, dtype=np.float32)
        for tree, values in self._trees:
            yield values, tree.apply(rows)

    def predict(self, X: NDArray[Any]) -> Floats:
        """Return the mean of the last value over the trees: the probability of the last class.

        The methods of scikit-learn's forests return the same; for few rows their checks take ten
        times as long as the trees.
        """
        total = np.zeros(len(X))
        for values, leaves in self.leaves(X):
            total += values[:, -1][leaves]
        return total / len(self)

    @cached_property
    def _trees(self) -> list[tuple[Any, Floats]]:
        """Trees of the installed scikit-learn, and the values of their nodes.

        Its compiled code is two to three times as fast as numpy. A tree takes its nodes from
        `__setstate__`; their fields are looked up in a tree of the installed version.
        """
        nodes = self._checked_nodes()
        make = type(_template())
        trees = []
        for start, stop in pairwise([0, *np.cumsum(self.n_nodes).tolist()]):
            tree = make(self.n_features, np.ones(1, dtype=np.intp), 1)
            state = {"max_depth": 0, "node_count": stop - start, "nodes": nodes[start:stop]}
            tree.__setstate__(state | {"values": np.zeros((stop - start, 1, 1))})
            trees.append((tree, self.values[start:stop]))
        return trees

    def _checked_nodes(self) -> NDArray[Any]:
        """Return the nodes as scikit-learn stores them; raise unless all paths end in a leaf.

        scikit-learn does not check: a file could make it read any memory, or never end.
        """
        nodes = np.zeros(len(self.values), _template().__getstate__()["nodes"].dtype)
        is_possible = (self.n_nodes >= 1) & (self.n_nodes <= len(nodes))
        if not is_possible.all() or self.n_nodes.sum() != len(nodes) or not len(nodes):
            raise ValueError("a forest has other numbers of nodes than its trees")
        left, right = nodes["left_child"], nodes["right_child"]
        left[:], right[:] = self.children.T
        nodes["feature"], nodes["threshold"] = self.features, self.thresholds
        first = np.repeat(np.cumsum(self.n_nodes) - self.n_nodes, self.n_nodes)
        number, size = np.arange(len(nodes)) - first, np.repeat(self.n_nodes, self.n_nodes)
        is_leaf = left == LEAF
        for child in (left, right):
            if not (is_leaf | ((child > number) & (child < size))).all():
                raise ValueError("a tree has a node with an impossible child")
        if not (is_leaf | ((nodes["feature"] >= 0) & (nodes["feature"] < self.n_features))).all():
            raise ValueError("a tree splits on a column that does not exist")
        return nodes


@cache
def _template() -> Any:
    """Return a tree of the installed scikit-learn."""
    return DecisionTreeRegressor().fit([[0.0]], [0.0]).tree_
