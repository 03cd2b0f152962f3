"""Audit, estimated outcome, stopping advice and doubtful answers of a session."""

from datetime import UTC, datetime
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from conftest import make_quick
from imboost import MemoryLog, Oracle, Session, TableDetector
from imboost.datasets import planted_outliers
from imboost.decide import Decision
from imboost.errors import IMBoostError
from imboost.explain import reference_rows
from imboost.labels import UNLABELLED
from imboost.session import Answer, Answered, Asked, Refined, run_rounds
from imboost.session.state import AUDIT, SessionState

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def start(planted, *, audit_share=0.25, log=None, detector="stack", random_state=0):
    return Session(
        make_quick(detector, contamination="auto"),
        planted.X,
        log=log,
        audit_share=audit_share,
        random_state=random_state,
    )


def play(session, planted, rounds=3, n_questions=8):
    list(run_rounds(session, Oracle(planted.y), rounds, n_questions))
    return session


def asked_by(log, strategy):
    return [entry.row for entry in log if isinstance(entry, Asked) and entry.strategy == strategy]


def test_a_fraction_of_the_questions_is_an_audit(planted):
    log = MemoryLog()
    play(start(planted, log=log), planted, rounds=4)
    assert len(asked_by(log, "audit")) == 8
    assert len(asked_by(log, "spread")) == 24
    assert not set(asked_by(log, "audit")) & set(asked_by(log, "spread"))


def test_half_of_the_audit_comes_from_above_the_threshold(planted):
    session = start(planted, audit_share=1.0).start()
    session.detector.set_threshold(contamination=0.1)
    rows = session.ask(10)
    assert (session.detector.labels_[rows] == 1).sum() == 5


def test_an_audit_takes_all_of_the_few_rows_above_the_threshold_and_others_from_below(planted):
    session = start(planted, audit_share=1.0).start()
    session.detector.set_threshold(contamination=0.01)
    rows = session.ask(10)
    assert len(rows) == 10
    assert set(np.flatnonzero(session.detector.labels_)) <= set(rows)
    assert session.detector.labels_[rows].sum() == 3


class FixedCoin(np.random.Generator):
    """Random numbers with a known coin, which gives the odd row of an audit to one side."""

    def __init__(self, coin):
        super().__init__(np.random.PCG64(0))
        self.coin = coin

    def integers(self, *bounds):
        return self.coin


@pytest.mark.parametrize("coin", [0, 1])
def test_the_odd_row_of_an_audit_is_above_the_threshold_if_the_coin_is_1(planted, coin):
    session = start(planted, audit_share=1.0).start()
    rows = session._selection.draw_audit(
        session.detector, np.arange(len(planted.X)), 5, FixedCoin(coin)
    )
    assert session.detector.labels_[rows].tolist() == [1] * (2 + coin) + [0] * (3 - coin)


def test_without_an_audit_all_questions_are_selected_by_the_strategy(planted):
    one, other = (
        start(planted, audit_share=0.0),
        Session(make_quick("stack"), planted.X, random_state=0),
    )
    assert one.ask(8) == other.ask(8)


def test_the_audit_share_of_a_session_cannot_be_changed(planted):
    session = start(planted, audit_share=0.25)
    with pytest.raises(AttributeError):
        session.audit_share = 0.5
    assert session.audit_share == 0.25


def test_a_row_that_the_strategy_asks_about_again_is_no_audit_any_more():
    def asked(strategy, number):
        return Asked(3, number, strategy, 0.5, 1, NOW)

    state = SessionState([asked(AUDIT, 0), Answered(3, Answer.SKIP, 0, "", NOW)])
    assert state.training_set().audited == {3}
    for entry in (Refined(0, 2, NOW), asked("spread", 1), Answered(3, Answer.INLIER, 1, "", NOW)):
        state.apply(entry)
    assert state.training_set().audited == set()
    assert state.training_set().selected == (3,)


def test_the_strategy_learns_nothing_from_the_rows_of_an_audit():
    state = SessionState()
    for row, strategy in ((3, AUDIT), (4, "spread")):
        state.apply(Asked(row, 0, strategy, 0.5, 1, NOW))
        state.apply(Answered(row, Answer.INLIER, 0, "", NOW))
    assert state.training_set().audited == {3}
    assert state.training_set().selected == (4,)


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_an_audit_share_is_between_0_and_1(planted, share):
    with pytest.raises(IMBoostError, match="audit_share must be"):
        start(planted, audit_share=share)


def test_intervals_of_the_outcome_mostly_contain_the_truth():
    n_covered = 0
    for data_seed, seed in product((1, 2), range(5)):
        planted = planted_outliers(300, 5, seed=data_seed)
        session = play(start(planted, random_state=seed), planted)
        outcome = session.outcome()
        above = session.detector.labels_ == 1
        missed = (planted.y == 1) & ~above & (session.labels == UNLABELLED)
        precision = planted.y[above].mean() if above.any() else 0.0  # unknown: from 0 to 1
        n_covered += (
            outcome.precision.low <= precision <= outcome.precision.high
            and outcome.n_missed.low <= missed.sum() <= outcome.n_missed.high
        )
        assert outcome.n_labelled_outliers == (session.labels == 1).sum()
    assert n_covered >= 8  # of ten, by two intervals of 90%


def test_advice_changes_from_go_on_to_stop(planted):
    session = start(planted)
    assert not session.outcome().should_stop
    assert play(session, planted, rounds=5, n_questions=20).outcome().should_stop


def test_answers_not_yet_trained_with_change_nothing(planted):
    session = play(start(planted), planted)
    before = session.outcome()
    session.tell(session.ask(4), ["outlier"] * 4)
    assert session.outcome() == before


def test_a_reopened_session_has_the_same_outcome(planted):
    log = MemoryLog()
    session = play(start(planted, log=log), planted)
    session.tell(session.ask(4)[:2], ["outlier"] * 2)
    reopened = start(planted, log=log)
    assert reopened.outcome() == session.outcome()
    assert reopened.advice() == session.advice()
    assert reopened.open_questions == session.open_questions
    assert reopened.detector.threshold_ == session.detector.threshold_


def test_a_wrong_answer_is_among_the_first_to_be_doubted(planted):
    session = play(start(planted), planted)
    wrong = int(np.flatnonzero((planted.y == 0) & (session.labels == UNLABELLED))[0])
    session.tell([wrong], ["outlier"])
    doubtful = session.refine().doubtful_answers()
    assert wrong in [row for row, _, _ in doubtful[:2]]
    assert all((likely < 0.5) == (answer == "outlier") for _, answer, likely in doubtful)
    errors = [abs(likely - (answer == "outlier")) for _, answer, likely in doubtful]
    assert errors == sorted(errors, reverse=True)


def test_an_answer_that_was_changed_is_no_longer_doubted(planted):
    session = play(start(planted), planted)
    wrong = int(np.flatnonzero((planted.y == 0) & (session.labels == UNLABELLED))[0])
    session.tell([wrong], ["outlier"])
    session.refine()
    assert wrong in [row for row, _, _ in session.doubtful_answers()]
    session.tell([wrong], ["inlier"])
    assert wrong not in [row for row, _, _ in session.doubtful_answers()]


def test_before_answers_nothing_is_doubted(planted):
    assert start(planted).doubtful_answers() == []


@pytest.mark.parametrize("detector", ["imboost", "trees"])
def test_other_detectors_give_estimates_too(planted, detector):
    outcome = play(start(planted, detector=detector), planted, rounds=3).outcome()
    assert outcome.n_labelled_outliers > 0
    assert 0 <= outcome.precision.low <= outcome.precision.value <= outcome.precision.high <= 1


def test_a_round_is_calibrated_once_with_the_audit(planted, monkeypatch):
    calls = []
    session = play(start(planted, audit_share=0.5), planted, rounds=1)
    make = Decision.make

    def counted(*arguments, **options):
        calls.append(options["is_audit"])
        return make(*arguments, **options)

    monkeypatch.setattr(Decision, "make", counted)
    session.refine()
    [is_audit] = calls
    assert is_audit.sum() == len(session._state.training_set().audited) == 4


def test_reference_values_belong_to_the_threshold_that_the_audit_led_to():
    rng = np.random.default_rng(3)
    is_outlier = rng.random(400) < 0.1
    table = pa.table(
        {"size": rng.normal(size=400) + 3 * is_outlier, "kind": rng.choice(["a", "b"], 400)}
    )
    detector = TableDetector(make_quick("stack"), contamination="auto")
    session = Session(detector, table, audit_share=0.5, random_state=0)
    for _ in run_rounds(session, Oracle(is_outlier.astype(int)), 3, 12):
        n_reference = session.detector.reference_values_["kind"].n_rows
        assert (
            n_reference
            == reference_rows(
                session.detector.decision_scores_,
                session.detector.threshold_,
                is_estimated=session.detector.decision_.is_estimated,
            ).sum()
        )


def test_a_complete_audit_of_the_last_rows_leaves_none_to_select(planted):
    session = start(planted, audit_share=1.0)
    rows = np.arange(len(planted.X) - 4)
    session.tell(rows, planted.y[rows].tolist())
    assert sorted(session.ask(6)) == list(range(len(planted.X) - 4, len(planted.X)))
