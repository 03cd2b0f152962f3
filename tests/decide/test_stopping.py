"""When to stop asking."""

import pytest

from imboost.decide import Estimate, Outcome, advise

PRECISION = Estimate(0.9, 0.8, 1.0)


def outcome(unfound, share, n_known=20):
    """Return what is known and estimated after 60 answers."""
    return Outcome(900, 60, n_known, PRECISION, unfound, share)


@pytest.mark.parametrize(("share", "is_stop"), [(0.9, True), (0.3, False)])
def test_it_is_time_to_stop_once_most_are_found(share, is_stop):
    advice = advise(outcome(Estimate(30, 20, 40), Estimate(share, share / 2, 1.0)))
    assert advice.is_stop == is_stop
    assert f"about {100 * share:.0f} % of all outliers are found" in str(advice)
    assert "some 30 (20 to 40) are not" in str(advice)


@pytest.mark.parametrize("n_known", [0, 20])
def test_it_is_time_to_stop_once_nothing_is_left(n_known):
    advice = advise(outcome(Estimate(0.1, 0, 0.5), Estimate(0.2, 0.1, 0.3), n_known))
    assert str(advice) == "Stop: no outlier seems to be left below the threshold."


def test_without_an_outlier_found_there_is_no_reason_to_stop():
    advice = advise(outcome(Estimate(50, 10, 200), Estimate(0.99, 0.9, 1.0), n_known=0))
    assert not advice.is_stop
    assert "no answer says outlier yet" in advice.reason
