"""Ranks among the training rows."""

import numpy as np

from imboost.stats.ranks import RankTransform


def test_ranks_are_fractions_of_the_training_rows_below_and_ties_count_half():
    ranks = RankTransform.fit(np.array([[1.0, 10.0], [2.0, 10.0], [2.0, 30.0], [4.0, 20.0]]))
    found = ranks.transform(np.array([[2.0, 10.0], [9.0, 0.0]]))
    assert found.tolist() == [[0.5, 0.25], [1.0, 0.0]]
