import pandas as pd
import pytest

from imboost.benchmark.trace.findings import ClaimStatus, check_claims
from imboost.benchmark.trace.phases import phases_of, trace_frame, true_since
from imboost.benchmark.trace.recording import PhaseKind
from synthetic_traces import synthetic_trace

CLAIMS = {
    "memorization": 0,
    "inliers in the warm-up": 1,
    "outliers leave": 2,
    "inliers in the polarization": 3,
    "outliers in the polarization": 4,
    "both at once": 5,
    "gradients oppose": 6,
    "outlier gradient": 7,
}


def finding_on(claim, change=lambda update: {}):
    return check_claims(synthetic_trace(change))[CLAIMS[claim]]


def phases(change=lambda update: {}):
    return phases_of(trace_frame(synthetic_trace(change)))


def test_the_phases_are_two_warm_ups_and_the_rounds():
    found = [(p.name, p.before["update"], p.first["update"], p.last["update"]) for p in phases()]
    assert found == [
        ("plain warm-up", 1, 1, 8),
        ("trimmed warm-up", 8, 9, 16),
        ("round 1", 16, 17, 24),
        ("round 2", 24, 25, 32),
    ]


def test_changes_are_counted_from_the_update_before_a_phase():
    def drop(update):
        return {"inlier_risk": 1.0 if update.update < 9 else 0.0}

    plain, trimmed, *_ = phases(drop)
    assert plain.updates["inlier_fell"].mean() == 0
    assert trimmed.updates["inlier_fell"].mean() == pytest.approx(1 / 8)
    assert plain.updates["inlier_fell"].count() == 7  # the first update has none before it


@pytest.mark.parametrize(
    ("values", "since"),
    [((True, False, True, True), 3), ((False, True, False), None), ((True, True), 1)],
)
def test_a_claim_that_is_true_from_an_update_on_is_true_to_the_end(values, since):
    assert true_since(pd.Series(values, index=range(1, len(values) + 1))) == since


def test_every_claim_holds_in_a_trace_where_all_are_true():
    findings = check_claims(synthetic_trace())
    assert len(findings) == len(CLAIMS)
    assert {finding.outcome for finding in findings} == {ClaimStatus.HELD}


def test_a_falling_inlier_risk_is_reported_with_its_figures():
    finding = finding_on("inliers in the warm-up")
    assert finding.source == "Proposition 1"
    assert "mean loss of inliers fell from 3 to -5; it fell at 100% of the updates" in (
        finding.details
    )
    assert finding.figures == "3 → -5, fell at 100%"


def test_a_rising_inlier_risk_did_not_hold_and_the_median_is_reported():
    def rise(update):
        if update.phase is not PhaseKind.POLARIZATION:
            return {}
        return {"inlier_risk": -5.0 + update.round, "inlier_median": -6.0}

    finding = finding_on("inliers in the polarization", rise)
    assert finding.outcome == "did not hold"
    assert "mean loss of inliers rose from -5 to -3; it fell at 0% of the updates" in (
        finding.details
    )
    assert "median, which is robust to a few rows, fell from -5 to -6" in finding.details


def test_a_risk_that_falls_in_few_updates_held_in_part():
    def one_step(update):
        return {"inlier_risk": 3.0 if update.update < 16 else 2.0}

    finding = finding_on("inliers in the warm-up", one_step)
    assert finding.outcome == "held in part"
    assert "fell from 3 to 2; it fell at 12% of the updates" in finding.details


def test_an_outlier_risk_that_falls_did_not_hold():
    finding = finding_on("outliers in the polarization", lambda u: {"outlier_risk": -u.update})
    assert finding.outcome == "did not hold"
    assert "mean loss of outliers fell from -16 to -32" in finding.details


def test_rounds_that_part_the_risks_are_named():
    def second_round_fails(update):
        return {"outlier_risk": 45.0 - update.update} if update.round == 2 else {}

    finding = finding_on("both at once", second_round_fails)
    assert finding.outcome == "held in part"
    assert (
        "Both are true of 1 of 2 rounds, from the update before the round to its last: round 1."
        in finding.details
    )
    none = finding_on("both at once", lambda update: {"outlier_risk": 20.0})
    assert none.outcome == "did not hold"
    assert "They are not true of the polarization from start to end" in none.details


def test_outliers_that_leave_the_loss_are_counted_in_the_first_and_last_quarter():
    finding = finding_on("outliers leave")
    # 9 of 97 rows in each of the first two updates, 2 of 90 in the last two.
    assert "9.3% of the rows kept by trimming are outliers, in the last quarter 2.2%" in (
        finding.details
    )
    assert (
        "90% of the outliers in the batches are kept by trimming in the first quarter, 20% in"
        in finding.details
    )
    assert "M1 = 0.88" in finding.details
    assert "M2 = 0.09" in finding.details


@pytest.mark.parametrize(
    ("kept", "outcome"), [(9, "held in part"), (12, "did not hold")], ids=["below", "above"]
)
def test_a_small_change_of_the_share_of_outliers_does_not_count(kept, outcome):
    def hardly(update):
        return {"kept_outliers": kept - (update.update > 14)}

    finding = finding_on("outliers leave", hardly)
    assert finding.outcome == outcome
    assert "the change is not more than two standard errors" in finding.details


def test_risks_that_part_late_or_never_are_reported():
    late = finding_on("memorization", lambda u: {"outlier_risk": -9} if u.update < 12 else {})
    assert late.outcome == "held in part"
    assert "every update from 12 on. Trimming started before that, with update 9." in late.details
    never = finding_on("memorization", lambda update: {"outlier_risk": -99.0})
    assert never.outcome == "did not hold"
    assert "below the inlier risk. After the last update it is not above." in never.details


def test_gradients_that_agree_did_not_oppose():
    finding = finding_on("gradients oppose", lambda update: {"inner_product": 1.0})
    assert finding.outcome == "did not hold"
    assert "0% of the 32 updates that lead to such a model have a negative" in finding.details
    assert "At the last update it is not negative." in finding.details


def test_gradients_that_mostly_oppose_held_in_part_with_shares_by_phase():
    def late(update):
        return {"inner_product": 1.0 if update.update <= 8 else -1.0}

    finding = finding_on("gradients oppose", late)
    assert finding.outcome == "held in part"
    assert "75% of the 32 updates" in finding.details
    assert "it has been negative since update 9" in finding.details
    assert "plain warm-up: 0%; trimmed warm-up: 100%" in finding.details


def test_gradients_count_only_where_the_risks_are_apart():
    def together(update):
        return {"inner_product": 1.0, "outlier_risk": -99.0} if update.update <= 8 else {}

    finding = finding_on("gradients oppose", together)
    assert finding.outcome == "held"
    assert "of the 24 updates" in finding.details


def test_an_outlier_gradient_that_shrinks_did_not_hold():
    finding = finding_on(
        "outlier gradient", lambda update: {"outlier_gradient_norm": 4.0 / update.update}
    )
    assert finding.outcome == "did not hold"
    assert "The smallest norm is 0.125, at update 32." in finding.details


def test_the_cosine_follows_from_product_and_norms_and_is_0_if_a_gradient_vanishes():
    def vanish(update):
        return {"outlier_gradient_norm": 0.0, "inner_product": 0.0} if update.update == 2 else {}

    assert trace_frame(synthetic_trace(vanish))["cosine"].tolist()[:3] == [-0.5, 0.0, -0.5]
