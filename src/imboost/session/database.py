"""Connections to the database of a session store, its tables, and what its errors mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import OperationalError
from threading import Lock
from time import monotonic, sleep
from typing import Any

import sqlalchemy as sa
from alembic.command import stamp, upgrade
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from imboost.errors import SettingError, StoreError, require

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_SECONDS = 10  # how long SQLite waits for another process that writes
CONNECT_SECONDS = 10  # how long PostgreSQL may take to answer
MIGRATION_KEY = 0x1B0057  # of PostgreSQL's advisory lock, the same in all processes

REASONS = {  # by a part of the database's message
    "disk is full": "The disk is full, nothing was stored in the session",
    "readonly": "The session is read-only, nothing was stored in it",
    "locked": "Another process keeps the session locked, nothing was stored in it",
    "not a database": "This file is not a session",
    "unable to open": "The session cannot be opened",
    "": "The session store does not work",
}

_alembic_lock = Lock()  # alembic keeps its context in a module


class UTCDateTime(sa.TypeDecorator[datetime]):
    """A time in UTC; SQLite has no time zones."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        """Restore the time zone."""
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


METADATA = sa.MetaData()
"""The tables of the newest version; `migrations` has the way there from older ones."""

SESSIONS = sa.Table(
    "session",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("created", UTCDateTime, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
)

ENTRIES = sa.Table(
    "entry",
    METADATA,
    sa.Column("session_id", sa.Integer, sa.ForeignKey("session.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("when", UTCDateTime, nullable=False),
    sa.Column("row", sa.BigInteger),
    sa.Column("answer", sa.Text),
    sa.Column("round", sa.Integer),
    sa.Column("who", sa.Text),
    sa.Column("score", sa.Double),
    sa.Column("rank", sa.BigInteger),
    sa.Column("strategy", sa.Text),
    sa.Column("seconds", sa.Double),
    sa.Column("note", sa.Text),
    sa.Column("request", sa.Text),
    sa.Column("resolves", sa.Boolean),
    sa.Column("n_entries", sa.Integer),
    sa.Column("n_rows", sa.BigInteger),
    sa.Column("n_features", sa.BigInteger),
    sa.Column("fingerprint", sa.Text),
    sa.Column("detector_seed", sa.BigInteger),
    sa.Column("strategy_seed", sa.BigInteger),
    sa.Index(
        "entry_request",
        "session_id",
        "request",
        "row",
        unique=True,
        sqlite_where=sa.text("request <> ''"),
        postgresql_where=sa.text("request <> ''"),
    ),
)


def parse_url(url: str | Path) -> sa.URL:
    """Return the address of a store.

    >>> str(parse_url("orders.session")), str(parse_url("postgresql://me@here/labels"))
    ('sqlite:///orders.session', 'postgresql+psycopg://me@here/labels')
    """
    text = str(url)
    if "://" not in text:
        return sa.URL.create("sqlite", database=text)
    try:
        parsed = sa.make_url(text)
    except sa.exc.ArgumentError:
        raise SettingError("The address of a session store cannot be read.") from None
    if parsed.get_backend_name() == "postgresql":
        require("A session store in PostgreSQL", "postgres", "psycopg")
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername != "sqlite" or not parsed.database:
        raise SettingError(
            "A session store is a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE; got "
            f"{parsed.render_as_string()}."
        )
    return parsed


def connect(url: str | Path) -> sa.Engine:
    """Connect to a store and bring its tables up to date."""
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite":
        engine = sa.create_engine(parsed, connect_args={"timeout": BUSY_SECONDS})
        sa.event.listen(engine, "connect", _configure_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    else:
        settings = {"connect_timeout": CONNECT_SECONDS}
        engine = sa.create_engine(parsed, pool_pre_ping=True, connect_args=settings)
    try:
        with clear_errors(engine):
            _migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _configure_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # SQLAlchemy begins transactions, not Python's sqlite3
    for setting in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {setting}")
    deadline = monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except OperationalError as error:  # SQLite does not wait while others change the mode
            if "locked" not in str(error) or monotonic() > deadline:
                raise
            sleep(0.05)


def _migrate(engine: sa.Engine) -> None:
    """Create the tables or bring them up to date; other processes that open the store wait."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    versions = ScriptDirectory.from_config(config)
    with engine.connect() as connection:
        if _version(connection) == versions.get_current_head():
            return
    with _alembic_lock, write(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_KEY)))
        version = _version(connection)
        if version not in [None, *(script.revision for script in versions.walk_revisions())]:
            raise StoreError(
                f"The session store {_describe(engine)} was written by a newer version of "
                f"IMBoost (its tables have version {version}): update IMBoost."
            )
        config.attributes["connection"] = connection
        if version is None:
            METADATA.create_all(connection)
            stamp(config, "head")
        else:
            upgrade(config, "head")


def _begin_sqlite(connection: sa.Connection) -> None:
    mode = connection.get_execution_options().get("sqlite_begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")


@contextmanager
def write(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Begin a transaction that writes, and commit it at the end."""
    # SQLite takes its lock at once: one that has read first could not wait for other processes.
    options = {"sqlite_begin": "IMMEDIATE"}
    with engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


def _version(connection: sa.Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


@contextmanager
def clear_errors(engine: sa.Engine) -> Iterator[None]:
    """Turn errors of the database into a `StoreError` of one line."""
    try:
        yield
    except sa.exc.SQLAlchemyError as error:
        cause = str(getattr(error, "orig", None) or error).strip().split("\n")[0].rstrip(".")
        reason = next(reason for part, reason in REASONS.items() if part in cause)
        raise StoreError(f"{reason}: {_describe(engine)} ({cause}).") from error


def _describe(engine: sa.Engine) -> str:
    """Return the address of a store without a password."""
    if engine.dialect.name == "sqlite":
        return str(engine.url.database)
    return engine.url.set(drivername="postgresql").render_as_string(hide_password=True)
