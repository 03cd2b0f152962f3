"""People answer while the model is trained in another thread."""

import threading
from datetime import datetime
from unittest.mock import Mock

import numpy as np
import pytest

from conftest import make_quick
from imboost import MemoryLog, Session, Stack
from imboost.labels import UNLABELLED
from imboost_bench.baselines import DETECTORS


class Paused:
    """Stops a detector at the beginning of its next `refine` until it is released."""

    def __init__(self, monkeypatch, kind):
        self.begun, self.released = threading.Event(), threading.Event()
        train = kind._refine

        def refine(detector, X, labels):
            self.begun.set()
            assert self.released.wait(60)
            train(detector, X, labels)

        monkeypatch.setattr(kind, "_refine", refine)


@pytest.mark.parametrize("name", ["stack", "imboost"])
def test_scores_questions_and_answers_are_available_during_training(planted, monkeypatch, name):
    log = MemoryLog()

    def start():
        return Session(make_quick(name, contamination="auto"), planted.X, log=log, random_state=0)

    session = start()
    rows = session.ask(8)
    session.tell(rows[:6], planted.y[rows[:6]].tolist())
    model, before = session.detector, session.detector.decision_scores_.copy()
    with monkeypatch.context() as patch:
        paused = Paused(patch, type(model))
        training = threading.Thread(target=session.refine)
        training.start()
        assert paused.begun.wait(60)
        session.tell(rows[6:7], ["outlier"])
        session.undo()
        session.tell(rows[6:7], ["outlier"])
        assert len(session.top_up(5)) == 5
        assert session.outcome().n_labelled_outliers == 0
        assert session.doubtful_answers() == []
        assert session.round == 0
        assert session.detector is model
        paused.released.set()
        training.join(60)
    assert session.round == 1
    assert session.detector is not model
    np.testing.assert_array_equal(model.decision_scores_, before)
    assert (session.detector.decision_.labels != UNLABELLED).sum() == 6
    reopened = start().start()
    np.testing.assert_array_equal(
        reopened.detector.decision_scores_, session.detector.decision_scores_
    )
    assert reopened.open_questions == session.open_questions


def test_a_question_asked_during_training_is_new_to_the_strategy_when_it_is_answered(
    planted, monkeypatch
):
    class Recording:
        seen = ()

        def select(self, scores, candidates, n, rng):
            return candidates[:n]

        def update(self, round_labels, all_labels):
            self.seen = (*self.seen, round_labels.tolist())

    session = Session(make_quick("stack"), planted.X, query=Recording(), random_state=0)
    session.tell(session.ask(2), ["inlier", "outlier"])
    with monkeypatch.context() as patch:
        paused = Paused(patch, Stack)
        training = threading.Thread(target=session.refine)
        training.start()
        assert paused.begun.wait(60)
        rows = session.top_up(3)
        paused.released.set()
        training.join(60)
    session.tell(rows, ["outlier", "outlier", "inlier"])
    session.refine()
    assert session._selection.strategy.seen == ([0, 1], [1, 1, 0])


def test_a_row_that_is_answered_while_it_is_selected_is_not_asked_about(planted):
    class Answering:
        def select(self, scores, candidates, n, rng):
            session.tell(candidates[:1].tolist(), ["inlier"])
            return candidates[:n]

    session = Session(make_quick("stack"), planted.X, query=Answering(), random_state=0)
    assert session.ask(4) == [1, 2, 3]


def test_a_failed_training_leaves_the_model_and_the_round(planted, monkeypatch):
    session = Session(make_quick("stack"), planted.X, random_state=0)
    session.tell(session.ask(4), ["outlier", "inlier", "inlier", "inlier"])
    model, before = session.detector, session.detector.decision_scores_.copy()
    with monkeypatch.context() as patch:
        patch.setattr(Stack, "_set_scores", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            session.refine()
    assert session.detector is model
    assert session.round == 0
    np.testing.assert_array_equal(model.decision_scores_, before)
    assert session.refine().round == 1


def test_answers_of_many_threads_are_all_kept(tmp_path, planted):
    session = Session.open(tmp_path / "a.session", planted.X, make_quick("stack"), random_state=0)

    def answer(number):
        for row in range(number, 300, 6):
            session.tell([row], ["inlier"], who=str(number), request=f"{number}-{row}")

    threads = [threading.Thread(target=answer, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        session.refine()
    for thread in threads:
        thread.join(60)
    session.close()
    with Session.open(tmp_path / "a.session", planted.X) as reopened:
        assert sorted(entry.row for entry in reopened.history) == list(range(300))
        times = [entry.when for entry in reopened.history]
        assert times == sorted(set(times))


def test_calls_within_one_tick_of_the_clock_have_distinct_times(planted, monkeypatch):
    class Stopped(datetime):
        @classmethod
        def now(cls, zone):
            return datetime(2026, 1, 1, tzinfo=zone)

    monkeypatch.setattr("imboost.session.logged_state.datetime", Stopped)
    session = Session(make_quick("stack"), planted.X, random_state=0)
    for row in range(4):
        session.tell([row], ["inlier"])
    assert len({entry.when for entry in session.history}) == 4
    assert session.undo() == [3]


def test_only_the_last_round_is_repeated_where_history_does_not_matter(planted, monkeypatch):
    independent = {
        name for name, make in DETECTORS.items() if not make().refine_depends_on_history
    }
    assert independent == {"pretrained", "stack", "trees", "xgbod"}
    for name, n_expected in (("stack", 1), ("imboost", 3)):
        log = MemoryLog()
        session = Session(make_quick(name), planted.X, log=log, random_state=0)
        for _ in range(3):
            rows = session.ask(4)
            session.tell(rows, planted.y[rows].tolist())
            session.refine()
        with monkeypatch.context() as patch:
            train = Mock(wraps=type(session.detector).refine)
            patch.setattr(
                type(session.detector), "refine", lambda *a, train=train, **b: train(*a, **b)
            )
            reopened = Session(make_quick(name), planted.X, log=log).start()
        assert train.call_count == n_expected
        np.testing.assert_array_equal(
            reopened.detector.decision_scores_, session.detector.decision_scores_
        )
