"""The log in a database: what was acknowledged is there, whatever happens."""

import os
import re
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sqlalchemy as sa

from conftest import make_quick
from imboost import Session
from imboost.errors import SessionError, SettingError, StoreError
from imboost.session import Answer, Answered, Asked, Refined, Started, Withdrawn
from imboost.session.database import connect
from imboost.session.store import SQLLog

NOW = datetime(2026, 3, 1, 12, 30, 0, 123456, tzinfo=UTC)
ENTRIES = [
    Started(300, 5, "abc", 1, 2**31 - 2, NOW),
    Asked(7, 0, "spread", 0.1 + 0.2, 3, NOW),
    Answered(
        7, Answer.OUTLIER, 0, "Zoë", NOW, 1e-300, 3, "spread", 0.25, "a 'note'; 漢", "r1", True
    ),
    Answered(8, Answer.SKIP, 0, "", NOW),
    Withdrawn(8, 0, "", NOW, "r2"),
    Refined(0, 5, NOW),
]


@pytest.fixture
def log(store_url):
    opened = SQLLog(store_url)
    yield opened
    opened.close()


def start(url, planted, **settings):
    return Session.open(url, planted.X, make_quick("stack"), random_state=0, **settings)


def test_entries_come_back_as_they_were(store_url, log):
    log.append(ENTRIES[:2])
    log.append(ENTRIES[2:])
    assert list(log) == ENTRIES
    again = SQLLog(store_url)
    assert list(again) == ENTRIES
    again.close()


def test_sessions_of_one_store_do_not_mix(store_url, log):
    other = SQLLog(store_url, "other")
    log.append(ENTRIES[:1])
    other.append(ENTRIES[:3])
    assert list(log) == ENTRIES[:1]
    assert list(other) == ENTRIES[:3]
    assert log.names() == ["default", "other"]
    other.close()


def test_settings_are_stored_once(store_url, log):
    assert log.settings == {}
    log.save_settings({"query": "rd"})
    log.save_settings({"query": "mm"})  # the session has not been started yet
    log.append(ENTRIES[:1])
    log.save_settings({"query": "mm"})
    with pytest.raises(SessionError, match="other settings"):
        log.save_settings({"query": "rd"})
    assert log.settings == {"query": "mm"}


def test_nothing_is_stored_by_a_second_process_that_writes(store_url, log):
    other = SQLLog(store_url)
    log.append(ENTRIES[:1])
    assert list(other) == ENTRIES[:1]
    log.append(ENTRIES[1:2])
    with pytest.raises(SessionError, match="open in another process"):
        other.append(ENTRIES[2:4])
    assert list(other) == list(log) == ENTRIES[:2]
    with pytest.raises(SessionError, match="open in another process"):  # reading changes nothing
        other.append(ENTRIES[2:4])
    log.append(ENTRIES[2:])
    assert list(log) == ENTRIES
    other.close()


def test_an_append_that_fails_halfway_stores_nothing(store_url, log):
    log.append(ENTRIES[:3])
    taken = Answered(7, Answer.INLIER, 0, "", NOW, request="r1")  # the request is in the log
    with pytest.raises(SessionError, match="nothing was stored"):
        log.append([ENTRIES[3], taken])
    assert list(log) == ENTRIES[:3]
    log.append(ENTRIES[3:])
    assert list(log) == ENTRIES


def test_sqlite_is_configured_to_lose_nothing(tmp_path):
    engine = connect(tmp_path / "a.session")
    with engine.connect() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    engine.dispose()
    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 10_000,
    }


def test_a_repeated_request_changes_nothing_also_after_reopening(store_url, planted):
    with start(store_url, planted) as session:
        session.tell([3, 4], ["outlier", "inlier"], who="Ada", request="a1")
        session.tell([3, 4], ["outlier", "inlier"], who="Ada", request="a1")
        session.tell([3], ["inlier"], who="Ada", request="a2")
        session.tell([3, 4], ["outlier", "inlier"], who="Ada", request="a1")
        assert len(session.history) == 3
    with start(store_url, planted) as session:
        session.tell([3, 4], ["outlier", "inlier"], who="Ada", request="a1")
        assert session.answers == {3: Answer.INLIER, 4: Answer.INLIER}
        assert session.undo("Ada", request="a3") == [3]
        assert session.undo("Ada", request="a3") == []
        assert session.answers[3] == Answer.OUTLIER


@pytest.mark.parametrize(
    ("rows", "answers", "who"),
    [
        ([4], ["outlier"], "Ada"),
        ([3], ["inlier"], "Ada"),
        ([3, 4], ["outlier", "outlier"], "Ada"),
        ([3], ["outlier"], "Bob"),
    ],
)
def test_a_request_id_is_refused_for_anything_else(tmp_path, planted, rows, answers, who):
    with start(tmp_path / "a.session", planted) as session:
        session.tell([3], ["outlier"], who="Ada", request="a1")
        with pytest.raises(SessionError, match="'a1' belongs to another call"):
            session.tell(rows, answers, who=who, request="a1")
        with pytest.raises(SessionError, match="'a1' belongs to another call"):
            session.undo("Ada", request="a1")
        assert session.answers == {3: Answer.OUTLIER}


def test_only_a_session_without_questions_and_answers_can_be_removed(store_url, planted):
    with start(store_url, planted) as session:
        session.log.remove()
    with Session.open(store_url, planted.X, make_quick("trees")) as session:
        session.tell([3], ["outlier"])
        with pytest.raises(SessionError, match="has questions or answers"):
            session.log.remove()
    with Session.open(store_url, planted.X) as session:
        assert session.answers == {3: Answer.OUTLIER}


def test_a_session_that_has_asked_questions_cannot_be_removed(store_url, planted):
    with Session.open(store_url, planted.X, make_quick("trees")) as session:
        session.ask(2)
        with pytest.raises(SessionError, match="has questions or answers"):
            session.log.remove()


def fill_disk(session):
    """Let SQLite allocate no more pages, on every connection."""
    engine = session.log._engine
    sa.event.listen(engine, "begin", lambda c: c.exec_driver_sql("PRAGMA max_page_count=1"))


def test_a_full_disk_is_reported_and_loses_nothing(tmp_path, planted):
    path = tmp_path / "a.session"
    session = start(path, planted)
    acknowledged, message = 0, ""
    fill_disk(session)
    while not message:
        try:
            session.tell([acknowledged], ["outlier"], note="x" * 1000)
            acknowledged += 1
        except StoreError as error:
            message = str(error)
    assert re.fullmatch(r"The disk is full, nothing was stored.*a\.session .*", message)
    assert 0 < acknowledged < 300
    assert len(session.answers) == acknowledged
    with pytest.raises(StoreError):
        session.tell([299], ["outlier"], note="x" * 1000)
    session.close()
    with start(path, planted) as reopened:  # the disk has room again
        assert sorted(reopened.answers) == list(range(acknowledged))
        reopened.tell([299], ["outlier"])


@pytest.fixture
def unprivileged():
    """Work as a user who is not root, for whom files can be read-only."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder():
    """A folder in which every user may write, outside pytest's own, which are root's alone."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


def test_a_read_only_file_can_be_read_and_reports_that_nothing_is_stored(
    open_folder, planted, request
):
    path = open_folder / "a.session"
    start(path, planted).tell([1], ["outlier"])
    path.chmod(0o444)
    request.getfixturevalue("unprivileged")
    with start(path, planted) as session:
        with pytest.raises(StoreError, match="The session is read-only, nothing was stored"):
            session.tell([2], ["outlier"])
        assert session.answers == {1: Answer.OUTLIER}


def test_a_missing_folder_a_foreign_file_and_a_foreign_address_are_refused(tmp_path):
    with pytest.raises(StoreError, match="cannot be opened"):
        SQLLog(tmp_path / "nowhere" / "a.session")
    table = tmp_path / "table.csv"
    table.write_text("a,b\n" * 100)
    with pytest.raises(StoreError, match=r"This file is not a session: .*table\.csv"):
        SQLLog(table)
    for address in ("mysql://me@here/labels", "sqlite://", "://"):
        with pytest.raises(SettingError):
            SQLLog(address)
    assert table.read_text() == "a,b\n" * 100


def test_a_server_that_cannot_be_reached_is_named_without_the_password():
    with pytest.raises(StoreError, match=r"postgresql://me:\*\*\*@127.0.0.1:9/labels") as error:
        SQLLog("postgresql://me:secret@127.0.0.1:9/labels")
    assert "\n" not in str(error.value)


def end_connections(address):
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )


def test_a_connection_that_was_lost_while_idle_is_replaced(postgres, planted):
    with start(postgres, planted) as session:
        end_connections(postgres)
        session.tell([1], ["outlier"])
        assert session.answers == {1: Answer.OUTLIER}


@pytest.mark.parametrize("was_committed", [True, False])
def test_a_connection_that_is_lost_at_the_commit_neither_loses_nor_doubles_an_answer(
    postgres, planted, monkeypatch, was_committed
):
    session = start(postgres, planted)
    dialect = type(session.log._engine.dialect)
    commit = dialect.do_commit

    def lose_connection(self, connection):
        if was_committed:
            commit(self, connection)
        end_connections(postgres)
        commit(self, connection)
        connection.execute("SELECT 1")

    with monkeypatch.context() as patch:
        patch.setattr(dialect, "do_commit", lose_connection)
        with pytest.raises(StoreError):
            session.tell([1], ["outlier"], request="a1")
    assert session.answers == {}
    session.tell([1], ["outlier"], request="a1")
    session.tell([2], ["inlier"], request="a2")
    assert [entry.row for entry in session.history] == [1, 2]
    session.close()
    with start(postgres, planted) as reopened:
        assert [entry.row for entry in reopened.history] == [1, 2]


def test_the_file_can_be_read_by_other_programs(tmp_path, planted):
    path = tmp_path / "a.session"
    with start(path, planted) as session:
        session.tell([5], ["unsure"], who="Ada", seconds=1.5)
    with sqlite3.connect(path) as connection:
        query = "SELECT row, answer, who, seconds FROM entry WHERE kind = 'answered'"
        assert connection.execute(query).fetchall() == [(5, "unsure", "Ada", 1.5)]
    connection.close()


@pytest.mark.parametrize("was_stored", [True, False])
def test_an_answer_whose_storing_seemed_to_fail_is_neither_lost_nor_doubled(
    tmp_path, planted, monkeypatch, was_stored
):
    session = start(tmp_path / "a.session", planted)
    append = SQLLog._insert

    def fail(log, connection, rows):
        if was_stored:
            append(log, connection, rows)
            connection.commit()
        raise sa.exc.OperationalError("INSERT", {}, Exception("the connection is lost"))

    with monkeypatch.context() as patch:
        patch.setattr(SQLLog, "_insert", fail)
        with pytest.raises(StoreError):
            session.tell([1], ["outlier"], request="a1")
    assert session.answers == {}
    session.tell([1], ["outlier"], request="a1")
    session.tell([2], ["inlier"], request="a2")
    assert [entry.row for entry in session.history] == [1, 2]
    session.close()
    with start(tmp_path / "a.session", planted) as reopened:
        assert [entry.row for entry in reopened.history] == [1, 2]


def test_another_process_that_wrote_after_a_lost_connection_is_noticed(
    tmp_path, planted, monkeypatch
):
    session = start(tmp_path / "a.session", planted)
    other = start(tmp_path / "a.session", planted)

    def fail(log, connection, rows):
        raise sa.exc.OperationalError("INSERT", {}, Exception("the connection is lost"))

    with monkeypatch.context() as patch:
        patch.setattr(SQLLog, "_insert", fail)
        with pytest.raises(StoreError):
            session.tell([1], ["outlier"])
    other.tell([1], ["inlier"])
    for _ in range(2):
        with pytest.raises(SessionError, match="open in another process"):
            session.tell([1], ["outlier"])
    assert session.answers == {}
    session.close()
    other.close()


def test_a_training_whose_end_was_stored_although_it_seemed_to_fail_is_repeated(
    tmp_path, planted, monkeypatch
):
    session = start(tmp_path / "a.session", planted)
    rows = session.ask(6)
    session.tell(rows, planted.y[rows].tolist())
    append = SQLLog.append

    def store_and_fail(log, entries):
        try:
            append(log, entries)
        finally:
            log._n_known = None
        raise StoreError("The connection was lost.")

    with monkeypatch.context() as patch:
        patch.setattr(SQLLog, "append", store_and_fail)
        with pytest.raises(StoreError):
            session.refine()
    assert session.round == 0
    rows = session.top_up(4)
    assert session.round == 1
    assert (session.detector.decision_.labels >= 0).sum() == 6
    session.tell(rows, planted.y[rows].tolist())
    assert session.refine().round == 2
    session.close()
    with start(tmp_path / "a.session", planted) as reopened:
        scores = reopened.start().detector.decision_scores_
        assert (scores == session.detector.decision_scores_).all()
