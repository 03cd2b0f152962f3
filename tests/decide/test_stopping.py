"""When to stop asking, and what is said about it."""

import pytest

from imboost.decide import Estimate, Outcome
from imboost.present.wording import advice_text

PRECISION = Estimate(0.9, 0.8, 1.0)


def outcome(missed, recall, n_outliers=20):
    return Outcome(900, 60, n_outliers, PRECISION, missed, recall)


@pytest.mark.parametrize(("recall", "should_stop"), [(0.9, True), (0.3, False)])
def test_stop_once_the_recall_is_sufficient(recall, should_stop):
    found = outcome(Estimate(30, 20, 40), Estimate(recall, recall / 2, 1.0))
    assert found.should_stop == should_stop
    share = f"about {recall:.0%} of all outliers are found ({recall / 2:.0%} to 100%)"
    assert share in advice_text(found)
    assert "about 30 (20 to 40) are missed" in advice_text(found)


@pytest.mark.parametrize("n_outliers", [0, 20])
def test_stop_once_no_outlier_is_left(n_outliers):
    found = outcome(Estimate(0.1, 0, 0.5), Estimate(0.2, 0.1, 0.3), n_outliers)
    assert advice_text(found) == "Stop: no outlier seems to be left below the threshold."


def test_go_on_while_an_outlier_may_be_left():
    assert not outcome(Estimate(0.5, 0, 3), Estimate(0.2, 0.1, 0.3)).should_stop


def test_go_on_while_no_outlier_is_labelled():
    found = outcome(Estimate(50, 10, 200), Estimate(0.99, 0.9, 1.0), n_outliers=0)
    assert not found.should_stop
    assert "Go on: it is too early" in advice_text(found)


def test_a_wide_interval_is_no_reason_to_stop():
    assert not outcome(Estimate(20, 0, 500), Estimate(0.7, 0.1, 1.0)).should_stop
    assert outcome(Estimate(5, 0, 20), Estimate(0.7, 0.45, 1.0)).should_stop


def test_a_recall_near_zero_is_not_written_as_zero():
    found = outcome(Estimate(900, 400, 2000), Estimate(0.001, 0.0004, 0.004))
    assert "less than 1% of all outliers are found; about 900" in advice_text(found)
