"""Several people: corrections, conflicts, resolutions, withdrawals and agreement."""

import math

import pytest

from conftest import make_quick
from imboost import Answer, MemoryLog, Session
from imboost.errors import SessionError, SettingError
from imboost.labels import INLIER, OUTLIER, UNLABELLED
from imboost.session import Answered, Asked, Withdrawn


@pytest.fixture
def log():
    return MemoryLog()


@pytest.fixture
def session(planted, log):
    return Session(make_quick("stack"), planted.X, query="rd", log=log, random_state=0)


def test_people_who_agree_label_a_row(session):
    session.tell([3], ["outlier"], who="Ada")
    session.tell([3], ["outlier"], who="Bob")
    assert session.labels[3] == OUTLIER
    assert session.conflicts == {}


def test_people_who_disagree_leave_a_row_without_label(session):
    session.tell([3, 4], ["outlier", "inlier"], who="Ada")
    session.tell([3], ["inlier"], who="Bob")
    assert session.labels[3] == UNLABELLED
    assert session.conflicts == {3: {"Ada": Answer.OUTLIER, "Bob": Answer.INLIER}}
    assert session.answers == {4: Answer.INLIER}
    assert session.refine().detector.decision_.labels[3] == UNLABELLED
    assert 3 not in session.ask(298)


def test_a_person_who_gives_in_ends_a_conflict(session):
    session.tell([3], ["outlier"], who="Ada")
    session.tell([3], ["inlier"], who="Bob")
    session.tell([3], ["outlier"], who="Bob")
    assert session.labels[3] == OUTLIER
    assert session.conflicts == {}


@pytest.mark.parametrize("undecided", ["unsure", "skip"])
def test_an_undecided_answer_disagrees_with_nothing(session, undecided):
    session.tell([3], ["outlier"], who="Ada")
    session.tell([3], [undecided], who="Bob")
    assert session.labels[3] == OUTLIER
    assert session.answers == {3: Answer.OUTLIER}
    session.tell([3], [undecided], who="Ada")
    assert session.labels[3] == UNLABELLED
    assert session.conflicts == {}


def test_a_resolution_overrides_everything_before_it(session):
    session.tell([3], ["outlier"], who="Ada")
    session.tell([3], ["inlier"], who="Bob")
    session.tell([3], ["inlier"], who="Eve", resolves=True)
    assert session.labels[3] == INLIER
    assert session.conflicts == {}


def test_an_answer_after_a_resolution_counts_on_top_of_it(session):
    session.tell([3], ["outlier"], who="Ada")
    session.tell([3], ["inlier"], who="Bob")
    session.tell([3], ["inlier"], who="Ada", resolves=True)
    session.tell([3], ["outlier"], who="Bob")
    assert session.conflicts == {3: {"Ada": Answer.INLIER, "Bob": Answer.OUTLIER}}
    session.tell([3], ["outlier"], who="Ada")
    assert session.labels[3] == OUTLIER


def test_undo_brings_the_previous_answer_back(session):
    session.tell([3], ["outlier"], who="Ada")
    session.tell([3], ["inlier"], who="Ada")
    assert session.undo("Ada") == [3]
    assert session.labels[3] == OUTLIER
    assert session.undo("Ada") == [3]
    assert session.labels[3] == UNLABELLED
    with pytest.raises(SessionError, match="There is no answer of Ada to undo"):
        session.undo("Ada")


def test_undo_never_withdraws_an_answer_of_somebody_else(session):
    session.tell([3], ["outlier"], who="Ada")
    with pytest.raises(SessionError, match="There is no answer of Bob to undo"):
        session.undo("Bob")
    assert session.answers == {3: "outlier"}


def test_undo_makes_a_question_the_first_open_one_again(session):
    first, second, third = session.ask(3)
    session.tell([first], ["outlier"])
    session.tell([second], ["inlier"])
    assert session.undo() == [second]
    assert session.open_questions == [second, third]
    assert session.answers == {first: Answer.OUTLIER}


def test_undo_of_a_row_that_was_not_asked_leaves_no_question(session):
    session.tell([3], ["outlier"])
    session.undo()
    assert session.open_questions == []
    assert 3 in session.ask(300)


def test_undo_withdraws_the_person_s_own_answer_alone(session):
    (row,) = session.ask(1)
    session.tell([row], ["outlier"], who="Ada")
    session.tell([row], ["inlier"], who="Bob")
    assert session.undo("Ada") == [row]
    assert session.labels[row] == INLIER
    assert session.open_questions == []
    assert [entry.who for entry in session.history] == ["Bob"]


def test_undo_leaves_a_question_open_that_was_asked_again(session):
    session.tell([3], ["skip"], who="Ada")
    session.tell([3], ["skip"], who="Bob")
    session.refine()
    rows = session.ask(300)
    assert 3 in rows
    session.undo("Ada")
    assert session.open_questions == rows


def test_undo_withdraws_all_rows_of_one_call(session):
    session.tell([1], ["outlier"], who="Ada")
    session.tell([2, 3, 4], ["outlier"] * 3, who="Ada")
    session.tell([5], ["inlier"], who="Bob")
    assert session.undo("Ada") == [2, 3, 4]
    assert sorted(session.answers) == [1, 5]


def test_undo_of_a_resolution_brings_the_conflict_back(session):
    session.tell([3], ["outlier"], who="Ada")
    session.tell([3], ["inlier"], who="Bob")
    session.tell([3], ["inlier"], who="Ada", resolves=True)
    session.undo("Ada")
    assert session.conflicts == {3: {"Ada": Answer.OUTLIER, "Bob": Answer.INLIER}}


def test_a_withdrawn_answer_stays_in_the_log(session, log):
    session.tell([3], ["outlier"], who="Ada")
    session.undo("Ada")
    assert [type(entry) for entry in log][-2:] == [Answered, Withdrawn]
    assert session.history == []


def test_a_training_uses_the_answers_of_its_time_also_after_a_withdrawal(planted, log, session):
    rows = session.ask(8)
    session.tell(rows, planted.y[rows].tolist())
    session.refine()
    session.undo()
    reopened = Session(make_quick("stack"), planted.X, query="rd", log=log)
    assert (reopened.labels == UNLABELLED).all()
    scores = reopened.start().detector.decision_scores_
    assert (scores == session.detector.decision_scores_).all()


def test_the_log_holds_what_was_known_with_an_answer(session, log):
    session.tell([9], ["skip"])
    (first,) = session.ask(1)
    session.tell([first], ["outlier"], who="Ada", seconds=2.5, note="two", request="r")
    early, late = (entry for entry in log if isinstance(entry, Answered))
    scores = session.detector.decision_scores_
    rank = int((scores > scores[first]).sum()) + 1
    asked = next(entry for entry in log if isinstance(entry, Asked))
    assert (early.score, early.rank, early.strategy) == (None, None, "")
    assert (late.score, late.rank, late.strategy) == (scores[first], rank, "rd")
    assert (asked.score, asked.rank) == (scores[first], rank)
    assert (late.seconds, late.note, late.request) == (2.5, "two", "r")


def test_the_highest_score_has_rank_1(session, log):
    top = int(session.start().detector.decision_scores_.argmax())
    session.tell([top], ["outlier"])
    assert list(log)[-1].rank == 1


@pytest.mark.parametrize(
    "bad", [{"who": "a\0b"}, {"note": "\ud800"}, {"request": 7}, {"seconds": -1.0}]
)
def test_what_no_database_can_store_is_refused(session, bad):
    with pytest.raises((SessionError, SettingError)):
        session.tell([1], ["outlier"], **bad)
    assert session.answers == {}


def test_top_up_asks_until_so_many_questions_are_open(session):
    rows = session.ask(4)
    assert session.top_up(4) == session.top_up(2) == rows
    session.tell(rows[:1], ["inlier"])
    more = session.top_up(6)
    assert more[:3] == rows[1:]
    assert len(set(more)) == 6
    assert rows[0] not in more


def test_topping_up_continues_exactly_after_reopening(planted, log, session):
    session.tell(session.ask(4)[:2], ["inlier", "outlier"])
    copied = MemoryLog()
    copied.append(list(log))
    again = Session(make_quick("stack"), planted.X, query="rd", log=copied)
    assert again.top_up(5) == session.top_up(5)


def test_topping_up_never_asks_about_an_open_row_again(session, log):
    for n in range(1, 300, 23):
        session.top_up(n)
    asked = [entry.row for entry in log if isinstance(entry, Asked)]
    assert len(asked) == len(set(asked))


def test_topping_up_the_last_rows_returns_what_is_left(session):
    session.tell(list(range(298)), ["inlier"] * 298)
    assert sorted(session.top_up(9)) == [298, 299]
    assert sorted(session.top_up(9)) == [298, 299]
    session.tell([298, 299], ["inlier", "inlier"])
    with pytest.raises(SessionError, match="No row is left"):
        session.top_up(9)


def test_agreement_compares_the_rows_that_two_people_decided(session):
    # Ada: 1 1 0 0, Bob: 1 0 0 0. Observed 3/4, by chance (2/4 * 1/4 + 2/4 * 3/4) = 1/2.
    session.tell([1, 2, 3, 4, 5, 6], [1, 1, 0, 0, 1, "unsure"], who="Ada")
    session.tell([1, 2, 3, 4, 6], [1, 0, 0, 0, 1], who="Bob")
    session.tell([2], [1], who="Eve", resolves=True)
    agreement = session.progress().agreement
    assert agreement.n_rows == 4
    assert agreement.fraction == 0.75
    assert agreement.kappa == pytest.approx(0.5)


def test_agreement_is_undefined_without_common_rows_or_without_two_classes(session):
    empty = session.progress().agreement
    assert empty.n_rows == 0
    assert math.isnan(empty.fraction)
    assert math.isnan(empty.kappa)
    for who in ("Ada", "Bob"):
        session.tell([1, 2], [0, 0], who=who)
    same = session.progress().agreement
    assert (same.n_rows, same.fraction) == (2, 1.0)
    assert math.isnan(same.kappa)


def test_a_correction_counts_in_the_agreement_and_a_resolution_does_not(session):
    session.tell([1, 2], [1, 0], who="Ada")
    session.tell([1, 2], [0, 0], who="Bob")
    session.tell([1], [0], who="Ada", resolves=True)
    assert session.progress().agreement.fraction == 0.5
    session.tell([1], [1], who="Bob")
    assert session.progress().agreement.fraction == 1.0
