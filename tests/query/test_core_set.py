"""Core-set selection covers the table."""

import numpy as np
import pytest

from imboost.errors import IMBoostError
from imboost.query import CoreSet, EmbeddingStrategy, make_strategy

RNG = np.random.default_rng


def clusters(n_clusters=6, sizes=(200, 50, 20, 5, 3, 2)):
    centres = RNG(0).normal(size=(n_clusters, 2)) * 100
    member = np.repeat(np.arange(n_clusters), sizes)
    return centres[member] + RNG(1).normal(size=(len(member), 2)), member


def strategy_on(points, **settings):
    strategy = CoreSet(**settings)
    strategy.set_embedding(points)
    return strategy


@pytest.mark.parametrize("seed", range(5))
def test_the_rows_cover_all_clusters_also_small_ones(seed):
    points, member = clusters()
    rows = strategy_on(points).select(np.zeros(len(points)), np.arange(len(points)), 6, RNG(seed))
    assert set(member[rows]) == set(range(6))


def test_clusters_with_an_answer_are_covered_already():
    points, member = clusters()
    free = np.flatnonzero(member != 0)[1:]  # all of cluster 0 and one of cluster 1 are answered
    rows = strategy_on(points).select(np.zeros(len(points)), free, 4, RNG(0))
    assert set(member[rows]) == {2, 3, 4, 5}


def test_the_largest_distance_is_at_most_twice_the_best():
    points = np.linspace(0, 1, 41)[:, None]  # 4 centres cover them within 0.125 at best
    rows = strategy_on(points).select(np.zeros(41), np.arange(41), 4, RNG(3))
    distances = np.abs(points - points[rows].T).min(axis=1)
    assert distances.max() <= 0.25


def test_columns_count_alike_whatever_their_units():
    points = np.column_stack([np.linspace(0, 1000, 20), np.zeros(20)])
    points[7, 1] = 0.01
    others = np.setdiff1d(np.arange(20), [10])
    assert strategy_on(points).select(np.zeros(20), others, 1, RNG(0)).tolist() == [7]


def test_ties_are_broken_at_random():
    constant, twins = strategy_on(np.zeros((50, 2))), strategy_on(np.repeat([[0.0], [9.0]], 9, 0))
    batches = [constant.select(np.zeros(50), np.arange(1, 50), 3, RNG(s)) for s in range(20)]
    assert len({row for batch in batches for row in batch.tolist()}) > 25
    farthest = {int(twins.select(np.zeros(18), np.arange(1, 18), 1, RNG(s))[0]) for s in range(50)}
    assert farthest == set(range(9, 18))


def test_equal_rows_are_selected_once_each():
    rows = strategy_on(np.zeros((9, 2))).select(np.zeros(9), np.arange(1, 9), 8, RNG(0))
    assert sorted(rows.tolist()) == list(range(1, 9))


def test_a_large_table_is_covered_by_a_sample_of_it():
    points = RNG(0).normal(size=(500, 2))
    few = strategy_on(points, max_candidates=20)
    rows = few.select(np.zeros(500), np.arange(500), 5, RNG(0))
    everything = strategy_on(points).select(np.zeros(500), np.arange(500), 5, RNG(0))
    assert len(set(rows.tolist())) == 5
    assert set(rows.tolist()) != set(everything.tolist())
    assert len(few.select(np.zeros(500), np.arange(500), 300, RNG(0))) == 300


def test_twice_as_many_candidates_as_rows_to_select_are_not_sampled():
    points = RNG(0).normal(size=(40, 2))
    few, everything = (
        strategy_on(points, **settings).select(np.zeros(40), np.arange(40), 20, RNG(0))
        for settings in ({"max_candidates": 1}, {})
    )
    assert few.tolist() == everything.tolist()


def test_it_uses_an_embedding_and_refuses_wrong_settings():
    assert isinstance(CoreSet(), EmbeddingStrategy)
    with pytest.raises(IMBoostError, match="max_candidates must be at least 1"):
        make_strategy("core-set", max_candidates=0)
