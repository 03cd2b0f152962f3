from dataclasses import replace

import pytest

from imboost.benchmark.trace.findings import Finding, judge
from imboost.benchmark.trace.phases import first_for_good, is_opposed, stages_of
from imboost.benchmark.trace.recording import Phase
from made_up_traces import START, made_up_trace

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


def verdict_on(claim, change=lambda update: {}):
    return judge(made_up_trace(change))[CLAIMS[claim]]


def test_a_trace_falls_into_two_warm_ups_and_the_rounds():
    stages = stages_of(made_up_trace())
    assert [stage.name for stage in stages] == [
        "plain warm-up",
        "trimmed warm-up",
        "round 1",
        "round 2",
    ]
    assert [(stage.first.update, stage.last.update) for stage in stages] == [
        (1, 8),
        (9, 16),
        (17, 24),
        (25, 32),
    ]
    assert [stage.before.update for stage in stages] == [1, 8, 16, 24]


def test_the_share_of_changes_counts_the_step_into_a_stage():
    def jump(update):
        return {"inlier_risk": 0.0 if update.update < 9 else 1.0}

    plain, trimmed, *_ = stages_of(made_up_trace(jump))

    def rose(before, after):
        return after.inlier_risk > before.inlier_risk

    assert plain.share_of_changes(rose) == 0
    assert trimmed.share_of_changes(rose) == pytest.approx(1 / 8)


@pytest.mark.parametrize(
    ("signs", "since"), [((-1, 1, -1, -1), 3), ((1, -1, 1), None), ((-1, -1), 1)]
)
def test_what_holds_for_good_holds_to_the_end(signs, since):
    updates = [
        replace(START, update=number, inner_product=sign)
        for number, sign in enumerate(signs, start=1)
    ]
    assert first_for_good(updates, is_opposed) == since


def test_where_every_claim_is_true_every_verdict_says_so():
    verdicts = judge(made_up_trace())
    assert len(verdicts) == len(CLAIMS)
    assert {verdict.finding for verdict in verdicts} == {Finding.HELD}


def test_a_falling_inlier_risk_is_told_with_its_figures():
    verdict = verdict_on("inliers in the warm-up")
    assert verdict.source == "Proposition 1"
    assert "mean loss of inliers fell from 3 to -5; it fell at 100% of the updates" in (
        verdict.words
    )
    assert verdict.figures == "3 → -5, fell at 100%"


def test_a_rising_inlier_risk_did_not_hold_and_the_median_is_told_beside_it():
    def rise(update):
        if update.phase is not Phase.POLARIZATION:
            return {}
        return {"inlier_risk": -5.0 + update.round, "inlier_median": -6.0}

    verdict = verdict_on("inliers in the polarization", rise)
    assert verdict.finding == "did not hold"
    assert "mean loss of inliers rose from -5 to -3; it fell at 0% of the updates" in (
        verdict.words
    )
    assert "median, which a few rows cannot move, fell from -5 to -6" in verdict.words


def test_a_risk_that_falls_in_few_updates_held_in_part():
    def one_step(update):
        return {"inlier_risk": 3.0 if update.update < 16 else 2.0}

    verdict = verdict_on("inliers in the warm-up", one_step)
    assert verdict.finding == "held in part"
    assert "fell from 3 to 2; it fell at 12% of the updates" in verdict.words


def test_an_outlier_risk_that_falls_did_not_hold():
    verdict = verdict_on("outliers in the polarization", lambda u: {"outlier_risk": -u.update})
    assert verdict.finding == "did not hold"
    assert "mean loss of outliers fell from -16 to -32" in verdict.words


def test_rounds_that_part_the_risks_are_named():
    def second_round_fails(update):
        return {"outlier_risk": 45.0 - update.update} if update.round == 2 else {}

    verdict = verdict_on("both at once", second_round_fails)
    assert verdict.finding == "held in part"
    assert "1 of 2 rounds did both: round 1." in verdict.words
    none = verdict_on("both at once", lambda update: {"outlier_risk": 20.0})
    assert none.finding == "did not hold"
    assert "0 of 2 rounds did both. The polarization as a whole did not." in none.words


def test_outliers_that_leave_the_loss_are_counted_in_the_first_and_last_quarter():
    verdict = verdict_on("outliers leave")
    # 9 of 97 rows in each of the first two updates, 2 of 90 in the last two.
    assert "9.3% of the rows inside the loss are outliers, in the last quarter 2.2%" in (
        verdict.words
    )
    assert "90% were inside at first, 20% at last" in verdict.words
    assert "M1 = 0.88" in verdict.words
    assert "M2 = 0.09" in verdict.words


@pytest.mark.parametrize(
    ("kept", "finding"), [(9, "held in part"), (12, "did not hold")], ids=["below", "above"]
)
def test_a_share_of_outliers_that_chance_may_explain_did_not_fall(kept, finding):
    def hardly(update):
        return {"kept_outliers": kept - (update.update > 14)}

    verdict = verdict_on("outliers leave", hardly)
    assert verdict.finding == finding
    assert "chance alone may well make" in verdict.words


def test_risks_that_part_late_or_never_are_told():
    late = verdict_on("memorization", lambda u: {"outlier_risk": -9} if u.update < 12 else {})
    assert late.finding == "held in part"
    assert "every update from 12 on. Trimming began before that, with update 9." in late.words
    never = verdict_on("memorization", lambda update: {"outlier_risk": -99.0})
    assert never.finding == "did not hold"
    assert "below the inlier risk. After the last update it is not above." in never.words


def test_gradients_that_agree_did_not_oppose():
    verdict = verdict_on("gradients oppose", lambda update: {"inner_product": 1.0})
    assert verdict.finding == "did not hold"
    assert "Of the 32 updates that left such a model, 0% have a negative" in verdict.words
    assert "At the last update it is not negative." in verdict.words


def test_gradients_that_mostly_oppose_held_in_part_with_their_stages():
    def late(update):
        return {"inner_product": 1.0 if update.update <= 8 else -1.0}

    verdict = verdict_on("gradients oppose", late)
    assert verdict.finding == "held in part"
    assert "75% have a negative" in verdict.words
    assert "it has been negative since update 9" in verdict.words
    assert "plain warm-up: 0%; trimmed warm-up: 100%" in verdict.words


def test_gradients_count_only_where_the_risks_are_apart():
    def together(update):
        return {"inner_product": 1.0, "outlier_risk": -99.0} if update.update <= 8 else {}

    verdict = verdict_on("gradients oppose", together)
    assert verdict.finding == "held"
    assert "Of the 24 updates" in verdict.words


def test_an_outlier_gradient_that_shrinks_did_not_hold():
    verdict = verdict_on(
        "outlier gradient", lambda update: {"outlier_gradient_norm": 4.0 / update.update}
    )
    assert verdict.finding == "did not hold"
    assert "The smallest norm is 0.125, at update 32." in verdict.words


def test_the_cosine_follows_from_product_and_norms():
    assert START.cosine == -0.5
