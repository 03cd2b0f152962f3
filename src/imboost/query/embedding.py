"""Rows as points, for strategies that use distances between them."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from imboost.arrays import Floats, Indices
from imboost.query.strategy import Points
from imboost.stats.scaling import MinMaxScaling, StandardScaling


def standardise(points: Points) -> Points:
    """Return the points with columns of mean 0 and standard deviation 1."""
    scaled = MinMaxScaling.fit(points).transform(points)
    return StandardScaling.fit(scaled).transform(scaled)


def queried_rows(n_rows: int, candidates: Indices) -> Indices:
    """Return the rows that are no candidates: those with an answer or an open question."""
    return np.setdiff1d(np.arange(n_rows), candidates, assume_unique=True)


def distances_to_nearest(points: Points, queried: Points) -> Floats:
    """Return the distance of every point to the nearest queried one; infinite without any."""
    if len(queried) == 0:
        return np.full(len(points), np.inf)
    distances, _ = NearestNeighbors(n_neighbors=1).fit(queried).kneighbors(points)
    return np.asarray(distances[:, 0])
