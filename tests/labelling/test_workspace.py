"""Training in the background while people answer."""

import threading
import time

import numpy as np
import pytest

from imboost.errors import SessionError
from imboost.labelling.snapshot import Snapshot
from imboost.session import Answer, Session
from labelling_project import N_QUESTIONS, make_project, start, write_orders


@pytest.fixture
def orders(tmp_path):
    return write_orders(tmp_path)


@pytest.fixture
def workspace(orders):
    project = make_project(orders[0])
    yield start(project)
    project.close()


def answer_all(workspace, truth, n, who=""):
    rows = []
    for _ in range(n):
        row = workspace.take_question(who)
        assert row is not None
        workspace.answer([row], "outlier" if truth[row] else "inlier", who=who)
        rows.append(row)
    return rows


def test_the_first_question_is_the_most_suspicious_of_its_round(workspace):
    rows = workspace.session.open_questions
    assert len(rows) == N_QUESTIONS
    scores = workspace.snapshot.scores
    assert workspace.take_question("") == max(rows, key=lambda row: scores[row])


def test_enough_answers_start_a_training_and_bring_new_questions(workspace, orders):
    asked = answer_all(workspace, orders[1].y, N_QUESTIONS)
    workspace.wait_until_idle()
    assert workspace.snapshot.round == 1
    assert not set(asked) & set(workspace.session.open_questions)
    row = workspace.take_question("")
    assert workspace.session.question(row).round == 1


def test_too_few_answers_start_no_training(workspace, orders):
    answer_all(workspace, orders[1].y, N_QUESTIONS - 1)
    workspace.wait_until_idle()
    assert workspace.snapshot.round == 0
    assert workspace.n_new_answers == N_QUESTIONS - 1


def test_more_people_than_open_questions_all_get_one(workspace):
    people = [f"person {number}" for number in range(N_QUESTIONS + 2)]
    shown = {}
    for _ in range(300):
        shown |= {who: row for who in people if (row := workspace.take_question(who)) is not None}
        if len(shown) == len(people):
            break
        time.sleep(0.1)
    assert len(set(shown.values())) == len(people)


def test_people_can_answer_while_the_model_is_trained(workspace, orders, monkeypatch):
    is_training, may_finish = threading.Event(), threading.Event()
    refine = Session.refine

    def slow_refine(session):
        is_training.set()
        may_finish.wait(30)
        return refine(session)

    monkeypatch.setattr(Session, "refine", slow_refine)
    answer_all(workspace, orders[1].y, N_QUESTIONS)
    assert is_training.wait(30)
    during = answer_all(workspace, orders[1].y, 2)
    assert workspace.snapshot.round == 0
    assert workspace.training is not None
    may_finish.set()
    workspace.wait_until_idle()
    assert workspace.snapshot.round == 1
    assert all(row in workspace.session.answers for row in during)


def test_open_questions_have_reasons(workspace):
    assert all(row in workspace.snapshot.explanations for row in workspace.session.open_questions)


def test_the_reasons_of_the_first_question_are_computed_first(orders, monkeypatch):
    explained, prepare = [], Snapshot.prepare

    def record(snapshot, rows):
        explained.extend(rows)
        prepare(snapshot, rows)

    monkeypatch.setattr(Snapshot, "prepare", record)
    monkeypatch.setattr("imboost.labelling.workspace.EXPLAINED_AT_ONCE", 1)
    project = make_project(orders[0])
    workspace = start(project)
    first = explained[0]
    assert first == workspace.take_question("")
    scores = workspace.snapshot.scores
    assert [scores[row] for row in explained] == sorted(scores[explained], reverse=True)
    project.close()


def test_two_people_never_get_the_same_question(workspace):
    rows = [workspace.take_question(who) for who in ("ann", "bob", "eve", "joe")]
    assert len(set(rows)) == 4


def test_a_question_answered_by_somebody_else_is_refused(workspace):
    row = workspace.take_question("ann")
    with pytest.raises(SessionError, match="being answered"):
        workspace.answer([row], "outlier", who="bob")
    workspace.answer([row], "outlier", who="ann")
    with pytest.raises(SessionError, match="ann has answered"):
        workspace.answer([row], "inlier", who="bob")
    assert workspace.session.answers[row] == Answer.OUTLIER


def test_a_request_that_is_sent_again_changes_nothing(workspace):
    row = workspace.take_question("ann")
    for _ in range(2):
        workspace.answer([row], "outlier", who="ann", request="a1")
    assert len(workspace.session.history) == 1


def test_undo_shows_the_same_question_again(workspace):
    row = workspace.take_question("")
    workspace.answer([row], "outlier", who="")
    assert workspace.take_question("") != row
    assert workspace.undo("") == [row]
    assert workspace.take_question("") == row
    assert row not in workspace.session.answers


def test_one_answer_covers_a_group_with_an_entry_for_each_row(workspace):
    row = workspace.take_question("")
    others = [other for other in range(20) if other != row][:5]
    workspace.answer([row, *others], "inlier", who="")
    assert sorted(entry.row for entry in workspace.session.history) == sorted([row, *others])
    assert sorted(workspace.undo("")) == sorted([row, *others])
    assert workspace.session.answers == {}


def test_next_shows_another_question_and_comes_back_at_the_end(workspace):
    shown = []
    for _ in range(N_QUESTIONS + 1):
        shown.append(workspace.take_question(""))
        workspace.leases.pass_over(shown[-1], "")
    assert len(set(shown[:N_QUESTIONS])) == N_QUESTIONS
    assert shown[-1] == shown[0]


def test_the_time_that_a_question_was_shown_is_stored_with_its_answer(workspace):
    row = workspace.take_question("ann")
    workspace.answer([row], "inlier", who="ann", note="sure")
    workspace.answer([7], "inlier", who="ann", from_list=True)
    shown, listed = workspace.session.history
    assert shown.seconds >= 0
    assert shown.note == "sure"
    assert listed.seconds is None


def test_second_opinions_go_to_another_person(orders):
    project = make_project(orders[0], second_opinions=1.0, n_questions=2)
    workspace = start(project)
    (row,) = answer_all(workspace, orders[1].y, 1, "ann")
    assert workspace.take_question("ann") not in (row, None)  # holds the other open question
    assert workspace.take_question("bob") == row
    workspace.answer([row], "outlier" if not orders[1].y[row] else "inlier", who="bob")
    assert list(workspace.session.conflicts) == [row]
    assert workspace.session.labels[row] == -1
    workspace.resolve(row, "inlier", who="ann")
    assert workspace.session.labels[row] == 0
    assert workspace.session.conflicts == {}
    project.close()


def test_a_second_opinion_is_asked_of_one_other_person(orders):
    project = make_project(orders[0], second_opinions=1.0, n_questions=4)
    workspace = start(project)
    workspace.wait_until_idle()
    workspace.stop()  # no more questions
    workspace.wait_until_stopped()
    for row in workspace.session.open_questions:
        workspace.answer([row], "inlier", who="ann", from_list=True)
    assert workspace.take_question("ann") is None
    row = workspace.take_question("bob")
    workspace.answer([row], "inlier", who="bob")
    assert workspace.take_question("eve") not in (row, None)
    project.close()


def test_answers_from_a_list_do_not_override_those_of_other_people(workspace):
    row = workspace.take_question("ann")
    workspace.answer([row], "outlier", who="ann")
    workspace.answer([row], "inlier", who="bob", from_list=True)
    assert workspace.session.conflicts == {row: {"ann": Answer.OUTLIER, "bob": Answer.INLIER}}
    workspace.resolve(row, "outlier", who="eve")
    assert workspace.session.answers == {row: Answer.OUTLIER}
    workspace.resolve(row, "inlier", who="bob")  # nobody disagrees any more
    assert list(workspace.session.conflicts) == [row]


def test_a_group_that_is_sent_again_changes_nothing_though_a_row_was_left_out(workspace):
    row = workspace.take_question("ann")
    workspace.answer([7], "inlier", who="bob", from_list=True)
    for _ in range(2):
        workspace.answer([row, 7, 8], "outlier", who="ann", request="a1")
    assert len(workspace.session.history) == 3
    with pytest.raises(SessionError, match="another call"):
        workspace.answer([9], "outlier", who="ann", request="a1")


def test_a_skipped_row_that_is_asked_again_can_be_answered_by_somebody_else(tmp_path):
    path, made = write_orders(tmp_path, 60)
    project = make_project(path)
    workspace = start(project)
    session = workspace.session
    skipped = workspace.take_question("ann")
    workspace.answer([skipped], "skip", who="ann")
    rest = [row for row in range(60) if row != skipped]
    answers = ["outlier" if made.y[row] else "inlier" for row in rest]
    session.tell(rest, answers, who="ann")
    workspace._wake.set()
    workspace.wait_until_idle()
    assert workspace.take_question("bob") == skipped
    workspace.answer([skipped], "inlier", who="bob")
    assert session.answers[skipped] == Answer.INLIER
    project.close()


def test_rows_of_a_group_answered_in_the_meantime_keep_their_answer(workspace):
    row = workspace.take_question("ann")
    workspace.answer([workspace.take_question("bob")], "inlier", who="bob")
    (other,) = workspace.session.answers
    free = next(one for one in range(200) if one not in (row, other))
    workspace.answer([row, other, free], "outlier", who="ann")
    assert workspace.session.answers == {
        row: Answer.OUTLIER,
        other: Answer.INLIER,
        free: Answer.OUTLIER,
    }
    assert workspace.session.conflicts == {}


def test_the_last_answers_are_trained_with_when_no_row_is_left(tmp_path):
    path, made = write_orders(tmp_path, 60)
    project = make_project(path, n_questions=100)
    workspace = start(project)
    answer_all(workspace, made.y, 60)
    workspace.wait_until_idle()
    assert workspace.snapshot.round == 1
    assert workspace.n_new_answers == 0
    assert workspace.take_question("") is None
    project.close()


def test_a_failed_training_is_shown_and_answers_are_still_stored(workspace, orders, monkeypatch):
    tries = []

    def fail(session):
        tries.append(session.round)
        raise ValueError("no memory left")

    monkeypatch.setattr(Session, "refine", fail)
    answer_all(workspace, orders[1].y, N_QUESTIONS)
    workspace.wait_until_idle()
    assert "no memory left" in workspace.error
    row = next(row for row in range(200) if row not in workspace.session.answers)
    workspace.answer([row], "inlier", who="", from_list=True)
    workspace.wait_until_idle()
    assert workspace.session.answers[row] == Answer.INLIER
    assert tries == [0]


def test_a_reopened_project_goes_on_with_the_same_questions_and_scores(orders):
    project = make_project(orders[0])
    workspace = start(project)
    answer_all(workspace, orders[1].y, N_QUESTIONS)
    workspace.wait_until_idle()
    questions, scores = workspace.session.open_questions, workspace.snapshot.scores
    project.close()
    workspace.session.close()
    again = make_project(orders[0])
    reopened = start(again)
    assert again.setup is None
    assert reopened.session.open_questions == questions
    np.testing.assert_array_equal(reopened.snapshot.scores, scores)
    assert len(reopened.session.history) == N_QUESTIONS
    again.close()
