"""Stores of every version are brought up to date without loss."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.command import stamp
from alembic.config import Config
from alembic.runtime.migration import MigrationContext

from conftest import make_quick
from imboost import Session
from imboost.errors import StoreError
from imboost.session.database import METADATA, MIGRATIONS, connect, parse_url
from imboost.session.store import SQLLog

FIRST, NEWEST = "0001", "0002"


def create_first(url):
    """Create an empty store as the first version of the package left it."""
    engine = sa.create_engine(parse_url(url))
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        METADATA.create_all(connection)
        connection.execute(sa.text("DROP INDEX entry_request"))
        stamp(config, FIRST)
    return engine


def version_of(engine):
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def copy_rows(source, target):
    """Copy the rows of all tables, as they are stored."""
    with source.connect() as reading, target.begin() as writing:
        for name in ("session", "entry"):
            table = sa.Table(name, sa.MetaData(), autoload_with=source)
            rows = [dict(row) for row in reading.execute(sa.select(table)).mappings()]
            writing.execute(sa.Table(name, sa.MetaData(), autoload_with=target).insert(), rows)


def play(session):
    rows = session.ask(4)
    session.tell(rows, ["outlier", "inlier", "skip", "inlier"], who="Ada", request="r1")
    session.tell(rows[:1], ["inlier"], who="Bob", note="no")
    session.undo("Bob")
    session.refine()
    session.ask(3)


def test_a_store_of_the_first_version_continues_without_loss(store_url, planted, tmp_path):
    new = tmp_path / "new.session"
    session = Session.open(new, planted.X, make_quick("trees"), random_state=0)
    play(session)
    source = connect(new)
    old = create_first(store_url)
    copy_rows(source, old)
    assert version_of(old) == FIRST
    assert "entry_request" not in {index["name"] for index in sa.inspect(old).get_indexes("entry")}

    reopened = Session.open(store_url, planted.X)
    assert version_of(old) == NEWEST
    assert "entry_request" in {index["name"] for index in sa.inspect(old).get_indexes("entry")}
    assert reopened.history == session.history
    assert reopened.open_questions == session.open_questions
    assert reopened.round == session.round == 1
    scores = reopened.start().detector.decision_scores_
    assert (scores == session.detector.decision_scores_).all()
    reopened.tell(reopened.ask(3)[:1], ["outlier"])
    for each in (session, reopened):
        each.close()
    source.dispose()
    old.dispose()


@pytest.mark.parametrize("is_new", [True, False])
def test_the_migrations_lead_to_the_tables_that_the_package_uses(store_url, is_new):
    if not is_new:
        create_first(store_url).dispose()
    engine = connect(store_url)
    assert "entry_request" in {index["name"] for index in sa.inspect(engine).get_indexes("entry")}
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()


def test_a_store_of_a_newer_version_is_refused_and_left_alone(store_url):
    engine = connect(store_url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"newer version of IMBoost .*9999.*: update IMBoost"):
        SQLLog(store_url)
    assert version_of(engine) == "9999"
    engine.dispose()


def test_processes_that_open_a_new_store_at_once_create_it_once(store_url):
    code = (
        "import sys; from imboost.session.store import SQLLog; print('ready', flush=True);"
        "sys.stdin.readline(); SQLLog(sys.argv[1]).close()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    processes = [
        subprocess.Popen([sys.executable, "-c", code, store_url], text=True, **pipes)
        for _ in range(4)
    ]
    for process in processes:
        process.stdout.readline()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert errors == [""] * len(processes)
    engine = sa.create_engine(parse_url(store_url))
    assert version_of(engine) == NEWEST
    engine.dispose()


def test_threads_that_open_a_new_store_at_once_create_it_once(store_url):
    def start(name):
        log = SQLLog(store_url, name)
        log.save_settings({"at": datetime.now(UTC).isoformat()})
        log.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(start, "abcdefgh"))
    log = SQLLog(store_url)
    assert log.names() == list("abcdefgh")
    log.close()
