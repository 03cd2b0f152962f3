"""Forests of scikit-learn as plain arrays: what their quick scoring needs, and no more.

The nodes of all trees stand one after the other. Only leaves have values, and few of these are
not 0 where there are many classes, so that values are kept as places and numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier, ExtraTreeRegressor
from sklearn.tree._tree import NODE_DTYPE, Tree

from imboost.persistence.serializers import Fields, Way

TREES = {
    ExtraTreesClassifier: ExtraTreeClassifier,
    ExtraTreesRegressor: ExtraTreeRegressor,
    IsolationForest: ExtraTreeRegressor,
    RandomForestClassifier: DecisionTreeClassifier,
}
"""What the trees of a forest are."""

LINKS = ("left_child", "right_child", "feature")
NODE_FIELDS = (*LINKS, "threshold", "missing_go_to_left")
"""What decides which way a row takes; children of a leaf are -1."""

LEAF = -1
ISOLATION_SIZES = ("_max_samples", "_max_features", "offset_")
PER_NODE = ("_decision_path_lengths", "_average_path_length_per_tree")
"""What an isolation forest knows besides its trees: numbers, and tuples of an array a tree."""


def forest() -> Way:
    """Return the way of a forest: the nodes of its trees."""
    return Way(_take_apart, _put_together)


def _take_apart(ensemble: Any) -> Fields:
    trees = [estimator.tree_ for estimator in ensemble.estimators_]
    nodes = np.concatenate([tree.__getstate__()["nodes"] for tree in trees])
    parts: Fields = {name: nodes[name] for name in NODE_FIELDS}
    parts |= {name: parts[name].astype(np.int32) for name in LINKS}
    values = np.concatenate([tree.value[:, 0, :] for tree in trees])  # (nodes, classes)
    values = np.where((parts["left_child"] == LEAF)[:, None], values, 0.0).ravel()
    places = np.flatnonzero(values)
    parts |= {"value_places": places, "values": values[places]}
    parts["sizes"] = np.array([tree.node_count for tree in trees])
    parts["depths"] = np.array([tree.max_depth for tree in trees])
    parts["n_features"] = int(ensemble.n_features_in_)
    parts["classes"] = getattr(ensemble, "classes_", None)
    if isinstance(ensemble, IsolationForest):
        parts["columns"] = np.stack(ensemble.estimators_features_)
        parts |= {name: vars(ensemble)[name] for name in ISOLATION_SIZES}
        parts |= {name: np.concatenate(vars(ensemble)[name]) for name in PER_NODE}
    return parts


def _put_together(made: Any, parts: Fields) -> Any:
    classes = parts["classes"]
    known: Fields = {"n_features_in_": parts["n_features"], "n_outputs_": 1}
    if classes is not None:
        known |= {"classes_": classes, "n_classes_": len(classes)}
    spans = _spans(parts["sizes"], n_nodes=len(parts["threshold"]))
    ensemble = made(n_estimators=len(spans))
    vars(ensemble).update(known, estimators_=[])
    for tree in _trees(parts, spans, n_values=1 if classes is None else len(classes)):
        estimator = TREES[made]()
        vars(estimator).update(known, tree_=tree)
        ensemble.estimators_.append(estimator)
    if made is IsolationForest:
        vars(ensemble).update({name: parts[name] for name in ISOLATION_SIZES})
        vars(ensemble).update({name: tuple(parts[name][s] for s in spans) for name in PER_NODE})
        ensemble.estimators_features_ = list(parts["columns"])
    return ensemble


def _spans(sizes: NDArray[np.int64], n_nodes: int) -> list[slice]:
    """Return where the nodes of every tree stand."""
    if (sizes < 1).any() or sizes.sum() != n_nodes:
        raise ValueError("trees do not have the nodes that they should have")
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes.tolist(), strict=True)]


def _trees(parts: Fields, spans: list[slice], n_values: int) -> Iterator[Tree]:
    n_features = parts["n_features"]
    nodes = np.zeros(len(parts["threshold"]), dtype=NODE_DTYPE)
    for name in NODE_FIELDS:
        nodes[name] = parts[name]
    values = np.zeros((len(nodes), 1, n_values))
    values.flat[parts["value_places"]] = parts["values"]
    for span, depth in zip(spans, parts["depths"].tolist(), strict=True):
        own = nodes[span]
        _check_nodes(own, n_features)
        tree = Tree(n_features, np.array([n_values], dtype=np.intp), 1)
        state = {"max_depth": depth, "node_count": len(own)}
        tree.__setstate__({**state, "nodes": own, "values": values[span]})
        yield tree


def _check_nodes(nodes: NDArray[Any], n_features: int) -> None:
    """Raise unless every way through a tree ends in a leaf of it: scoring itself never looks."""
    places = np.arange(len(nodes))
    inner = nodes["left_child"] != LEAF
    for child in ("left_child", "right_child"):
        onward = (nodes[child] > places) & (nodes[child] < len(nodes))
        if not (onward | ~inner).all():
            raise ValueError("a tree leads nowhere")
    looked_at = nodes["feature"][inner]
    if ((looked_at < 0) | (looked_at >= n_features)).any():
        raise ValueError("a tree looks at a column that does not exist")
