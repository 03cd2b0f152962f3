import pyarrow as pa
import pytest

from conftest import make_quick
from imboost import MemoryLog, Session
from imboost.errors import SessionError
from imboost.session.export import HISTORY, history_table


@pytest.fixture
def log(planted):
    log = MemoryLog()
    session = Session(make_quick("stack"), planted.X, query="rd", log=log, random_state=0)
    (row,) = session.ask(1)
    session.tell([row], ["outlier"], who="Ada", seconds=2.5, note="odd", request="r1")
    session.refine()
    session.tell([row], ["inlier"], who="Bob")
    session.tell([row], ["inlier"], who="Ada")
    session.undo("Ada", request="r2")
    session.tell([row], ["inlier"], who="Ada", resolves=True)
    return log


def test_the_history_has_a_line_for_every_answer_and_withdrawal(log):
    history = history_table(log)
    assert history.schema == HISTORY
    assert history["kind"].to_pylist() == [
        "answer",
        "answer",
        "correction",
        "withdrawal",
        "resolution",
    ]
    assert history["answer"].to_pylist() == ["outlier", "inlier", "inlier", None, "inlier"]
    assert history["who"].to_pylist() == ["Ada", "Bob", "Ada", "Ada", "Ada"]
    assert history["round"].to_pylist() == [0, 1, 1, 1, 1]
    assert history["number"].to_pylist() == [2, 4, 5, 6, 7]


def test_the_history_says_what_was_known_with_an_answer(log):
    first = history_table(log).to_pylist()[0]
    given = list(log)[2]
    assert (first["seconds"], first["note"], first["request"]) == (2.5, "odd", "r1")
    assert (first["score"], first["rank"], first["strategy"]) == (given.score, given.rank, "rd")
    assert first["time"] == given.when
    assert HISTORY.field("time").type == pa.timestamp("us", tz="UTC")


def test_an_answer_after_a_withdrawal_is_no_correction(planted):
    log = MemoryLog()
    session = Session(make_quick("stack"), planted.X, log=log)
    session.tell([1], ["outlier"])
    session.undo()
    session.tell([1], ["inlier"])
    assert history_table(log)["kind"].to_pylist() == ["answer", "withdrawal", "answer"]


def test_a_log_without_a_session_is_refused():
    with pytest.raises(SessionError, match="does not begin with the start"):
        history_table([])
