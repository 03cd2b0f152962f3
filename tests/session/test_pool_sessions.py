"""Sessions on tables that are too large for them ask about a candidate pool."""

import io
import json
import re
import sys

import numpy as np
import pytest

from imboost import Answer, Session, TableDetector
from imboost.errors import SessionError
from imboost.labelling.cards import question_view
from imboost.labelling.label_studio import export_tasks, import_answers
from imboost.labelling.results import scored_table
from imboost.labelling.workspace import Workspace
from imboost.scoring import candidate_pool, row_selection
from imboost.session.export import history_table
from imboost.session.store import SQLLog
from imboost.tables.frames import to_arrow
from program_running import orders, run_well, write

N_ROWS = 6000


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write(orders(N_ROWS), tmp_path_factory.mktemp("shop") / "orders.parquet")


@pytest.fixture(autouse=True)
def small_pools(monkeypatch):
    monkeypatch.setattr(row_selection, "MAX_ROWS", 600)
    monkeypatch.setattr(candidate_pool, "MAX_SESSION_ROWS", 4000)
    monkeypatch.setattr(candidate_pool, "N_HIGHEST", 100)
    monkeypatch.setattr(candidate_pool, "N_DOUBTFUL", 100)


def detector(**settings):
    return TableDetector("trees", random_state=0, **settings)


def answer(session, n=8):
    """Answer a round by the cells of the complete table; return the rows."""
    rows = session.ask(n)
    session.tell(rows, ["outlier" if row % 3 == 0 else "inlier" for row in rows], who="Ada")
    return rows


def test_row_ids_are_row_numbers_of_the_complete_table(data):
    session = Session(detector(), data, random_state=0)
    assert (len(session.labels), session.n_rows) == (len(session.rows.numbers), N_ROWS)
    rows = answer(session)
    assert max(rows) >= len(session.labels)  # so it cannot be a position
    assert set(session.answers) == set(rows)
    assert [entry.row for entry in session.history] == rows
    positions = session.rows.positions(rows)
    assert session.X.take(positions).equals(to_arrow(data).take(rows))
    assert (session.labels[positions] >= 0).all()
    assert all(session.question(row).row == row for row in rows)
    assert session.answers_about(rows[0])["Ada"].row == rows[0]
    assert f"Row {rows[0]}:" in str(session.show(rows[:1]))
    assert session.undo("Ada") == rows


def test_doubtful_answers_are_about_rows_of_the_complete_table(data):
    session = Session(TableDetector("stack", random_state=0), data, random_state=0)
    rows = answer(session, 20)
    doubtful = session.refine().doubtful_answers()
    assert doubtful
    assert {row for row, *_ in doubtful} <= set(rows)
    assert all(session.answers[row] == given for row, given, _ in doubtful)


def test_a_row_outside_the_pool_is_refused(data):
    session = Session(detector(), data, random_state=0)
    outside = next(row for row in range(N_ROWS) if row not in set(session.rows.numbers.tolist()))
    with pytest.raises(SessionError, match=f"Row {outside} is not among"):
        session.tell([outside], ["inlier"])


def test_weights_are_known_before_the_first_training(data):
    session = Session(detector(), data, random_state=0)
    assert session.weights.sum() == pytest.approx(N_ROWS)


def test_the_contamination_is_that_of_the_complete_table(data):
    session = Session(detector(contamination=0.02), data, random_state=0).start()
    predicted = session.detector.predict(to_arrow(data))
    assert predicted.mean() == pytest.approx(0.02, abs=0.01)
    assert session.detector.labels_.mean() > 0.08  # the pool holds more of the highest scores
    session.detector.set_threshold(contamination=0.05)
    assert session.detector.predict(to_arrow(data)).mean() == pytest.approx(0.05, abs=0.015)


def test_estimates_are_about_the_complete_table(data):
    session = Session(detector(), data, audit_share=0.5, random_state=0)
    answer(session, 40)
    outcome = session.refine().outcome()
    assert outcome.n_rows == N_ROWS
    n_predicted = int(session.detector.predict(to_arrow(data)).sum())
    assert outcome.n_predicted == pytest.approx(n_predicted, rel=0.35, abs=30)
    alone = Session(detector(), session.X, random_state=0).start().outcome()
    assert alone.n_rows == len(session.X)


def test_ranks_count_the_rows_of_the_complete_table(data):
    session = Session(detector(), data, random_state=0).start()
    lowest = session.detector.decision_scores_.argmin()
    assert session.ranks[lowest] == pytest.approx(N_ROWS, abs=10)


def test_a_stored_session_continues_without_scoring_the_table_again(data, tmp_path, monkeypatch):
    url = tmp_path / "orders.session.db"
    with Session.open(url, data, detector(), random_state=0) as session:
        rows = answer(session)
        session.refine()
        following, scores = session.ask(5), session.detector.decision_scores_
    monkeypatch.setattr(candidate_pool, "draw_pool", None)
    for given in (None, data):
        with Session.open(url, given) as session:
            assert session.ask(5) == following
            assert np.array_equal(session.detector.decision_scores_, scores)
            assert set(session.answers) == set(rows)
    log = SQLLog(url)
    assert history_table(log)["row"].to_pylist() == rows
    assert next(iter(log)).n_rows == N_ROWS
    log.close()


def test_the_history_and_the_scores_of_a_session_name_rows_of_the_complete_table(data, tmp_path):
    url, out = tmp_path / "orders.session.db", tmp_path / "scores.parquet"
    with Session.open(url, data, detector(), random_state=0) as session:
        rows, numbers = answer(session), session.rows.numbers.tolist()
        session.refine()
    assert f"{N_ROWS:,} rows" in run_well("log", url).text
    run_well("log", url, "--replay", "--out", out)
    table = to_arrow(out)
    assert table["row"].to_pylist() == numbers
    answered = {row for row, one in zip(numbers, table["answer"].to_pylist(), strict=True) if one}
    assert answered == set(rows)


def test_sessions_in_one_folder_have_their_own_pools(data, tmp_path):
    names = ("orders", "orders.db", "orders.sqlite")
    for seed, name in enumerate(names):
        Session.open(tmp_path / name, data, detector(), random_state=seed).close()
    pools = {}
    for name in names:
        with Session.open(tmp_path / name) as session:
            pools[name] = frozenset(session.rows.numbers.tolist())
    assert len(set(pools.values())) == 3


def test_another_table_is_refused(data, tmp_path):
    url = tmp_path / "orders.session.db"
    Session.open(url, data, detector(), random_state=0).close()
    pool = tmp_path / "orders.session.db.default.pool.parquet"
    other = write(orders(N_ROWS + 1), tmp_path / "other.parquet")
    candidate_pool.save_pool(candidate_pool.read_or_draw(other, detector()), pool)
    with pytest.raises(SessionError, match=r"a table of 6,000 rows"):
        Session.open(url)


def test_the_labelling_program_asks_about_the_pool(tmp_path, monkeypatch):
    table = orders(N_ROWS).drop_columns(["order_id"])  # so that rows are named by their number
    data = write(table, tmp_path / "big.parquet")

    def label(path, keys, *options):
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(keys)))
        return run_well("label", path, "--terminal", *options)

    output = label(data, "oiq", "--detector", "trees").text
    [n_pool] = re.findall(r"Questions are about (\d+) of 6,000 rows", output)
    assert 600 < int(n_pool) <= 800
    assert f"of {N_ROWS:,} rows" in output  # the rank of a question
    asked = [int(row.replace(",", "")) for row in re.findall(r"row ([\d,]+)", output)]
    url = tmp_path / "big.session.db"
    for path in (data, url):
        monkeypatch.setattr(candidate_pool, "draw_pool", None)
        label(path, "q")
    with Session.open(url) as session:
        assert session.pool is not None
        rows = list(session.answers)
        assert len(rows) == 2
        assert set(rows) <= set(asked)


def test_downloads_name_the_rows_of_the_complete_table(data, tmp_path):
    session = Session(detector(), data, random_state=0)
    workspace = Workspace(session, n_questions=4, in_process=True)
    workspace.start()
    workspace.wait_until_idle()
    try:
        table = scored_table(workspace)
        assert table["row"].to_pylist() == session.rows.numbers.tolist()
        assert max(table["rank"].to_pylist()) == pytest.approx(N_ROWS, abs=10)
        assert workspace.snapshot.n_predicted == session.outcome().n_predicted
        row = session.ask(4)[0]
        workspace.answer([row], "outlier", who="Ada")
        card = question_view(workspace, row)
        assert (card.row, card.rank) == (row, session.ranks[session.rows.position(row)])
        [answered] = [task for task in export_tasks(workspace) if task["annotations"]]
        assert answered["data"]["imboost_row"] == row
        session.undo("Ada")
        import_answers(session, json.dumps([answered]).encode())
        assert session.answers == {row: Answer.OUTLIER}
    finally:
        workspace.stop()
        workspace.wait_until_stopped()
