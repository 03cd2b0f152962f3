"""`imboost log`: the history of a stored session."""

import pyarrow.csv
import pyarrow.parquet
import pytest

from conftest import make_quick
from imboost import Session, TableDetector
from program_running import orders, refused, run_well, write


@pytest.fixture
def folder(tmp_path):
    write(orders(), tmp_path / "orders.csv")
    return tmp_path


@pytest.fixture
def session(folder):
    detector = TableDetector(make_quick("stack"))
    with Session.open(
        folder / "orders.session", folder / "orders.csv", detector, random_state=0
    ) as session:
        rows = session.ask(6)
        session.tell(rows, ["outlier", "inlier", "inlier", "inlier", "unsure", "skip"], who="Ada")
        session.tell(rows[:2], ["outlier", "outlier"], who="Bob")
        session.tell([9], ["inlier"])
        session.undo()
        session.refine()
        session.ask(4)
        yield session


def test_the_summary_counts_what_happened(folder, session):
    text = run_well("log", folder / "orders.session").text
    assert "Session 'default': 300 rows, started 20" in text
    assert "Rounds: 1. Questions: 10, of which 4 open." in text
    assert "Entries: 9 answers, 1 withdrawal." in text
    assert "By person: Ada 6, Bob 2, (no name) 2." in text
    assert "Rows by answer: inlier 2, outlier 1, unsure 1, skip 1." in text
    assert "Conflicts: 1 row without a label until resolved." in text
    assert "Agreement: 2 rows answered by two people, 50% of them equally" in text


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_history_is_exported(folder, session, ending):
    out = folder / f"history.{ending}"
    assert f"History: {out}" in run_well("log", folder / "orders.session", "--out", out).text
    read = pyarrow.csv.read_csv if ending == "csv" else pyarrow.parquet.read_table
    history = read(out)
    assert history.num_rows == 10
    assert history["kind"].to_pylist()[-1] == "withdrawal"
    assert {"score", "rank", "strategy", "round", "seconds", "note"} <= set(history.column_names)


def test_a_replay_leads_to_the_same_scores(folder, session):
    out = folder / "scores.parquet"
    run_well("log", folder / "orders.session", "--replay", "--out", out)
    scores = pyarrow.parquet.read_table(out)
    assert scores.column_names == ["row", "score", "probability", "is_outlier", "answer"]
    assert scores["score"].to_pylist() == session.detector.decision_scores_.tolist()
    assert scores["is_outlier"].to_pylist() == (session.detector.labels_ == 1).tolist()
    answers = {row: answer for row, answer in enumerate(scores["answer"].to_pylist()) if answer}
    assert answers == session.answers


def test_a_table_that_was_moved_is_named(folder, session):
    moved = (folder / "orders.csv").rename(folder / "moved.csv")
    out = folder / "scores.csv"
    given = ["log", folder / "orders.session", "--replay", "--out", out]
    assert "orders.csv" in refused(*given)
    run_well(*given, "--data", moved)
    assert out.exists()


def test_what_does_not_exist_is_refused_in_one_line(folder, session):
    assert "none.session does not exist" in refused("log", folder / "none.session")
    assert not (folder / "none.session").exists()
    assert "There is no session 'other' in" in refused(
        "log", folder / "orders.session", "--name", "other"
    )
    assert "This file is not a session" in refused("log", folder / "orders.csv")
    assert "name a file for them with --out" in refused(
        "log", folder / "orders.session", "--replay"
    )
    assert "must end with" in refused("log", folder / "orders.session", "--out", "history.txt")


def test_an_undefined_kappa_is_not_printed_as_nan(folder, session):
    conflict = next(iter(session.conflicts))
    session.undo(who="Bob")
    session.tell([conflict], ["inlier"], who="Bob")
    text = run_well("log", folder / "orders.session").text
    assert "1 row answered by two people, 100% of them equally; Cohen's kappa undefined." in text
