"""What a session says of its decision: audit, outcome, advice and doubtful answers."""

import numpy as np
import pytest

from conftest import make_quick
from imboost import MemoryLog, Oracle, Session
from imboost.errors import IMBoostError
from imboost.labels import UNLABELLED
from imboost.session import Asked, run_rounds


def start(planted, *, audit_share=0.25, log=None, detector="stack"):
    return Session(
        make_quick(detector, contamination="auto"),
        planted.X,
        log=log,
        audit_share=audit_share,
        random_state=0,
    )


def play(session, planted, rounds=3, n_questions=8):
    list(run_rounds(session, Oracle(planted.y), rounds, n_questions))
    return session


def asked_by(log, strategy):
    return [entry.row for entry in log if isinstance(entry, Asked) and entry.strategy == strategy]


def test_a_share_of_the_questions_is_an_audit(planted):
    log = MemoryLog()
    play(start(planted, log=log), planted, rounds=4)
    assert len(asked_by(log, "audit")) == 8
    assert len(asked_by(log, "spread")) == 24
    assert not set(asked_by(log, "audit")) & set(asked_by(log, "spread"))


def test_half_of_the_audit_comes_from_above_the_threshold(planted):
    log = MemoryLog()
    session = start(planted, audit_share=1.0, log=log)
    rows = session.ask(10)
    assert (session.detector.labels_[rows] == 1).sum() == 5


def test_without_an_audit_questions_are_the_strategys_own(planted):
    one, other = (
        start(planted, audit_share=0.0),
        Session(make_quick("stack"), planted.X, random_state=0),
    )
    assert one.ask(8) == other.ask(8)


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_an_audit_share_is_between_0_and_1(planted, share):
    with pytest.raises(IMBoostError, match="audit_share must be"):
        start(planted, audit_share=share)


def test_the_outcome_is_near_the_truth(planted):
    session = play(start(planted), planted)
    outcome = session.outcome()
    above = session.detector.labels_ == 1
    assert outcome.precision.low <= planted.y[above].mean() <= outcome.precision.high
    unfound = (planted.y == 1) & ~above & (session.labels == UNLABELLED)
    assert outcome.n_unfound.low <= unfound.sum() <= outcome.n_unfound.high
    assert outcome.n_known == (session.labels == 1).sum()


def test_advice_goes_from_go_on_to_stop(planted):
    session = start(planted)
    assert not session.advice().is_stop
    assert play(session, planted, rounds=5, n_questions=20).advice().is_stop


def test_answers_not_yet_learned_change_nothing(planted):
    session = play(start(planted), planted)
    before = session.outcome()
    session.tell(session.ask(4), ["outlier"] * 4)
    assert session.outcome() == before


def test_a_reopened_session_says_the_same(planted):
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
    gaps = [abs(likely - (answer == "outlier")) for _, answer, likely in doubtful]
    assert gaps == sorted(gaps, reverse=True)


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
    outcome = play(start(planted, detector=detector), planted, rounds=1).outcome()
    assert 0 <= outcome.precision.low <= outcome.precision.value <= outcome.precision.high <= 1
