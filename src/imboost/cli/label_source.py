"""Where the command `label` finds its table, and where it stores the answers."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from imboost.cli.console import say
from imboost.cli.inputs import is_model
from imboost.cli.progress import row_bar, stage
from imboost.errors import SettingError
from imboost.present.formatting import count

if TYPE_CHECKING:
    from imboost.detectors.table_detector import TableDetector
    from imboost.tables.files import TableFiles
    from imboost.tables.read_options import ReadOptions

SQLITE_HEADER = b"SQLite format 3\0"
SESSION_TABLES = {"session", "entry"}  # other SQLite files are tables to label


@dataclass(frozen=True)
class Source:
    """A table, and the store of its session."""

    table: Path
    url: str
    shown: str  # the address of the store without a password
    exists: bool  # whether the session exists already
    copy_from: TableFiles | None = None  # the table, if `table` is a copy that is to be made

    def prepare(self, detector: TableDetector, seed: int) -> None:
        """Copy the table, if that is needed: a session belongs to rows that never change.

        Of a table that is too large for a session, the candidate pool is drawn.
        """
        if (files := self.copy_from) is None:
            return
        from imboost.scoring.candidate_pool import needs_pool, store_pool
        from imboost.scoring.table_writers import write_table

        if not needs_pool(files):
            with stage(f"reading {self.table}"):
                write_table(self.table, files.read())
            return
        say("The table is large: all rows are scored once, to find those to ask about.")
        with row_bar("scoring", files.n_rows) as advance:
            pool = store_pool(files, detector, self.table, seed=seed, progress=advance)
        say(f"Questions are about {len(pool.rows):,} of {count(pool.n_rows, 'row')}.")


def find_source(
    data: Path, session: str | None, name: str, options: ReadOptions | None = None
) -> Source:
    """Find the table and the session of the command; raise if one of them cannot be used."""
    if is_model(data):
        raise SettingError(
            f"{data} is a model, which holds no table: imboost label --model {data} DATA"
        )
    from imboost.labelling.project import stored_settings
    from imboost.scoring.candidate_pool import needs_pool
    from imboost.session.opening import path_of_copy
    from imboost.tables.files import TableFiles, path_beside
    from imboost.tables.read_options import STANDARD_STREAM

    if _is_session(data):
        if session is not None:
            raise SettingError(f"{data} is a session itself: leave out --session.")
        if (table := stored_settings(data, name).get("table")) is None:
            raise SettingError(
                f"{data} names no table for the session '{name}': give the table, and the session "
                f"with --session {data}."
            )
        return Source(Path(table), str(data.absolute()), str(data), exists=True)
    is_piped, has_options = data == STANDARD_STREAM, options is not None and options.given
    in_file = session is None or "://" not in session
    if is_piped and (session is None or not in_file):
        raise SettingError("The table is standard input: name a file of the session, --session.")
    if in_file:
        path = path_beside(data.resolve(), ".session.db") if session is None else Path(session)
        _check_file(path.absolute())
        url = shown = str(path.absolute())
        exists = _is_session(path) and bool(stored_settings(path, name))
    else:
        from sqlalchemy import make_url

        path, url = data, str(session)
        shown = make_url(url).render_as_string(hide_password=True)
        exists = bool(stored_settings(url, name))
    copied = path_of_copy(path, name, ".parquet")
    if exists and copied.is_file():
        return Source(copied, url, shown, exists)
    files = None if is_piped or has_options else TableFiles.find(data)
    if files is not None and (exists or not needs_pool(files)):
        return Source(data.resolve(), url, shown, exists)
    return Source(copied, url, shown, exists, files or TableFiles.find(data, options))


def _is_session(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        if file.read(len(SQLITE_HEADER)) != SQLITE_HEADER:
            return False
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as db:
            names = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    except sqlite3.Error:
        return True  # opening it as a session gives the reason
    return names >= SESSION_TABLES


def _check_file(path: Path) -> None:
    """Raise if no session can be stored in a file."""
    folder = path.parent
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
