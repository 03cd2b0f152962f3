"""A session's log in a database: an SQLite file, or PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import sqlalchemy as sa

from imboost.errors import SessionError, StoreError
from imboost.session.database import ENTRIES, SESSIONS, clear_errors, connect, write
from imboost.session.log import Answer, Answered, Entry

KINDS: dict[str, type[Entry]] = {kind.__name__.lower(): kind for kind in get_args(Entry)}
"""The entries by their name in the column `kind`."""


class SQLLog:
    """A session's log in a database. Entries are added, never changed or removed.

    An `append` is one transaction, which is on disk when it returns. Only one process can write
    to a session: an entry has a number, and another process that writes takes the same number.
    The tables of the store are created, or brought up to date, if they are not. See
    `Session.open` for the parameters.
    """

    def __init__(self, url: str | Path, name: str = "default") -> None:
        self.name = name
        self._engine = connect(url)
        self._n_known: int | None = None  # entries that the user of this log has read or stored

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that the session was started with; empty if there is no session."""
        query = sa.select(SESSIONS.c.settings).where(SESSIONS.c.name == self.name)
        with self._reading() as connection:
            settings: dict[str, Any] = json.loads(connection.scalar(query) or "{}")
        return settings

    def save_settings(self, settings: dict[str, Any]) -> None:
        """Store the settings of a session; raise if it has entries already, and other settings."""
        text = json.dumps(settings, allow_nan=False)
        with self._transaction() as connection:
            session = self._session(connection)
            if session is None:
                self._create_session(connection, text)
            elif json.loads(session.settings) == settings:
                return
            elif self._kinds(connection, session.id):
                raise SessionError(f"The session '{self.name}' has other settings already.")
            else:  # a process was killed before it started the session
                changed = sa.update(SESSIONS).where(SESSIONS.c.id == session.id)
                connection.execute(changed.values(settings=text))

    def remove(self) -> None:
        """Remove a session that has only been started; raise if it has questions or answers."""
        with self._transaction() as connection:
            if (session := self._session(connection)) is None:
                return
            if self._kinds(connection, session.id) - {"started"}:
                raise SessionError(
                    f"The session '{self.name}' has questions or answers: it stays."
                )
            connection.execute(sa.delete(ENTRIES).where(ENTRIES.c.session_id == session.id))
            connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.id == session.id))
        self._n_known = None

    def append(self, entries: Sequence[Entry]) -> None:
        """Store all entries or none; they are on disk when this returns.

        Raises a SessionError if another process has written to the session, and a StoreError if
        the database cannot store them. After a lost connection it is not known whether it did:
        iterating over the log shows.
        """
        if not entries:
            return
        if self._n_known is None:
            self._n_known = len(list(self))
        rows = [_to_row(entry) for entry in entries]
        try:
            with self._transaction() as connection:
                session = self._session(connection)
                session_id = session.id if session else self._create_session(connection, "{}")
                for number, row in enumerate(rows, self._n_known):
                    row |= {"session_id": session_id, "number": number}
                self._insert(connection, rows)
        except StoreError:
            self._n_known = None  # a lost connection does not tell
            raise
        self._n_known += len(entries)

    def __iter__(self) -> Iterator[Entry]:
        query = sa.select(ENTRIES).join(SESSIONS).where(SESSIONS.c.name == self.name)
        with self._reading() as connection:
            rows = connection.execute(query.order_by(ENTRIES.c.number)).mappings().all()
        entries = [_to_entry(row) for row in rows]
        if self._n_known is None:
            self._n_known = len(entries)
        return iter(entries)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def names(self) -> list[str]:
        """Return the names of all sessions in the store."""
        with self._reading() as connection:
            return list(connection.scalars(sa.select(SESSIONS.c.name).order_by(SESSIONS.c.name)))

    def _session(self, connection: sa.Connection) -> Any:
        query = sa.select(SESSIONS).where(SESSIONS.c.name == self.name)
        return connection.execute(query).one_or_none()

    def _create_session(self, connection: sa.Connection, settings: str) -> int:
        values = {"name": self.name, "created": datetime.now(UTC), "settings": settings}
        new = sa.insert(SESSIONS).values(values).returning(SESSIONS.c.id)
        return int(connection.execute(new).scalar_one())

    def _kinds(self, connection: sa.Connection, session_id: int) -> set[str]:
        query = sa.select(ENTRIES.c.kind).where(ENTRIES.c.session_id == session_id).distinct()
        return set(connection.scalars(query))

    def _insert(self, connection: sa.Connection, rows: list[dict[str, Any]]) -> None:
        connection.execute(sa.insert(ENTRIES), rows)

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with clear_errors(self._engine), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        with clear_errors(self._engine):
            try:
                with write(self._engine) as connection:
                    yield connection
            except sa.exc.IntegrityError:
                raise SessionError(
                    f"The session '{self.name}' is open in another process, which has written to "
                    "it; nothing was stored. Close one of them and open the session again."
                ) from None


def _to_row(entry: Entry) -> dict[str, Any]:
    kind = type(entry).__name__.lower()
    row = dict.fromkeys(ENTRIES.columns.keys()) | asdict(entry) | {"kind": kind}
    return row | {"answer": str(entry.answer.value)} if isinstance(entry, Answered) else row


def _to_entry(row: sa.RowMapping) -> Entry:
    kind = KINDS[row["kind"]]
    values = {field.name: row[field.name] for field in fields(kind)}
    return kind(**values | ({"answer": Answer(row["answer"])} if kind is Answered else {}))
