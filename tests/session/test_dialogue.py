import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from conftest import make_quick
from imboost import Answer, MemoryLog, Oracle, Session, TableDetector
from imboost.errors import SessionError, UnknownNameError
from imboost.labelling.snapshot import Snapshot
from imboost.labels import INLIER, OUTLIER, UNLABELLED
from imboost.query import RandomRows
from imboost.session import Answered, Asked, Refined, questions_per_round, run_rounds
from imboost.session.rows import fingerprint


@pytest.fixture
def session(planted):
    return Session(make_quick("imboost"), planted.X, query="rd", random_state=0)


def test_ask_returns_distinct_rows(session):
    rows = session.ask(9)
    assert len(set(rows)) == 9


def test_the_same_questions_come_until_each_is_answered(session):
    rows = session.ask(4)
    assert session.ask(4) == rows
    assert session.ask(99) == rows
    session.tell(rows[:1], ["inlier"])
    assert session.ask(4) == rows[1:]
    session.tell(rows[1:], ["outlier"] * 3)
    assert not set(session.ask(4)) & set(rows)


def test_answers_become_labels(session):
    rows = session.ask(4)
    session.tell(rows, ["inlier", Answer.OUTLIER, "unsure", "skip"])
    expected = [INLIER, OUTLIER, UNLABELLED, UNLABELLED]
    assert session.labels[rows].tolist() == expected
    assert (session.labels != UNLABELLED).sum() == 2
    assert session.counts[Answer.OUTLIER] == 1


def test_zero_and_one_are_accepted(session):
    rows = session.ask(2)
    session.tell(rows, [0, 1])
    assert session.labels[rows].tolist() == [INLIER, OUTLIER]


def test_a_later_answer_corrects_an_earlier_one(session):
    (row,) = session.ask(1)
    session.tell([row], ["outlier"])
    session.tell([row], ["inlier"])
    assert session.labels[row] == INLIER
    session.tell([row], ["unsure"])
    assert session.labels[row] == UNLABELLED


def test_a_row_may_be_told_without_being_asked(session):
    session.tell([7], ["outlier"])
    assert session.labels[7] == OUTLIER
    assert 7 not in session.ask(299)


def test_an_unsure_row_never_comes_again_but_a_skipped_one_does(session, planted):
    all_rows = list(range(len(planted.X)))
    session.tell(all_rows, ["unsure", "skip"] + ["inlier"] * (len(all_rows) - 2))
    with pytest.raises(SessionError, match="No row is left"):
        session.ask(5)
    session.refine()
    assert session.ask(5) == [1]


def test_refining_trains_and_begins_the_next_round(session, planted):
    rows = session.ask(6)
    before = session.detector.decision_scores_.copy()
    session.tell(rows, planted.y[rows].tolist())
    assert session.round == 0
    session.refine()
    assert session.round == 1
    assert not np.array_equal(before, session.detector.decision_scores_)


def test_the_given_detector_is_left_alone(planted):
    detector = make_quick("imboost")
    Session(detector, planted.X).ask(2)
    assert not hasattr(detector, "decision_scores_")


@pytest.mark.parametrize(
    ("rows", "answers", "message"),
    [
        ([0, 1], ["inlier"], "3 rows but 2 answers"),
        ([0, 0], ["inlier", "outlier"], "only one answer"),
        ([300], ["inlier"], "from 0 to 299, got 300"),
        ([-1], ["inlier"], "from 0 to 299"),
        ([1.5], ["inlier"], "must be a whole number"),
        ([0], ["maybe"], "inlier, outlier, unsure, skip"),
        ([0], [2], "got 2"),
        ([0], [None], "got None"),
    ],
)
def test_a_bad_answer_is_refused_and_nothing_of_the_call_is_kept(session, rows, answers, message):
    with pytest.raises(SessionError, match=message):
        session.tell([*rows, 5], [*answers, "outlier"])
    assert session.answers == {}


def test_a_bad_number_of_questions_is_refused(session):
    with pytest.raises(ValueError, match="n must be at least 1"):
        session.ask(0)


def test_an_unknown_strategy_is_refused(planted):
    with pytest.raises(UnknownNameError, match="query strategy"):
        Session(make_quick("imboost"), planted.X, query="best")


def test_a_strategy_object_works_too(planted):
    log = MemoryLog()
    session = Session(make_quick("imboost"), planted.X, query=RandomRows(), log=log)
    session.ask(2)
    assert {e.strategy for e in log if isinstance(e, Asked)} == {"RandomRows"}


def test_the_log_holds_question_answer_person_and_time(planted):
    log = MemoryLog()
    session = Session(make_quick("imboost"), planted.X, query="cp", log=log)
    rows = session.ask(2)
    session.tell(rows, ["inlier", "outlier"], who="Ada")
    session.refine()
    asked = [entry for entry in log if isinstance(entry, Asked)]
    answered = [entry for entry in log if isinstance(entry, Answered)]
    assert [entry.row for entry in asked] == rows
    assert all(entry.strategy == "cp" and entry.round == 0 for entry in asked)
    assert [entry.answer for entry in answered] == [Answer.INLIER, Answer.OUTLIER]
    assert {entry.who for entry in answered} == {"Ada"}
    assert all(entry.when.tzinfo is not None for entry in answered)
    assert isinstance(list(log)[-1], Refined)


@pytest.mark.parametrize("query", ["rd", "mm", "ab", "mix"])
def test_a_session_continues_exactly_from_its_log(planted, query):
    def start(log):
        return Session(make_quick("imboost"), planted.X, query=query, log=log, random_state=3)

    log = MemoryLog()
    session = start(log)
    oracle = Oracle(planted.y)
    for _ in run_rounds(session, oracle, 2, 5):
        pass
    rows = session.ask(5)
    session.tell(rows[:2], oracle.answer(rows[:2]))
    reopened = start(log)
    assert reopened.round == session.round
    assert reopened.answers == session.answers
    assert reopened.ask(5) == session.ask(5) == rows[2:]
    np.testing.assert_array_equal(
        reopened.detector.decision_scores_, session.detector.decision_scores_
    )
    for each in (session, reopened):
        each.tell(rows[2:], oracle.answer(rows[2:]))
        each.refine()
    assert session.ask(5) == reopened.ask(5)


def test_rows_with_equal_scores_share_the_lowest_rank_everywhere():
    table = pa.table(
        {"amount": [9.0, 5.0, 5.0, *np.linspace(0, 1, 57)], "size": [0.5] * 3 + [0.1] * 57}
    )
    session = Session(TableDetector(make_quick("trees"), random_state=0), table, random_state=0)
    session.start()
    scores = session.detector.decision_scores_
    expected = [int((scores > score).sum()) + 1 for score in scores]
    assert scores[1] == scores[2]
    assert session.ranks.tolist() == Snapshot(session).ranks.tolist() == expected
    session.tell([1, 2], ["outlier", "outlier"])
    assert [entry.rank for entry in session.history] == expected[1:3]


@pytest.mark.parametrize(
    ("n_rows", "expected"), [(500, 6), (501, 5), (2640, 26), (100_000, 1000), (3, 3)]
)
def test_the_budget_of_a_round_is_that_of_the_paper(n_rows, expected):
    assert questions_per_round(n_rows) == expected


def test_an_oracle_drives_a_session_through_all_rounds(session, planted):
    rounds = list(run_rounds(session, Oracle(planted.y), 3, 4))
    assert rounds == [0, 1, 2, 3]
    assert len(session.answers) == 12
    known = session.labels != UNLABELLED
    np.testing.assert_array_equal(session.labels[known], planted.y[known])


def test_every_detector_can_be_in_a_session(quick_detector, planted):
    session = Session(quick_detector, planted.X, random_state=0)
    assert list(run_rounds(session, Oracle(planted.y), 1, 3)) == [0, 1]


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(4)], ids=["none", "shared"])
def test_a_session_without_fixed_seeds_continues_exactly_too(planted, random_state):
    def start(log):
        detector = make_quick("imboost", random_state=random_state)
        return Session(detector, planted.X, log=log, random_state=random_state)

    log = MemoryLog()
    session = start(log)
    for _ in run_rounds(session, Oracle(planted.y), 1, 5):
        pass
    reopened = start(log).start()
    np.testing.assert_array_equal(
        reopened.detector.decision_scores_, session.detector.decision_scores_
    )
    assert session.ask(5) == reopened.ask(5)


def test_an_interrupted_training_leaves_no_trace(planted, monkeypatch):
    def play(session, *, interrupted):
        rows = session.ask(5)
        session.tell(rows, planted.y[rows].tolist())
        if interrupted:
            with monkeypatch.context() as patch:
                patch.setattr(type(session.detector), "_set_scores", _interrupt)
                with pytest.raises(KeyboardInterrupt):
                    session.refine()
            assert session.round == 0
        return session.refine().detector.decision_scores_

    def start():
        return Session(make_quick("imboost"), planted.X, query="rd", random_state=0)

    np.testing.assert_array_equal(
        play(start(), interrupted=True), play(start(), interrupted=False)
    )


def _interrupt(self, *arguments):
    raise KeyboardInterrupt


def test_a_log_about_another_table_is_refused(planted):
    log = MemoryLog()
    Session(make_quick("imboost"), planted.X, log=log)
    with pytest.raises(SessionError, match="300 rows and 5 columns, this one has 200 and 5"):
        Session(make_quick("imboost"), planted.X[:200], log=log)


@pytest.mark.parametrize(("rows", "answers"), [(3, ["outlier"]), ([3], "outlier"), (3, "skip")])
def test_tell_takes_lists(session, rows, answers):
    with pytest.raises(SessionError, match="a list of rows and a list of answers"):
        session.tell(rows, answers)


def test_something_that_is_no_table_is_refused():
    with pytest.raises(SessionError, match="must be a table"):
        Session(make_quick("imboost"), np.zeros(7))


def test_rounds_go_on_when_every_row_is_answered(planted):
    session = Session(make_quick("imboost"), planted.X[:12], query="rd", random_state=0)
    assert list(run_rounds(session, Oracle(planted.y[:12]), 4, 5)) == [0, 1, 2, 3, 4]
    assert len(session.answers) == 12
    assert session.n_left == 0


@pytest.mark.parametrize("y", [[0, 1, -1], [0, 2], [[0, 1]]])
def test_an_oracle_must_know_every_label(y):
    with pytest.raises(SessionError, match="0 or 1"):
        Oracle(y)


class Recording:
    """An adaptive strategy that records its updates and the random numbers it is given."""

    def __init__(self):
        self.round_labels = []
        self.all_labels = []
        self.numbers = []

    def select(self, scores, candidates, n, rng):
        self.numbers.append(rng.random())
        return candidates[:n]

    def update(self, round_labels, all_labels):
        self.round_labels.append(round_labels.tolist())
        self.all_labels.append(sorted(all_labels.tolist()))


def test_an_adaptive_strategy_gets_the_labels_of_every_round(planted):
    session = Session(make_quick("imboost"), planted.X, query=Recording(), random_state=0)
    session.tell(session.ask(4), ["inlier", "outlier", "unsure", "skip"])
    session.refine()
    session.tell(session.ask(2), ["outlier", "outlier"])
    assert session._selection.strategy.round_labels == [[INLIER, OUTLIER]]
    session.refine()
    assert session._selection.strategy.round_labels == [[INLIER, OUTLIER], [OUTLIER, OUTLIER]]


def test_an_adaptive_strategy_gets_answers_to_no_question_and_corrections(planted):
    session = Session(make_quick("imboost"), planted.X, query=Recording(), random_state=0)
    asked = session.ask(2)
    session.tell([*asked, 200], ["inlier", "outlier", "outlier"])
    session.refine()
    session.tell([asked[1]], ["inlier"])
    session.refine()
    assert session._selection.strategy.all_labels == [
        [INLIER, OUTLIER, OUTLIER],
        [INLIER, INLIER, OUTLIER],
    ]


def test_an_adaptive_strategy_is_not_shared_between_sessions(planted):
    strategy = Recording()
    session = Session(make_quick("imboost"), planted.X, query=strategy, random_state=0)
    session.tell(session.ask(1), ["inlier"])
    session.refine()
    assert strategy.round_labels == []


def test_a_reopened_session_updates_its_strategy_again(planted):
    log = MemoryLog()
    first = Session(make_quick("imboost"), planted.X, query=Recording(), log=log)
    first.tell(first.ask(2), ["inlier", "outlier"])
    first.refine()
    again = Session(make_quick("imboost"), planted.X, query=Recording(), log=log)
    assert again._selection.strategy.round_labels == [[INLIER, OUTLIER]]


class Embedded(Recording):
    """A strategy that records the embedding of the rows."""

    def set_embedding(self, points):
        self.points = points


def test_an_embedding_strategy_gets_the_rows_as_points(planted):
    rows = planted.X.astype(np.float32).tolist()
    session = Session(make_quick("imboost"), rows, query=Embedded(), random_state=0)
    session.ask(2)
    np.testing.assert_allclose(session._selection.strategy.points, planted.X, rtol=1e-6)


def test_a_noisy_oracle_is_wrong_about_a_fraction_of_the_rows_and_repeats_itself():
    y = np.repeat([0, 1], 5000)
    oracle = Oracle(y, noise=0.1, random_state=0)
    answers = np.array([answer.label for answer in oracle.answer(range(10_000))])
    assert (answers != y).mean() == pytest.approx(0.1, abs=0.01)
    again = [answer.label for answer in oracle.answer(range(10_000))]
    assert answers.tolist() == again
    with pytest.raises(ValueError, match=r"noise must be .*at most 1"):
        Oracle(y, noise=2.0)


def test_a_strategy_is_not_updated_by_answers_it_did_not_ask_for(planted):
    session = Session(make_quick("imboost"), planted.X, query=Recording(), random_state=0)
    rows = session.ask(2)
    session.tell(rows, ["inlier", "inlier"])
    session.tell([200], ["outlier"])  # not asked
    session.tell(rows[:1], ["outlier"])  # a correction
    session.refine()
    session.tell(rows[1:], ["outlier"])  # of a round that has ended
    session.tell(session.ask(1), ["inlier"])
    session.refine()
    assert session._selection.strategy.round_labels == [[OUTLIER, INLIER], [INLIER]]


def test_a_session_reads_the_file_that_a_path_names(tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text("size,kind\n" + "".join(f"{n % 7},{'ab'[n % 2]}\n" for n in range(60)))
    session = Session(TableDetector(make_quick("stack")), str(path), random_state=0)
    rows = session.ask(3)
    session.tell(rows, ["inlier", "outlier", "inlier"])
    assert session.refine().round == 1
    assert len(session.detector.decision_scores_) == 60


def test_every_question_of_a_round_has_its_own_random_numbers(planted):
    session = Session(make_quick("imboost"), planted.X, query=Recording(), random_state=0)
    for _ in range(2):
        for _ in range(2):
            session.tell(session.ask(2), ["inlier", "inlier"])
        session.refine()
    assert len(set(session._selection.strategy.numbers)) == 4


MIXED = {"size": [1.0, 2.0, None] * 20, "kind": ["a", "b", "c", None] * 15}


@pytest.mark.parametrize(
    ("made", "changed"),
    [
        (lambda c: np.array(c["size"], dtype=float)[:, None], {"size": [1.0, 2.5, None] * 20}),
        (pd.DataFrame, {**MIXED, "size": [1.0, 2.5, None] * 20}),
        (pd.DataFrame, {"other": MIXED["size"], "kind": MIXED["kind"]}),
        (pa.table, {**MIXED, "kind": ["a", "b", None, "c"] * 15}),
        (pa.table, {**MIXED, "size": [2.0, 1.0, None] * 20}),
    ],
    ids=["array", "data frame", "column name", "Arrow text", "order of rows"],
)
def test_a_log_of_another_table_of_the_same_shape_is_refused(made, changed):
    log, detector = MemoryLog(), TableDetector(make_quick("stack"))
    session = Session(detector, made(MIXED), log=log)
    session.tell([3], ["outlier"])
    assert Session(detector, made(MIXED), log=log).labels[3] == OUTLIER
    with pytest.raises(SessionError, match="other values, column names or order of rows"):
        Session(detector, made(changed), log=log)


def test_the_fingerprint_of_a_table_is_the_same_in_every_process(tmp_path):
    pd.DataFrame(MIXED).to_csv(tmp_path / "table.csv")
    script = (
        "import sys, pandas, pyarrow.csv; from imboost.session.rows import fingerprint;"
        "print(fingerprint(pandas.read_csv(sys.argv[1])), "
        "fingerprint(pyarrow.csv.read_csv(sys.argv[1])))"
    )
    command = [sys.executable, "-c", script, tmp_path / "table.csv"]
    first, second = (subprocess.run(command, capture_output=True, check=True) for _ in range(2))
    assert first.stdout == second.stdout
    assert fingerprint(pd.read_csv(tmp_path / "table.csv")).encode() in first.stdout


def test_the_fingerprint_does_not_depend_on_chunks():
    halves = pa.table(MIXED).slice(0, 30), pa.table(MIXED).slice(30)
    assert fingerprint(pa.concat_tables(halves)) == fingerprint(pa.table(MIXED))


@pytest.mark.parametrize("detector", ["stack", "imboost"])
def test_an_answer_that_arrives_during_training_counts_in_the_next_round(
    planted, detector, monkeypatch
):
    log = MemoryLog()

    def start():
        made = make_quick(detector, contamination="auto")
        return Session(made, planted.X, query=Recording(), log=log, random_state=0)

    session = start()
    rows = session.ask(6)
    session.tell(rows[:5], planted.y[rows[:5]].tolist())
    train = type(session.detector)._refine

    def interrupted(self, X, labels):
        session.tell(rows[5:], ["outlier"])
        train(self, X, labels)

    with monkeypatch.context() as patch:
        patch.setattr(type(session.detector), "_refine", interrupted)
        session.refine()
    assert session.labels[rows[5]] == OUTLIER
    assert session.detector.decision_.labels[rows[5]] == UNLABELLED
    assert [len(labels) for labels in session._selection.strategy.all_labels] == [5]
    reopened = start().start()
    assert reopened.labels[rows[5]] == OUTLIER
    np.testing.assert_array_equal(
        reopened.detector.decision_scores_, session.detector.decision_scores_
    )
    assert session.refine().detector.decision_.labels[rows[5]] == OUTLIER
