import numpy as np
import pytest

from imboost_bench.run.metrics import auc_and_ap

Y = np.array([0, 1, 0, 1])


def test_auc_and_average_precision_are_those_worked_out_by_hand():
    # Ranked: outlier, inlier, outlier, inlier. Three of four pairs are in order, and
    # precision is 1/1 and 2/3 at the outliers.
    auc, ap = auc_and_ap(Y, np.array([3.0, 4.0, 1.0, 2.0]))
    assert auc == pytest.approx(3 / 4)
    assert ap == pytest.approx((1 + 2 / 3) / 2)


def test_equal_scores_have_the_auc_of_chance():
    auc, ap = auc_and_ap(Y, np.zeros(4))
    assert (auc, ap) == (0.5, 0.5)
