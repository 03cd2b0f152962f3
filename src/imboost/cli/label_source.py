"""Where the command `label` finds its table, and where it stores the answers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imboost.cli.inputs import is_model
from imboost.errors import SettingError

SQLITE_HEADER = b"SQLite format 3\0"


@dataclass(frozen=True)
class Source:
    """A table, and the store of its session.

    Parameters
    ----------
    table : Path
    url : str
        The store; `shown` is the same without a password.
    shown : str
    exists : bool
        Whether the session exists already.
    """

    table: Path
    url: str
    shown: str
    exists: bool


def find_source(data: Path, session: str | None, name: str) -> Source:
    """Find the table and the session of the command; raise if one of them cannot be used."""
    if is_model(data):
        raise SettingError(
            f"{data} is a model, which holds no table: imboost label --model {data} DATA"
        )
    if _is_session(data):
        if session is not None:
            raise SettingError(f"{data} is a session itself: leave out --session.")
        return _stored_source(data, name)
    from imboost.tables.files import TableFiles, path_beside

    TableFiles.find(data)
    table = data.resolve()
    if session is not None and "://" in session:
        exists = bool(_stored_settings(session, name))
        return Source(table, session, _without_password(session), exists)
    path = path_beside(table, ".session.db") if session is None else Path(session).absolute()
    _check_file(path)
    exists = _is_session(path) and bool(_stored_settings(path, name))
    return Source(table, str(path), str(path), exists)


def _stored_source(path: Path, name: str) -> Source:
    """Return the table with which a session was started."""
    settings = _stored_settings(path, name)
    if settings.get("table") is None:
        raise SettingError(
            f"{path} names no table for the session '{name}': give the table, and the session "
            f"with --session {path}."
        )
    return Source(Path(settings["table"]), str(path.absolute()), str(path), exists=True)


def _stored_settings(url: str | Path, name: str) -> dict[str, Any]:
    """Return the settings of a session; empty if there is none of that name."""
    from imboost.session.store import SQLLog

    log = SQLLog(url, name)
    try:
        return log.settings
    finally:
        log.close()


def _is_session(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER


def _check_file(path: Path) -> None:
    """Raise if no session can be stored in a file."""
    folder = path.absolute().parent
    if path.is_dir():
        raise SettingError(f"{path} is a folder: name a file with --session.")
    if path.exists() and path.stat().st_size and not _is_session(path):
        raise SettingError(f"{path} exists and is not a session: name another with --session.")
    if not folder.is_dir():
        raise SettingError(f"The folder {folder} does not exist: name another with --session.")
    if not os.access(folder, os.W_OK):
        raise SettingError(
            f"The folder {folder} cannot be written: store the answers elsewhere with --session."
        )


def _without_password(url: str) -> str:
    from sqlalchemy import make_url

    return make_url(url).render_as_string(hide_password=True)
