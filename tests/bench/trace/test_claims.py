import re

import pytest

from imboost_bench.trace.claims import (
    AS_THEY_ARE,
    SCALED,
    SCALED_EACH,
    Reading,
    check_claims,
    trace_frame,
)
from imboost_bench.trace.recording import PhaseKind
from synthetic_traces import SPREAD, synthetic_trace

CLAIMS = {
    "memorization": ("Assumption 1", "Once inliers"),
    "bounded gradients": ("Assumption 2.1", "The gradient of every row"),
    "smooth gradients": ("Assumption 2.2", "Both risks are smooth"),
    "dominating gradient": ("Assumption 2.3", "The gradient of the inlier risk"),
    "margin": ("Assumption 3", "The mean square root"),
    "gradients oppose": ("Assumption 4", "The gradients of the two risks"),
    "outlier gradient": ("Assumption 4", "The gradient of the outlier risk"),
    "outliers below": ("Lemma 1", "The fraction of outliers"),
    "bounded sums": ("Lemma 2", "A sum of bounded variables"),
    "random vectors": ("Lemma 3", "A sum of random vectors"),
    "inliers kept": ("Lemma 4", "Inliers kept by trimming"),
    "outliers kept": ("Lemma 4", "Outliers kept by trimming"),
    "outliers leave": ("Lemma 4", "Main text: in the warm-up"),
    "balanced answers": ("Lemma 5", "u₁²/a + u₂²/(n − a)"),
    "inliers in the warm-up": ("Proposition 1", "The inlier risk falls in the warm-up"),
    "factor in the warm-up": ("Proposition 1", "The inlier risk falls by a factor of 1.03"),
    "factor in the polarization": ("Proposition 2", "The inlier risk falls by a factor of 1.03"),
    "inliers in the polarization": ("Proposition 2", "The inlier risk falls in"),
    "outliers in the polarization": ("Proposition 2", "The outlier risk rises in"),
    "both at once": ("Proposition 2", "Both at once"),
}


def finding_on(claim, change=lambda update: {}, losses=AS_THEY_ARE, **options):
    source, start = CLAIMS[claim]
    [finding] = [
        finding
        for finding in check_claims(synthetic_trace(change, **options))
        if finding.source == source
        and finding.claim.startswith(start)
        and finding.losses in ("", losses)
    ]
    return finding


def phases(change=lambda update: {}):
    return Reading(synthetic_trace(change)).phases


def test_the_phases_are_two_warm_ups_and_the_rounds():
    found = [
        (name, own.before["update"], own.first["update"], own.last["update"])
        for name, own in phases().items()
    ]
    assert found == [
        ("plain warm-up", 1, 1, 8),
        ("trimmed warm-up", 8, 9, 16),
        ("round 1", 16, 17, 24),
        ("round 2", 24, 25, 32),
    ]


def test_changes_are_counted_from_the_update_before_a_phase():
    def drop(update):
        return {"inlier_risk": 1.0 if update.update < 9 else 0.0}

    plain, trimmed, *_ = phases(drop).values()
    assert plain.updates["inlier_fell"].mean() == 0
    assert trimmed.updates["inlier_fell"].mean() == pytest.approx(1 / 8)
    assert plain.updates["inlier_fell"].count() == 7  # the first update has none before it


def test_every_claim_holds_in_a_trace_where_all_are_true():
    findings = check_claims(synthetic_trace())
    claims = [(finding.source, finding.claim) for finding in findings]
    for source, start in CLAIMS.values():
        assert any(own == source and claim.startswith(start) for own, claim in claims)
    proved = {f.source for f in findings if f.outcome == "proved"}
    assert proved == {"Lemma 2", "Lemma 3", "Lemma 5"}
    others = {finding.outcome for finding in findings if finding.source not in proved}
    assert others == {"held"}


def test_every_proposition_lemma_and_assumption_of_the_paper_has_a_finding():
    sources = {finding.source.split(".")[0] for finding in check_claims(synthetic_trace())}
    assert sources == {
        *(f"Assumption {number}" for number in (1, 2, 3, 4)),
        *(f"Lemma {number}" for number in (1, 2, 3, 4, 5)),
        *(f"Proposition {number}" for number in (1, 2)),
    }


def test_a_falling_inlier_risk_is_reported_with_its_figures():
    finding = finding_on("inliers in the warm-up")
    assert finding.source == "Proposition 1"
    assert finding.figures == "3 → −5, fell at 100%; median 3 → −5"


def test_a_rising_inlier_risk_did_not_hold_and_the_median_is_reported():
    def rise(update):
        if update.phase is not PhaseKind.POLARIZATION:
            return {}
        return {"inlier_risk": -5.0 + update.round, "inlier_median": -6.0}

    finding = finding_on("inliers in the polarization", rise)
    assert finding.outcome == "did not hold"
    assert finding.figures == "−5 → −3, fell at 0%; median −5 → −6"


def test_a_risk_that_falls_in_few_updates_held_in_part():
    def one_step(update):
        return {"inlier_risk": 3.0 if update.update < 16 else 2.0}

    finding = finding_on("inliers in the warm-up", one_step)
    assert finding.outcome == "held in part"
    assert finding.figures.startswith("3 → 2, fell at 12%")


def test_an_outlier_risk_that_falls_did_not_hold():
    finding = finding_on("outliers in the polarization", lambda u: {"outlier_risk": -u.update})
    assert finding.outcome == "did not hold"
    assert finding.figures.startswith("−16 → −32, rose at 0%")


def test_rounds_that_part_the_risks_are_counted():
    def second_round_fails(update):
        return {"outlier_risk": 45.0 - update.update} if update.round == 2 else {}

    finding = finding_on("both at once", second_round_fails)
    assert finding.outcome == "held in part"
    assert finding.figures.startswith("1 of 2 rounds")
    none = finding_on("both at once", lambda update: {"outlier_risk": 20.0})
    assert none.outcome == "did not hold"
    assert none.figures == "0 of 2 rounds; 0% of updates"


def test_the_bounds_of_lemma_4_are_taken_over_trimmed_updates_of_both_phases():
    inliers, outliers = finding_on("inliers kept"), finding_on("outliers kept")
    assert inliers.figures == "min 0.88 → 0.88"  # 88 of 100; the plain warm-up keeps 90
    assert outliers.figures == "max 0.09 → 0.02"  # 9 of the first batch of 100, not the plain 10
    assert inliers.losses == outliers.losses == ""


def test_kept_outliers_that_grow_with_the_batches_did_not_hold():
    def grow(update):
        factor = update.update
        return {
            "batch_size": 100 * factor,
            "kept_inliers": 88 * factor,
            "kept_outliers": 5 * factor,
        }

    assert finding_on("inliers kept", grow).outcome == "held"  # a constant fraction of the batch
    finding = finding_on("outliers kept", grow)
    assert finding.outcome == "did not hold"
    assert finding.figures == "max 0.7 → 1.6"  # updates 14 and 32


def test_kept_inliers_that_become_few_in_the_rounds_did_not_hold():
    def few(update):
        return {"kept_inliers": 20} if update.round == 2 else {}

    finding = finding_on("inliers kept", few)
    assert finding.outcome == "did not hold"
    assert finding.figures == "min 0.88 → 0.2"
    assert finding_on("outliers kept", few).outcome == "held"


def test_outliers_that_leave_the_loss_are_counted_in_the_first_and_last_quarter():
    finding = finding_on("outliers leave")
    # 9 of 97 rows in each of the first two updates, 2 of 90 in the last two.
    assert finding.figures.startswith("9.3% → 2.2% (± ")
    assert finding.figures.endswith("); 10% of all rows")


@pytest.mark.parametrize(
    ("kept", "outcome"), [(9, "held in part"), (12, "did not hold")], ids=["below", "above"]
)
def test_a_small_change_of_the_share_of_outliers_does_not_count(kept, outcome):
    def hardly(update):
        return {"kept_outliers": kept - (update.update > 14)}

    finding = finding_on("outliers leave", hardly)
    assert finding.outcome == outcome
    start, end, error = (float(n) for n in re.findall(r"([\d.]+)%", finding.figures)[:3])
    assert start - end < error


def test_risks_that_part_late_or_never_are_reported():
    late = finding_on("memorization", lambda u: {"outlier_risk": -9} if u.update < 12 else {})
    assert late.outcome == "held in part"
    assert late.figures == "from update 12 on, trimming from 9 on"
    between = {5: 12, 11: -99}
    again = finding_on("memorization", lambda u: {"outlier_risk": between.get(u.update, 12)})
    assert again.figures == "from update 12 on, trimming from 9 on"
    never = finding_on("memorization", lambda update: {"outlier_risk": -99.0})
    assert never.outcome == "did not hold"
    assert never.figures == "not at the end"


def test_gradients_that_agree_did_not_oppose():
    finding = finding_on("gradients oppose", lambda update: {"inner_product": 1.0})
    assert finding.outcome == "did not hold"
    assert finding.figures == "negative at 0% of 32 updates"


def test_gradients_that_mostly_oppose_held_in_part():
    def late(update):
        return {"inner_product": 1.0 if update.update <= 8 else -1.0}

    finding = finding_on("gradients oppose", late)
    assert finding.outcome == "held in part"
    assert finding.figures == "negative at 75% of 32 updates"


def test_gradients_count_only_where_the_risks_are_apart():
    def together(update):
        return {"inner_product": 1.0, "outlier_risk": -99.0} if update.update <= 8 else {}

    finding = finding_on("gradients oppose", together)
    assert finding.outcome == "held"
    assert finding.figures == "negative at 100% of 24 updates"


def test_an_outlier_gradient_that_shrinks_did_not_hold():
    finding = finding_on(
        "outlier gradient", lambda update: {"outlier_gradient_norm": 4.0 / update.update}
    )
    assert finding.outcome == "did not hold"
    assert finding.figures == "min 0.5 → 0.125"


def test_the_outlier_gradient_counts_only_where_the_risks_are_apart():
    def together(update):
        if update.update > 8:
            return {}
        return {"outlier_gradient_norm": 100.0, "outlier_risk": -99.0}

    finding = finding_on("outlier gradient", together)
    assert finding.outcome == "held"
    assert finding.figures == "min 4 → 4"


def test_the_cosine_follows_from_product_and_norms_and_is_0_if_a_gradient_vanishes():
    def vanish(update):
        return {"outlier_gradient_norm": 0.0, "inner_product": 0.0} if update.update == 2 else {}

    assert trace_frame(synthetic_trace(vanish))["cosine"].tolist()[:3] == [-0.5, 0.0, -0.5]


def lower_at_first(update):
    """Change the extreme losses of the first update."""
    return {"loss_low": -110.0} if update.update == 1 else {}


def test_scaled_losses_are_measured_between_the_extremes_of_the_run():
    second = trace_frame(synthetic_trace(lower_at_first), SCALED).iloc[1]
    assert second["inlier_risk"] == pytest.approx((9 + 110) / 160)
    assert second["outlier_risk"] == pytest.approx((11 + 110) / 160)
    assert second["outlier_gradient_norm"] == pytest.approx(4 / 160)
    assert second["inlier_gradient_change"] == pytest.approx(0.2 / 160)
    assert second["outlier_smoothness"] == pytest.approx(0.3 / 160 / 0.1)
    assert second["inner_product"] == pytest.approx(-2 / 160**2)
    assert second["cosine"] == pytest.approx(-0.5)
    assert second["dominance"] == pytest.approx((1 / 160) ** 2 / (2 * 119 / 160))
    unchanged = trace_frame(synthetic_trace(), SCALED)
    assert unchanged["margin"].tolist() == pytest.approx([0.1] * 32)


def test_losses_scaled_at_each_update_are_measured_between_its_own_extremes():
    frame = trace_frame(synthetic_trace(lower_at_first), SCALED_EACH)
    assert frame["inlier_risk"].tolist()[:2] == pytest.approx([(10 + 110) / 160, (9 + 30) / 80])
    assert frame["outlier_gradient_norm"].tolist()[:2] == pytest.approx([4 / 160, 4 / 80])


def rising_with_extremes(update):
    """Change the polarization: all losses rise, the largest so much that scaled ones fall."""
    n_polarized = max(0, update.update - 16)
    return {"inlier_risk": -5.0 + n_polarized, "loss_high": 50.0 * 2**n_polarized}


def test_a_risk_that_rises_may_fall_when_scaled_at_each_update_but_not_when_scaled_once():
    claim = "inliers in the polarization"
    assert finding_on(claim, rising_with_extremes).outcome == "did not hold"
    assert finding_on(claim, rising_with_extremes, SCALED_EACH).outcome == "held"
    factor = finding_on("factor in the polarization", rising_with_extremes, SCALED)
    assert factor.outcome == "did not hold"


def scaled_risk(value):
    """Return the loss between -30 and 50 that is scaled to `value`."""
    return {"inlier_risk": 80 * value - 30}


@pytest.mark.parametrize("claim", ["factor in the warm-up", "factor in the polarization"])
@pytest.mark.parametrize(("factor", "outcome"), [(0.96, "held"), (0.98, "did not hold")])
def test_the_inlier_risk_has_to_fall_by_the_factor_of_the_propositions(claim, factor, outcome):
    finding = finding_on(claim, lambda u: scaled_risk(factor ** (u.update / 4)), SCALED)
    assert finding.outcome == outcome  # four updates an epoch; 1 / 1.03 is 0.971
    share = "100%" if outcome == "held" else "0%"
    assert finding.figures == f"{share} of epochs; {factor} per epoch"


def test_a_fall_by_the_factor_in_one_epoch_alone_held_in_part():
    def one_epoch(update):
        return scaled_risk(0.5 if update.update <= 28 else 0.1)

    finding = finding_on("factor in the polarization", one_epoch, SCALED)
    assert finding.outcome == "held in part"
    assert finding.figures == "25% of epochs; 0.669 per epoch"


def test_a_row_whose_gradient_grows_is_not_bounded():
    finding = finding_on("bounded gradients", lambda update: {"largest_gradient": update.update})
    assert finding.outcome == "did not hold"
    assert finding.figures == "max 8 → 32"


def test_a_peak_between_the_first_and_the_last_quarter_is_no_bound():
    peak = finding_on(
        "bounded gradients", lambda u: {"largest_gradient": 5 + 50 * (u.update == 15)}
    )
    assert peak.outcome == "did not hold"
    assert peak.figures == "max 5 → 55"


def test_a_bound_may_vary_by_a_factor_of_two():
    finding = finding_on(
        "bounded gradients", lambda update: {"largest_gradient": 5 + 5 * (update.update > 30)}
    )
    assert finding.outcome == "held"


def test_smoothness_is_the_change_of_a_gradient_for_the_length_of_a_step():
    finding = finding_on("smooth gradients", lambda update: {"step_norm": 0.1 / update.update})
    assert finding.outcome == "did not hold"
    assert finding.figures == "max 24 → 96"  # 0.3 / 0.1, by eight and by all updates


def test_the_first_update_has_no_step_before_it():
    nothing = {"step_norm": float("nan"), "outlier_gradient_change": float("nan")}
    finding = finding_on("smooth gradients", lambda u: nothing if u.update == 1 else {})
    assert finding.outcome == "held"


def test_an_inlier_gradient_that_vanishes_does_not_dominate():
    def vanish(update):
        return {"inlier_gradient_norm": 1.0 / update.update}

    assert finding_on("dominating gradient", vanish, SCALED).outcome == "did not hold"


def test_a_margin_that_vanishes_did_not_hold():
    def shrink(update):
        return SPREAD * (update.update <= 30)

    finding = finding_on("margin", losses=SCALED, spread=shrink)
    assert finding.outcome == "did not hold"
    assert finding.figures.startswith("min 0.1 → ")
    assert abs(float(finding.figures.rpartition(" ")[2].replace("−", "-"))) < 1e-6


def test_outliers_that_stay_below_a_falling_inlier_risk_did_not_hold():
    finding = finding_on("outliers below", lambda update: {"outliers_below": 0.5}, SCALED)
    assert finding.outcome == "did not hold"  # 0.5 / 0.41 at update 8, 0.5 / 0.11 at the last


def test_a_fraction_that_grows_from_0_cannot_be_judged():
    def late(update):
        return {"outliers_below": 0.02 if update.update > 24 else 0.0}

    finding = finding_on("outliers below", late, SCALED)
    assert finding.outcome == "cannot be judged"
    assert finding.figures.startswith("max 0 → ")


def test_a_fraction_that_stays_0_or_falls_to_it_is_bounded():
    assert finding_on("outliers below", losses=SCALED).figures == "max 0 → 0"
    assert finding_on("outliers below", losses=SCALED).outcome == "held"

    def early(update):
        return {"outliers_below": 0.02 if update.update < 8 else 0.0}

    assert finding_on("outliers below", early, SCALED).outcome == "held"


def test_a_minimum_that_begins_at_0_is_no_lower_bound():
    finding = finding_on(
        "outlier gradient", lambda u: {"outlier_gradient_norm": float(u.update > 24)}
    )
    assert finding.outcome == "did not hold"


@pytest.mark.parametrize(
    ("claim", "losses"),
    [
        ("outliers below", SCALED),
        ("gradients oppose", AS_THEY_ARE),
        ("outlier gradient", AS_THEY_ARE),
    ],
)
def test_a_claim_about_memorized_inliers_cannot_be_judged_without_them(claim, losses):
    finding = finding_on(claim, lambda update: {"outlier_risk": -99.0}, losses)
    assert finding.outcome == "cannot be judged"


def test_lemma_5_is_proved_whatever_the_answers_are():
    only_inliers = {"answered_inliers": 6, "answered_outliers": 0}
    finding = finding_on("balanced answers", lambda update: only_inliers)
    assert finding.outcome == "proved"
    assert finding.figures == "100% inliers, best 67%; ∞ × minimum"


def test_the_balance_of_the_answers_is_measured_after_the_last_round():
    def later(update):
        return {"answered_inliers": 60} if update.round == 2 else {}

    finding = finding_on("balanced answers", later)
    assert finding.figures == "97% inliers, best 67%; 1.98 × minimum"
